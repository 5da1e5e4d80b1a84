// `npm run souk`: wallets, providers, capabilities and approvals from the command line, through the Worker's own routes.
// Prints what the Worker answers, as JSON. Run it without arguments for the list of commands.
//
// SOUK_URL names the Worker (default: the local world), SOUK_ADMIN_TOKEN its operator token (default: the local one, on
// loopback only). With SOUK_OWNER_KEY set, a wallet's owner does what an owner may.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { toBase64, toHex } from "../src/platform/bytes.ts";
import { signerFromSeed } from "../src/platform/ed25519.ts";
import { type Asked, ask, localUrl, runTool } from "./worker-client.ts";

interface Flags {
  [name: string]: string | undefined;
}

interface Command {
  /** As a person types it: words, then what has to be given. */
  usage: string;
  /** `argument` is what stands behind the words: an id, or nothing. */
  run: (argument: string[], flags: Flags) => Promise<unknown>;
}

const COMMANDS: readonly Command[] = [
  {
    usage: "secrets",
    run: async () => ({
      MAC_KEYS: `1:${randomHex()}`,
      CHALLENGE_SIGNING_KEYS: randomHex(),
      RECEIPT_SIGNING_KEYS: randomHex(),
    }),
  },
  { usage: "wallet create [--currency USD] [--public-key <base64>]", run: (_, flags) => createWallet(flags) },
  { usage: "wallet show <wallet>", run: ([id]) => owner("GET", wallet(id)) },
  {
    usage: "wallet entries <wallet> [--limit <n>] [--cursor <cursor>]",
    run: ([id], { limit, cursor }) => owner("GET", `${wallet(id)}/entries${query({ limit, cursor })}`),
  },
  { usage: "wallet credit <wallet> <minor> --reason <text> [--key <id>]", run: enter("credits") },
  { usage: "wallet debit <wallet> <minor> --reason <text> [--key <id>]", run: enter("debits") },
  {
    usage: "wallet policy <wallet> <file.json>",
    run: ([id, file]) => owner("PUT", `${wallet(id)}/policy`, { body: jsonOf(file) }),
  },
  {
    usage: "wallet freeze <wallet>",
    run: ([id]) => owner("PUT", `${wallet(id)}/frozen`, { body: { frozen: true } }),
  },
  {
    usage: "wallet unfreeze <wallet>",
    run: ([id]) => owner("PUT", `${wallet(id)}/frozen`, { body: { frozen: false } }),
  },
  { usage: "wallet rotate <wallet> [--public-key <base64>]", run: ([id], flags) => rotate(id, flags) },
  {
    usage: "approval list <wallet> [--status pending]",
    run: ([id], { status }) => owner("GET", `${wallet(id)}/approvals${query({ status })}`),
  },
  { usage: "approval approve <wallet> <approval>", run: decide("approve") },
  { usage: "approval deny <wallet> <approval>", run: decide("deny") },
  {
    usage: "provider create --name <name> --wallet <wallet>",
    run: (_, { name, wallet: walletId }) => operator("POST", "/v1/providers", { body: { name, walletId } }),
  },
  {
    usage: "provider key <provider> [--scopes payments:write,audit:read]",
    run: ([providerId], { scopes = "payments:write" }) =>
      operator("POST", "/v1/keys", { body: { providerId, scopes: scopes.split(",") } }),
  },
  {
    usage:
      "capability create --provider <provider> --name <name> --url <url> --challenge-url <url> --price <minor> " +
      "[--currency USD] [--description <text>] [--method <method>] [--tool <name>] [--input-schema <file.json>]",
    run: (_, flags) => createCapability(flags),
  },
];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  strict: true,
  options: Object.fromEntries(
    [
      ...["currency", "public-key", "limit", "cursor", "reason", "key", "status", "name", "wallet", "scopes"],
      ...["provider", "url", "challenge-url", "price", "description", "method", "tool", "input-schema"],
    ].map((name) => [name, { type: "string" as const }]),
  ),
});

await runTool(async () => {
  const command = COMMANDS.find(({ usage }) => wordsOf(usage).every((word, at) => positionals[at] === word));
  if (!command) throw new Error(usage());
  const given = positionals.slice(wordsOf(command.usage).length);
  const wanted = command.usage.split(/ \[| --/)[0]?.match(/<[^>]+>/g)?.length ?? 0;
  if (given.length !== wanted) throw new Error(`usage: npm run souk -- ${command.usage}`);
  console.log(JSON.stringify(await command.run(given, values as Flags), null, 2));
});

function wordsOf(usage: string): string[] {
  return usage.split(/ (?=[<[-])/)[0]?.split(" ") ?? [];
}

function usage(): string {
  const lines = COMMANDS.map((command) => `  npm run souk -- ${command.usage}`);
  return `usage:\n${lines.join("\n")}
environment: SOUK_URL (${localUrl()}), SOUK_ADMIN_TOKEN (needed where SOUK_URL is not on this machine), SOUK_OWNER_KEY`;
}

/** Without a public key, makes a pair here and prints the private half, which the Worker never sees. */
async function createWallet({ currency = "USD", "public-key": given }: Flags) {
  const pair = given === undefined ? await newPair() : { publicKey: given };
  const made = (await operator("POST", "/v1/wallets", {
    body: { currency, publicKey: pair.publicKey },
  })) as object;
  return { ...made, ...pair };
}

async function rotate(id: string | undefined, { "public-key": given }: Flags) {
  const pair = given === undefined ? await newPair() : { publicKey: given };
  await owner("PUT", `${wallet(id)}/payment-key`, { body: { publicKey: pair.publicKey } });
  return pair;
}

async function newPair() {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const { publicKey } = await signerFromSeed(seed);
  return { publicKey: toBase64(publicKey), paymentKeySeed: toHex(seed) };
}

function enter(kind: "credits" | "debits") {
  return ([id, amountMinor]: string[], { reason, key = crypto.randomUUID() }: Flags) =>
    operator("POST", `${wallet(id)}/${kind}`, {
      body: { amountMinor, reason },
      headers: { "idempotency-key": key },
    });
}

function decide(verdict: "approve" | "deny") {
  return ([id, approvalId]: string[]) =>
    owner("POST", `${wallet(id)}/approvals/${encodeURIComponent(approvalId ?? "")}/${verdict}`);
}

function createCapability(flags: Flags) {
  const { provider: providerId, name, url, price: amountMinor, currency = "USD", description = "" } = flags;
  const { "challenge-url": challengeUrl, method, tool: toolName, "input-schema": schemaFile } = flags;
  const inputSchema = schemaFile === undefined ? undefined : jsonOf(schemaFile);
  return operator("POST", "/v1/capabilities", {
    body: {
      ...{ providerId, name, description, url, method, toolName, inputSchema },
      ...{ amountMinor, currency, challengeUrl },
    },
  });
}

async function operator(method: string, path: string, asked: Asked = {}): Promise<unknown> {
  return (await ask(method, path, asked)).json();
}

function owner(method: string, path: string, asked: Asked = {}): Promise<unknown> {
  const token = process.env.SOUK_OWNER_KEY;
  return operator(method, path, token ? { ...asked, token } : asked);
}

function wallet(id = ""): string {
  return `/v1/wallets/${encodeURIComponent(id)}`;
}

function query(parameters: Flags): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

function jsonOf(file = ""): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} is not a file of JSON`, { cause: error });
  }
}

function randomHex(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}
