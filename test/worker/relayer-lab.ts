// What relayer tests ask for: a chain, relayers with accounts of their own, calls that any account may make, and
// objects whose time can be moved. For tests inside workerd.

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { keccak256, padHex, toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { RelayerObject } from "../../src/payments/evm/relayer/relayer-object.ts";
import type { SubmitRequest } from "../../src/payments/evm/relayer/relayer-port.ts";
import { ACCOUNTS, CHAIN_ID, type Hex, rpc, setBlockTime, setEtherBalance, USDC } from "../support/chain.ts";
import { type LabChain, startLabChain } from "../support/chain-lab-client.ts";

/** Enough for one relayer per test. */
const RELAYER_COUNT = 40;
export const RELAYER_KEYS: readonly Hex[] = Array.from({ length: RELAYER_COUNT }, (_, index) =>
  keccak256(toHex(`relayer ${index}`)),
);

/**
 * Starts a chain and points this file's Worker at it. Call it once, before anything reads the configuration.
 *
 * @example
 * const chain = await startRelayerChain({ MAX_QUEUED: "300" });
 */
export async function startRelayerChain(variables: Record<string, string> = {}): Promise<LabChain> {
  const chain = await startLabChain();
  Object.assign(env, {
    RPC_URLS_84532: chain.proxyUrl,
    RELAYER_KEYS_84532: RELAYER_KEYS.join(","),
    NETWORKS: JSON.stringify({ [`eip155:${CHAIN_ID}`]: { finalityBlocks: 2 } }),
    ...variables,
  });
  return chain;
}

/** The chain mines each transaction at once, and the proxy does nothing. */
export async function calm({ rpcUrl, proxy }: LabChain): Promise<void> {
  await proxy.clearRules();
  await proxy.resetCounts();
  await setBlockTime(rpcUrl, 0);
}

let taken = 0;

export interface TestRelayer {
  address: Hex;
  /** A new one each time: a stub does not outlive its object's crash. */
  readonly stub: DurableObjectStub<RelayerObject>;
}

/** A relayer nobody used yet, with gas money. */
export async function nextRelayer({ rpcUrl }: LabChain, wei = 10n ** 20n): Promise<TestRelayer> {
  const key = RELAYER_KEYS[taken++];
  if (key === undefined) throw new Error("all relayers are taken");
  const address = privateKeyToAddress(key);
  await setEtherBalance(rpcUrl, address, wei);
  const id = env.RELAYERS.idFromName(`${CHAIN_ID}:${address.toLowerCase()}`);
  return {
    address,
    get stub() {
      return env.RELAYERS.get(id);
    },
  };
}

/** `approve(spender, value)` of USDC: any account may call it, it costs gas and writes one log. */
export function approveCall(value: number): Hex {
  return `0x095ea7b3${padHex(ACCOUNTS[3].address, { size: 32 }).slice(2).toLowerCase()}${padHex(toHex(value), { size: 32 }).slice(2)}`;
}

let submits = 0;

/** A submit of a new settlement; every field can be changed. */
export function aSubmit(
  change: Partial<Omit<SubmitRequest, "call">> & { call?: Partial<SubmitRequest["call"]> } = {},
): SubmitRequest {
  submits++;
  return {
    settlementId: `settlement-${submits}`,
    attempt: `attempt-${submits}`,
    step: "transfer",
    payer: ACCOUNTS[2].address,
    validBeforeSeconds: Math.floor(Date.now() / 1_000) + 3_600,
    ...change,
    call: { to: USDC, data: approveCall(submits), estimatedGas: 60_000n, gasCap: 200_000n, ...change.call },
  };
}

/** Moves the object's time ahead of the machine's; an eviction sets it back. */
export async function moveTime({ stub }: TestRelayer, aheadMs: number): Promise<void> {
  await runInDurableObject(stub, (object) => {
    const relayer = object as unknown as RelayerObject;
    relayer.clock = { nowMs: () => Date.now() + aheadMs };
  });
}

/** The object stops in the middle of whatever it does; storage stays. */
export async function crash({ stub }: TestRelayer): Promise<void> {
  await runInDurableObject(stub, (_, state) => state.abort("crashed by the test")).catch(() => undefined);
}

/** What is running ends first; then memory is lost and storage stays. */
export async function evict({ stub }: TestRelayer): Promise<void> {
  await evictDurableObject(stub);
}

/** Runs a statement in the relayer's storage and answers its rows. */
export function queryRelayer<Row extends Record<string, SqlStorageValue>>(
  { stub }: TestRelayer,
  statement: string,
): Promise<Row[]> {
  return runInDurableObject(stub, (_, state) => state.storage.sql.exec<Row>(statement).toArray());
}

/** Transactions of an account that are mined or wait in the node's pool. */
export async function sentCount({ rpcUrl }: LabChain, address: Hex): Promise<number> {
  return Number(await rpc<Hex>(rpcUrl, "eth_getTransactionCount", [address, "pending"]));
}

/** Transactions the chain has mined for an account. */
export async function minedCount({ rpcUrl }: LabChain, address: Hex): Promise<number> {
  return Number(await rpc<Hex>(rpcUrl, "eth_getTransactionCount", [address, "latest"]));
}

/** Asks until `check` holds, or fails after ten seconds naming `what`. */
export async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`not within ten seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
