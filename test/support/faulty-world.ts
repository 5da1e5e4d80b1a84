// A world that may break: the built bundle in a process of its own, anvil behind an RPC proxy, and a recorder in front
// of the Worker. Everything is asked through HTTP; the Worker is killed with SIGKILL and started again on its state.
// Node only.

import { expect } from "vitest";
import { startAnvil } from "../../scripts/chain/anvil.ts";
import { decodePayment } from "../../src/payments/decode-payment.ts";
import { relayerOf } from "../../src/payments/evm/relayer/relayer-client.ts";
import { paymentId } from "../../src/payments/settlement/payment-id.ts";
import type { SettlementRecord } from "../../src/payments/settlement/settlement-record.ts";
import { send, type Wire } from "./cast.ts";
import {
  ACCOUNTS,
  aPayment,
  CHAIN_ID,
  type Hex,
  NETWORK,
  RELAYER,
  rpc,
  SELLER,
  usdcBalance,
} from "./chain.ts";
import type { PaymentOptions, TestPayment } from "./payments.ts";
import { type Recorder, startRecorder } from "./recorder.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { PROVIDER_TEXT } from "./rpc-proxy-client.ts";
import { startTestWorld } from "./world.ts";

/** As it stands in the path of a provider's URL. */
const PROVIDER_KEY = "rpc-secret-key";

export interface FaultyWorldOptions {
  variables?: Record<string, string>;
  /** What the `NETWORKS` variable says of the test chain, on top of: mined is final, no block time. */
  network?: Record<string, unknown>;
  /** Settling accounts, each with a nonce and a storage of its own. Default one. */
  relayers?: 1 | 2 | 3 | 4;
}

export interface Verdict {
  success?: boolean;
  isValid?: boolean;
  transaction?: string;
  errorReason?: string;
  invalidReason?: string;
  extra?: { settlementId?: string; replayed?: true; retryable?: true };
}

export interface Answer<Body = Verdict> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface Health {
  status: "ok" | "degraded";
  checks: { name: string; ok: boolean; detail: string }[];
}

export interface FaultyWorld {
  /** The Worker, through the recorder. */
  url: string;
  /** The node itself, past the proxy. */
  nodeUrl: string;
  proxy: RpcProxy;
  recorder: Recorder;
  statePath: string;
  /** The Worker's log, line by line. */
  logs: readonly string[];
  ask<Body>(name: string, wire?: Wire, token?: string): Promise<Answer<Body>>;
  /** `key` is the Idempotency-Key. */
  settle(payment: unknown, options?: { key?: string; token?: string }): Promise<Answer>;
  verify(payment: unknown, token?: string): Promise<Answer>;
  /** Null for 404. */
  record(payment: TestPayment, token?: string): Promise<SettlementRecord | null>;
  health(): Promise<Answer<Health>>;
  /** SIGKILL. */
  kill(): Promise<void>;
  restart(variables?: Record<string, string>): Promise<void>;
  /** A payment that this relayer will send, by its place in the list. */
  paymentOf(relayer: number, options?: PaymentOptions): Promise<TestPayment>;
  stop(): Promise<void>;
}

const SETTLING_ACCOUNTS = [RELAYER, ...ACCOUNTS.slice(4, 7)];

export async function startFaultyWorld(options: FaultyWorldOptions = {}): Promise<FaultyWorld> {
  const relayers = SETTLING_ACCOUNTS.slice(0, options.relayers ?? 1);
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const anvil = await startAnvil();
    endings.push(anvil.stop);
    const proxy = await startRpcProxy(anvil.rpcUrl);
    endings.push(proxy.stop);
    const network = { confirmations: 1, finalityBlocks: 0, blockTimeSeconds: null, ...options.network };
    const world = await startTestWorld({
      rpcUrl: `${proxy.rpcUrl}/v2/${PROVIDER_KEY}`,
      variables: {
        NETWORKS: JSON.stringify({ [NETWORK]: network }),
        RELAYER_KEYS_84532: relayers.map(({ key }) => key).join(),
        ...options.variables,
      },
    });
    endings.push(world.stop);
    const recorder = await startRecorder(world.url);
    endings.push(recorder.stop);

    const ask = async <Body>(name: string, wire?: Wire, token?: string): Promise<Answer<Body>> => {
      const { status, headers, ...answer } = await read(send(recorder.url, name, wire, token));
      return { status, headers, body: JSON.parse(answer.text || "null") as Body };
    };
    return {
      ...{ url: recorder.url, nodeUrl: anvil.rpcUrl, statePath: world.statePath, logs: world.logs },
      ...{ proxy, recorder, ask, stop },
      settle: (body, { key, token } = {}) =>
        ask("POST /settle", { body, ...(key && { headers: { "idempotency-key": key } }) }, token),
      verify: (body, token) => ask("POST /verify", { body }, token),
      record: async (payment, token) => {
        const path = `/settlements/${await idOf(payment)}`;
        const { status, body } = await ask<SettlementRecord>("GET", { path }, token);
        return status === 404 ? null : body;
      },
      health: () => ask("GET /health"),
      kill: world.killWorker,
      restart: world.restartWorker,
      paymentOf: async (place, paymentOptions) => {
        for (;;) {
          const payment = await aPayment(paymentOptions);
          const addresses = relayers.map(({ address }) => address);
          const chosen = relayerOf(decoded(payment), await idOf(payment), addresses);
          if (chosen === addresses[place]) return payment;
        }
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function read(asked: Promise<Response>) {
  const response = await asked;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function decoded(payment: TestPayment) {
  const decoding = decodePayment(
    JSON.parse(JSON.stringify(payment)),
    new Map([[NETWORK, { chainId: CHAIN_ID }]]),
  );
  if (!decoding.ok) throw new Error(`the test's payment is refused: ${decoding.reason}`);
  return decoding.payment;
}

export function idOf(payment: TestPayment): Promise<string> {
  return paymentId(decoded(payment));
}

/** What counts in the end: money moved, transactions mined, and different transactions that a node was handed. */
export interface Books {
  sellerUsdc: bigint;
  mined: number;
  sent: number;
}

export async function readBooks(
  { nodeUrl, proxy }: FaultyWorld,
  seller: Hex = SELLER.address,
): Promise<Books> {
  const nonces = SETTLING_ACCOUNTS.map(({ address }) =>
    rpc<Hex>(nodeUrl, "eth_getTransactionCount", [address, "latest"]),
  );
  const mined = (await Promise.all(nonces)).reduce((sum, nonce) => sum + Number(nonce), 0);
  const { transactions } = await proxy.counts();
  return { sellerUsdc: await usdcBalance(nodeUrl, seller), mined, sent: transactions.length };
}

/** Exactly these payments were paid since `before`: one transaction each, none lost, none reverted, none replaced. */
export async function expectPaid(
  world: FaultyWorld,
  before: Books,
  ...payments: TestPayment[]
): Promise<void> {
  const price = payments.reduce(
    (sum, { paymentRequirements }) => sum + BigInt(paymentRequirements.amount),
    0n,
  );
  const count = payments.length;
  expect(await readBooks(world)).toEqual({
    sellerUsdc: before.sellerUsdc + price,
    mined: before.mined + count,
    sent: before.sent + count,
  });
}

/** Asks again as often as the answer is `settlement_pending`, and answers the last one. */
export async function settleToTheEnd(world: FaultyWorld, payment: TestPayment): Promise<Answer> {
  const endMs = Date.now() + 60_000;
  for (;;) {
    const answer = await world.settle(payment);
    if (answer.body.errorReason !== "settlement_pending" || Date.now() > endMs) return answer;
  }
}

/** Waits until something holds. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  what: string,
  timeoutMs = 20_000,
): Promise<void> {
  const endMs = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`it did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Looks for what only the node's operator may know: in every answer of this world, header and body, whoever asked, and
 * in the Worker's log.
 */
export function expectNoLeak({ recorder, proxy, nodeUrl, logs }: FaultyWorld): void {
  expect(recorder.answers.length).toBeGreaterThan(0);
  const ports = [proxy.rpcUrl, nodeUrl].map((url) => `:${new URL(url).port}`);
  const secrets = [PROVIDER_KEY, PROVIDER_TEXT, ...ports];
  const isLeak = (text: string) => secrets.some((secret) => text.includes(secret));
  expect(recorder.answers.filter(({ headers, body }) => isLeak(JSON.stringify(headers) + body))).toEqual([]);
  expect(logs.filter(isLeak)).toEqual([]);
}
