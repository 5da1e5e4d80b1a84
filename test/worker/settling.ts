// Settling inside workerd: a Worker with two tenants on a chain of its own, calls through its front door, and a hand on
// the objects behind it. Storage is real, the chain is real, nothing of ours is replaced but the objects' clocks.

import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { loadConfig } from "../../src/config.ts";
import { decodePayment } from "../../src/payments/decode-payment.ts";
import { relayerName } from "../../src/payments/evm/relayer/relayer-client.ts";
import { paymentId } from "../../src/payments/settlement/payment-id.ts";
import type { SettlementObject } from "../../src/payments/settlement/settlement-object.ts";
import type { SettlementRecord } from "../../src/payments/settlement/settlement-record.ts";
import { CHAIN_ID, type Hex, NETWORK, RELAYER, rpc, type TestPayment } from "../support/chain.ts";
import { type LabChain, type LabChainOptions, startLabChain } from "../support/chain-lab-client.ts";

export const ORIGIN = "https://souk.test";

export interface SettleResult {
  status: number;
  headers: Headers;
  body: {
    success: boolean;
    transaction: string;
    network: string;
    payer?: string;
    amount?: string;
    errorReason?: string;
    errorMessage?: string;
    extra?: { settlementId?: string; replayed?: true; retryable?: true };
  };
}

/** Starts a chain and points the Worker at it. Once per test file, before the first request. */
export async function startSettling(
  options: LabChainOptions & {
    variables?: Record<string, string>;
    network?: Record<string, unknown>;
  } = {},
): Promise<LabChain> {
  const { variables = {}, network = {}, ...chainOptions } = options;
  const chain = await startLabChain(chainOptions);
  Object.assign(env, {
    AUTH: "keys",
    RPC_URLS_84532: chain.proxyUrl,
    RELAYER_KEYS_84532: RELAYER.key,
    NETWORKS: JSON.stringify({ [NETWORK]: { finalityBlocks: 0, blockTimeSeconds: null, ...network } }),
    ...variables,
  });
  return chain;
}

/** A key of a tenant for settling and reading. */
export async function keyOf(tenant: string): Promise<string> {
  const response = await exports.default.fetch(`${ORIGIN}/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.ADMIN_TOKEN}` },
    body: JSON.stringify({ tenant, scopes: ["payments:settle", "payments:read"] }),
  });
  return ((await response.json()) as { key: string }).key;
}

/** One POST /settle. */
export async function settle(
  payment: unknown,
  key: string,
  headers: Record<string, string> = {},
): Promise<SettleResult> {
  const response = await exports.default.fetch(`${ORIGIN}/settle`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(payment),
  });
  const body = (await response.json()) as SettleResult["body"];
  return { status: response.status, headers: response.headers, body };
}

/** One GET /settlements/:id; null for 404. */
export async function recordOf(id: string, key: string): Promise<SettlementRecord | null> {
  const response = await exports.default.fetch(`${ORIGIN}/settlements/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = (await response.json()) as SettlementRecord;
  return response.status === 404 ? null : body;
}

export async function idOf(payment: TestPayment): Promise<string> {
  const decoding = decodePayment(JSON.parse(JSON.stringify(payment)), loadConfig(env).networks);
  if (!decoding.ok) throw new Error(`the test's payment is refused: ${decoding.reason}`);
  return paymentId(decoding.payment);
}

export function settlementOf(id: string): DurableObjectStub<SettlementObject> {
  return env.SETTLEMENTS.getByName(id);
}

export function relayerStub(address: Hex = RELAYER.address) {
  return env.RELAYERS.getByName(relayerName(CHAIN_ID, address));
}

/** The names of the tables that the settlement's object holds; none when it holds nothing. */
export function tablesOf(id: string): Promise<string[]> {
  return runInDurableObject(settlementOf(id), (_, state) =>
    state.storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray()
      .map(({ name }) => name),
  );
}

export function alarmOf(id: string): Promise<number | null> {
  return runInDurableObject(settlementOf(id), (_, state) => state.storage.getAlarm());
}

/** Moves the settlement's time ahead of the machine's, until its memory is lost. */
export function moveTime(id: string, aheadMs: number): Promise<void> {
  return runInDurableObject<SettlementObject, void>(settlementOf(id), (object) => {
    object.clock = { nowMs: () => Date.now() + aheadMs };
  });
}

/** Runs the settlement's alarm now, whenever it is due; false when none is set. */
export function ringAlarm(id: string): Promise<boolean> {
  return runDurableObjectAlarm(settlementOf(id));
}

/** An abrupt end of one object's memory: whoever waits for it gets an error. */
export async function kill(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_, state) => state.abort("killed by a test")).catch(() => {});
}

/** The same for every object: as if the process ended. */
export async function killAll(): Promise<void> {
  await abortAllDurableObjects();
}

/** Transactions of this account that are mined. */
export async function sentBy(chain: LabChain, account: Hex = RELAYER.address): Promise<number> {
  return Number(await rpc<Hex>(chain.rpcUrl, "eth_getTransactionCount", [account, "latest"]));
}

/** Waits, at most ten seconds, until something holds. */
export async function until(holds: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const endMs = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`it did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
