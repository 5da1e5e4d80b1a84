// `npm start`: the local world with a seller and a buyer in it. Shows each step of four purchases as it happens, then
// finds the seller by search, and stays up until Ctrl-C.

import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { HTTPFacilitatorClient } from "@x402/core/http";
import { withBazaar } from "@x402/extensions/bazaar";
import { STATE_ROOT } from "./build.ts";
import { NETWORK } from "./chain/addresses.ts";
import { allowPermit2, makeBuyer, usdcOf } from "./demo/buyer.ts";
import { DEMO_RESOURCES, type DemoResource, type PaymentMethod } from "./demo/resources.ts";
import { type Seller, type SellerEvent, startSeller } from "./demo/seller.ts";
import { BUYER, OPERATOR_TOKEN, RELAYER, SELLER } from "./local-variables.ts";
import type { World } from "./local-world.ts";
import { anyFreePort, assertFree, isFree, portFrom } from "./ports.ts";
import { runWorld } from "./run-world.ts";

const DEFAULT_SELLER_PORT = 4021;

/** A listing follows its settlement through a queue that waits up to a second for company. */
const LISTING_TIMEOUT_MS = 20_000;
const LISTING_POLL_MS = 250;

const METHODS: readonly PaymentMethod[] = ["eip3009", "permit2", "eip3009", "permit2"];
const METHOD_NAMES: Record<PaymentMethod, string> = { eip3009: "EIP-3009", permit2: "Permit2" };

mkdirSync(STATE_ROOT, { recursive: true });
const logPath = join(STATE_ROOT, "worker.log");
const workerLog = createWriteStream(logPath);
sendPackagesWordsToLog();

await runWorld({ onLog: (line) => workerLog.write(`${line}\n`), onReady: showPurchases });

async function showPurchases(world: World): Promise<() => Promise<void>> {
  const seller = await startSeller({
    facilitatorUrl: world.url,
    port: await sellerPort(),
    onEvent: (event) => say(...describe(event)),
  });
  try {
    showAddresses(world, seller);
    await allowPermit2(world.rpcUrl, BUYER);
    for (const [index, resource] of DEMO_RESOURCES.entries()) {
      await showPurchase(world, seller, resource, METHODS[index] ?? "eip3009");
    }
    for (const resource of DEMO_RESOURCES) await showSearch(world, resource);
  } catch (error) {
    await seller.stop();
    throw error;
  }
  console.log("\nAll of it stays up until Ctrl-C.");
  return seller.stop;
}

function showAddresses(world: World, seller: Seller): void {
  console.log("");
  say("Souk", `${world.url}  (operator token: ${OPERATOR_TOKEN}; log: ${logPath})`);
  say("chain", `${world.rpcUrl}  (${NETWORK}, anvil's public accounts)`);
  say("seller", `${seller.url}  paid to ${SELLER.address}`);
  say("buyer", BUYER.address);
  say("relayer", RELAYER.address);
}

async function showPurchase(
  world: World,
  seller: Seller,
  resource: DemoResource,
  method: PaymentMethod,
): Promise<void> {
  console.log(`\n${resource.route}, paid by ${METHOD_NAMES[method]}`);
  const before = await usdcOf(world.rpcUrl, SELLER.address);
  const buyer = makeBuyer(BUYER, method, async (input, init) => {
    const request = new Request(input, init);
    const response = await fetch(request);
    const paid = request.headers.has("payment-signature");
    if (!paid) say("asked", request.url);
    if (!paid && response.status === 402)
      say("402", `the seller wants ${dollars(resource.priceAtomic)} USDC`);
    return response;
  });
  const { status, body, transaction } = await buyer.buy(seller.url, resource);
  if (status !== 200) throw new Error(`the seller answered ${status}: ${JSON.stringify(body)}`);
  const after = await usdcOf(world.rpcUrl, SELLER.address);
  say("receipt", transaction);
  say("balance", `the seller has ${dollars(after - before)} USDC more: ${dollars(after)}`);
  say("answer", JSON.stringify(body));
}

function describe(event: SellerEvent): [string, string] {
  switch (event.kind) {
    case "verified":
      return ["verdict", event.isValid ? `valid, paid by ${event.payer}` : "not valid"];
    case "settled":
      return ["settled", `${event.transaction}, listing: ${event.listing?.status ?? "none"}`];
    case "failed":
      return ["failed", event.message];
  }
}

async function showSearch(world: World, resource: DemoResource): Promise<void> {
  const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url: world.url })).extensions;
  const deadline = Date.now() + LISTING_TIMEOUT_MS;
  console.log(`\nsearch "${resource.searchFor}"`);
  while (Date.now() < deadline) {
    const { resources } = await bazaar.search({ query: resource.searchFor });
    const found = resources.find(({ description }) => description === resource.listing.description);
    if (found) {
      say(
        "found",
        `${found.resource}  ${found.type}  ${dollars(BigInt(found.accepts[0]?.amount ?? 0))} USDC`,
      );
      say("", found.description ?? "");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, LISTING_POLL_MS));
  }
  throw new Error(`the listing did not appear within ${LISTING_TIMEOUT_MS / 1_000} s`);
}

/** The usual port unless something else has it; a port that was asked for must be free. */
async function sellerPort(): Promise<number> {
  const port = portFrom(process.env, "SOUK_SELLER_PORT", DEFAULT_SELLER_PORT);
  if (process.env.SOUK_SELLER_PORT) await assertFree(port, "SOUK_SELLER_PORT");
  return (await isFree(port)) ? port : anyFreePort();
}

/** The published packages speak on the console too; what this demo shows is easier to read without. */
function sendPackagesWordsToLog(): void {
  for (const method of ["log", "warn"] as const) {
    const print = console[method].bind(console);
    console[method] = (...words: unknown[]) => {
      if (/^(\[x402\]|x402:)/.test(String(words[0]))) workerLog.write(`${words.join(" ")}\n`);
      else print(...words);
    };
  }
}

/** USDC has six decimals. */
function dollars(atomic: bigint): string {
  const fraction = (atomic % 1_000_000n)
    .toString()
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${atomic / 1_000_000n}.${fraction}`;
}

function say(label: string, text: string): void {
  console.log(`  ${label.padEnd(9)}${text}`);
}
