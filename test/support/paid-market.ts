// A market with two parties around the built Worker: a seller in a process of its own (paid-seller.ts) and a buyer with
// money, whose keys are here. Node only.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { OPERATOR_TOKEN } from "../../scripts/local-variables.ts";
import { toBase64, toHex } from "../../src/platform/bytes.ts";
import { signerFromSeed } from "../../src/platform/ed25519.ts";
import type { BuyerOptions } from "../../src/sdk/buyer.ts";
import { send } from "./cast.ts";
import { startTestWorld, type TestWorld } from "./world.ts";

const START_TIMEOUT_MS = 20_000;

/** Prices of the seller's route and of its tool; minor units of USD. */
export const ROUTE_PRICE_MINOR = "100";
export const TOOL_PRICE_MINOR = "7";

export interface PaidMarket {
  world: TestWorld;
  sellerUrl: string;
  buyer: BuyerOptions;
  ownerKey: string;
  /** What a stretch of work cost the buyer. */
  costOf(work: () => Promise<unknown>): Promise<{ paid: number; held: number }>;
  /** How often the seller's handlers ran so far. */
  runs(): Promise<number>;
  /** A client of the seller's MCP server. */
  connect(): Promise<Client>;
  stop(): Promise<void>;
}

export async function startPaidMarket(): Promise<PaidMarket> {
  const world = await startTestWorld({ variables: { AUTH: "keys" } });
  const operate = async <Body>(name: string, body: unknown, key?: string): Promise<Body> => {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const response = await send(world.url, name, { body, headers }, OPERATOR_TOKEN);
    if (response.status !== 201) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  };
  const newWallet = async (seed = crypto.getRandomValues(new Uint8Array(32))) => {
    const publicKey = toBase64((await signerFromSeed(seed)).publicKey);
    const body = { currency: "USD", publicKey };
    const made = await operate<{ walletId: string; ownerKey: string }>("POST /v1/wallets", body);
    return { ...made, paymentKeySeed: toHex(seed) };
  };
  const { walletId, ownerKey, paymentKeySeed } = await newWallet();
  const funding = { amountMinor: "10000", reason: "funding" };
  await operate(`POST /v1/wallets/${walletId}/credits`, funding, "funding");

  const payee = await newWallet();
  const provider = { name: "Shop", walletId: payee.walletId };
  const { providerId } = await operate<{ providerId: string }>("POST /v1/providers", provider);
  const keyOfProvider = { providerId, scopes: ["payments:write"] };
  const { key: providerKey } = await operate<{ key: string }>("POST /v1/keys", keyOfProvider);
  const newCapability = async (amountMinor: string) => {
    const { capabilityId } = await operate<{ capabilityId: string }>("POST /v1/capabilities", {
      ...{ providerId, name: "Answer", description: "", amountMinor, currency: "USD" },
      ...{ url: "https://shop.test/", challengeUrl: "https://shop.test/" },
    });
    return capabilityId;
  };
  const seller = await startSeller({
    ...{ gatewayUrl: world.url, providerKey },
    routeCapabilityId: await newCapability(ROUTE_PRICE_MINOR),
    toolCapabilityId: await newCapability(TOOL_PRICE_MINOR),
  });

  const balance = async () => {
    const response = await send(world.url, `GET /v1/wallets/${walletId}`, {}, ownerKey);
    const { availableMinor, heldMinor } = (await response.json()) as Record<string, string>;
    return { available: Number(availableMinor), held: Number(heldMinor) };
  };
  return {
    world,
    sellerUrl: seller.url,
    buyer: { gatewayUrl: world.url, walletId, agentId: "bot", paymentKeySeed },
    ownerKey,
    costOf: async (work) => {
      const before = await balance();
      await work();
      const after = await balance();
      return { paid: before.available - after.available, held: after.held - before.held };
    },
    runs: async () => ((await (await fetch(`${seller.url}/runs`)).json()) as { runs: number }).runs,
    connect: async () => {
      const client = new Client({ name: "buyer", version: "1.0.0" });
      const transport = new StreamableHTTPClientTransport(new URL(`${seller.url}/mcp`));
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      return client;
    },
    stop: async () => {
      seller.kill();
      await world.stop();
    },
  };
}

async function startSeller(configuration: object): Promise<{ url: string; kill(): void }> {
  const child = spawn(process.execPath, ["test/support/paid-seller.ts"], {
    env: { ...process.env, SELLER: JSON.stringify(configuration) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  const [url] = (await once(createInterface(child.stdout), "line", { signal })) as [string];
  return { url, kill: () => child.kill("SIGKILL") };
}
