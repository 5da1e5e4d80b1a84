// `npm run bench:gateway`: how many challenges and how many paid calls (authorize and complete) the built bundle serves
// per second, over HTTP, with real storage; in memory, and on this machine's disk for comparison. Miniflare configures
// workerd and is then out of the way: requests go to the Worker's own socket. An empty Worker's rate stands beside it.
//
//   --calls N        paid calls that are measured; default 3,000
//   --challenges N   default 100,000
//   --connections N  default 32
//   --disk           measure paid calls on disk, too
//   --json           one line of JSON at the end

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Miniflare, NoOpLog } from "miniflare";
import { buildBundle, PROJECT_ROOT, STATE_ROOT } from "../scripts/build.ts";
import { localVariables, OPERATOR_TOKEN } from "../scripts/local-variables.ts";
import { anyFreePort } from "../scripts/ports.ts";
import { applyMigrations } from "../scripts/worker/apply-migrations.ts";
import { miniflareOptions } from "../scripts/worker/miniflare-options.ts";
import { EMPTY_WORKER } from "../scripts/worker/workerd-serve.ts";
import { toBase64, utf8 } from "../src/platform/bytes.ts";
import { signedBytes } from "../src/platform/canonical-json.ts";
import { type Signer, signerFromSeed } from "../src/platform/ed25519.ts";
import { type Percentiles, percentiles } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    calls: { type: "string", default: "3000" },
    challenges: { type: "string", default: "100000" },
    connections: { type: "string", default: "32" },
    disk: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const CALLS = Number(options.calls);
const CHALLENGES = Number(options.challenges);
const CONNECTIONS = Number(options.connections);

/** DESIGN.md, section 9. */
const TARGET_PAID_CALLS = 200;
const TARGET_CHALLENGES = 1_500;

const MEMORY_FOLDER = "/dev/shm";
/** One buyer's wallet would be one object: real load comes from several. */
const BUYERS = 8;

/** What follows the answer of a paid call is written by then, and idle objects have closed their databases (10 s). */
const QUIET_MS = 15_000;

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

interface Market {
  capabilityId: string;
  providerKey: string;
  buyers: { walletId: string; payment: Signer }[];
}

interface Challenge {
  capabilityId: string;
  providerId: string;
  amountMinor: string;
  currency: string;
  nonce: string;
}

await buildBundle();
const onMemory = await measure(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), CHALLENGES);
const onDisk = options.disk ? await measure(STATE_ROOT, 0) : undefined;
agent.destroy();

console.table({
  "an empty Worker": row(onMemory.empty, undefined),
  "challenges, state in memory": row(onMemory.challenges, TARGET_CHALLENGES),
  "authorize + complete, state in memory": row(onMemory.calls, TARGET_PAID_CALLS),
  ...(onDisk ? { "authorize + complete, state on disk": row(onDisk.calls, undefined) } : {}),
});
console.log(`objects' files that ${CHALLENGES} challenges made or changed: ${onMemory.filesTouched}`);
console.log(
  "What limits paid calls: CPU on the one event loop of this process. Each call opens and syncs a database of its own and " +
    "passes through two wallets; with the loop full, a call now and then waits long for its turn, which is the p99. " +
    "In production objects are spread over many machines.",
);
if (options.json) {
  console.log(
    JSON.stringify({
      paidCallsPerSecond: Math.round(onMemory.calls.perSecond),
      challengesPerSecond: Math.round(onMemory.challenges?.perSecond ?? 0),
      ...(onDisk ? { paidCallsPerSecondOnDisk: Math.round(onDisk.calls.perSecond) } : {}),
      challengeFilesTouched: onMemory.filesTouched,
    }),
  );
}

interface Measured {
  perSecond: number;
  ms: Percentiles;
}

function row(measured: Measured | undefined, target: number | undefined) {
  const { perSecond = 0, ms } = measured ?? {};
  return {
    "per second": Math.round(perSecond),
    target: target ?? "",
    "p50 ms": ms?.p50.toFixed(1),
    "p99 ms": ms?.p99.toFixed(1),
  };
}

async function measure(folder: string, challenges: number) {
  const statePath = mkdtempSync(join(folder, "souk-bench-gateway-"));
  const { url, emptyUrl, miniflare } = await startBareWorker(statePath);
  try {
    const market = await makeMarket(url);
    await payCalls(url, market, 200); // Code and caches are warm then.
    const empty = await timed(5_000, async () => void (await post(emptyUrl, "/", {}, "none")));
    agent.destroy();
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const before = filesOf(statePath);
    const measuredChallenges = challenges > 0 ? await askChallenges(url, market, challenges) : undefined;
    const filesTouched = changed(before, filesOf(statePath));
    const calls = await payCalls(url, market, CALLS);
    return { empty, challenges: measuredChallenges, calls, filesTouched };
  } finally {
    await miniflare.dispose();
    rmSync(statePath, { recursive: true, force: true });
  }
}

/** The built bundle and an empty Worker, each on a socket of its own. */
async function startBareWorker(statePath: string) {
  const port = await anyFreePort();
  const variables = {
    ...localVariables(`http://127.0.0.1:${port}`, "http://127.0.0.1:1"),
    // Signing and sending thousands of proofs takes this bench longer than a buyer.
    CHALLENGE_SECONDS: "3600",
  };
  const {
    host,
    port: _port,
    defaultPersistRoot,
    log: _log,
    ...souk
  } = miniflareOptions({ port, statePath, variables }) as Record<string, unknown>;
  const direct = { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };
  const miniflare = new Miniflare({
    ...{ host, port, defaultPersistRoot, cf: false, log: new NoOpLog() },
    // Nobody reads the lines; nobody reading them would stop workerd.
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.resume();
    },
    workers: [
      { ...souk, ...direct },
      { name: "empty", modules: true, script: EMPTY_WORKER.code, compatibilityDate: "2026-04-22", ...direct },
    ],
  } as ConstructorParameters<typeof Miniflare>[0]);
  await miniflare.ready;
  await applyMigrations(
    await miniflare.getD1Database("DB", String(souk.name)),
    join(PROJECT_ROOT, "migrations"),
  );
  const url = (await miniflare.unsafeGetDirectURL(String(souk.name))).origin;
  const emptyUrl = (await miniflare.unsafeGetDirectURL("empty")).origin;
  return { url, emptyUrl, miniflare };
}

async function askChallenges(url: string, market: Market, count: number): Promise<Measured> {
  return timed(count, async () => {
    await challengeOf(url, market);
  });
}

/** Only authorize and complete are timed: challenges and proofs are made before. */
async function payCalls(url: string, market: Market, count: number): Promise<Measured> {
  const proofs: object[] = [];
  await timed(count, async () => {
    const challenge = await challengeOf(url, market);
    const buyer = market.buyers[proofs.length % BUYERS];
    if (buyer) proofs.push(await proofOf(challenge, buyer));
  });
  const responseBodyBase64 = toBase64(utf8(JSON.stringify({ answer: 42 })));
  return timed(count, async (index) => {
    const proof = proofs[index];
    const { transactionId } = await post(url, "/v1/x402/authorize", { proof }, market.providerKey);
    await post(url, "/v1/x402/complete", { transactionId, responseBodyBase64 }, market.providerKey);
  });
}

/** Runs `work` `count` times, as many at once as there are connections. */
async function timed(count: number, work: (index: number) => Promise<void>): Promise<Measured> {
  const tookMs: number[] = [];
  let next = 0;
  const startedMs = performance.now();
  const connection = async () => {
    while (next < count) {
      const index = next++;
      const fromMs = performance.now();
      await work(index);
      tookMs.push(performance.now() - fromMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { perSecond: (1_000 * count) / (performance.now() - startedMs), ms: percentiles(tookMs) };
}

async function challengeOf(url: string, { capabilityId, providerKey }: Market): Promise<Challenge> {
  return post<Challenge>(url, "/v1/x402/challenge", { capabilityId }, providerKey);
}

async function proofOf(challenge: Challenge, { walletId, payment }: Market["buyers"][number]) {
  const { capabilityId, providerId, amountMinor, currency, nonce } = challenge;
  const unsigned = {
    ...{ walletId, agentId: "bench", capabilityId, providerId, amountMinor, currency, nonce },
    issuedAt: "2026-09-24T10:12:03.114Z",
  };
  return { ...unsigned, signature: toBase64(await payment.sign(signedBytes(unsigned))) };
}

async function makeMarket(url: string): Promise<Market> {
  const operate = <Answer>(path: string, body: object, key = "") =>
    post<Answer>(url, path, body, OPERATOR_TOKEN, key);
  const newWallet = async () => {
    const payment = await signerFromSeed(crypto.getRandomValues(new Uint8Array(32)));
    const body = { currency: "USD", publicKey: toBase64(payment.publicKey) };
    const { walletId } = await operate<{ walletId: string }>("/v1/wallets", body);
    return { walletId, payment };
  };
  const payee = await newWallet();
  const { providerId } = await operate<{ providerId: string }>("/v1/providers", {
    name: "Bench",
    walletId: payee.walletId,
  });
  const keyBody = { providerId, scopes: ["payments:write"] };
  const { key: providerKey } = await operate<{ key: string }>("/v1/keys", keyBody);
  const { capabilityId } = await operate<{ capabilityId: string }>("/v1/capabilities", {
    ...{ providerId, name: "Answer", description: "", amountMinor: "1", currency: "USD" },
    ...{ url: "https://bench.test/", challengeUrl: "https://bench.test/" },
  });
  const buyers = await Promise.all(Array.from({ length: BUYERS }, newWallet));
  for (const { walletId } of buyers) {
    await operate(
      `/v1/wallets/${walletId}/credits`,
      { amountMinor: "100000000", reason: "bench" },
      "funding",
    );
  }
  return { capabilityId, providerKey, buyers };
}

/** One POST over a kept connection. @throws Error with the answer when it is no success. */
function post<Answer = { transactionId: string }>(
  url: string,
  path: string,
  body: object,
  token: string,
  idempotencyKey = "",
): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...(idempotencyKey === "" ? {} : { "idempotency-key": idempotencyKey }),
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url + path, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const answer = Buffer.concat(chunks).toString();
        if ((response.statusCode ?? 500) < 300)
          resolve((answer === "ok" ? {} : JSON.parse(answer)) as Answer);
        else reject(new Error(`${path}: ${response.statusCode} ${answer}`));
      });
    });
    // workerd closes a connection that was idle for five seconds, also when a slow disk kept it from reading for so long.
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (!sent.reusedSocket || error.code !== "ECONNRESET") reject(error);
      else resolve(post(url, path, body, token, idempotencyKey));
    });
    sent.end(text);
  });
}

/** Size and time of every object's files. */
function filesOf(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(holdsObject);
  return new Map(
    files.flatMap((file) => {
      const stats = statSync(join(folder, file), { throwIfNoEntry: false });
      return stats?.isFile() ? [[file, `${stats.size} ${stats.mtimeMs}`]] : [];
    }),
  );
}

/**
 * Not SQLite's shared memory, which readers touch, and not D1, in whose file the runtime counts when it opens and closes it:
 * that a challenge writes nothing there is tested at the binding (test/worker/gateway-answers.test.ts).
 */
function holdsObject(file: string): boolean {
  return !file.endsWith("-shm") && !file.startsWith("d1/");
}

function changed(before: Map<string, string>, after: Map<string, string>): number {
  return [...after].filter(([file, state]) => before.get(file) !== state).length;
}
