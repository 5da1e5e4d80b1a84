// Evidence about a payment that our own transaction did not settle, read from a real chain, and from nodes that lag or
// keep silent.

import { numberToHex } from "viem";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../../scripts/chain/anvil.ts";
import { decodePayment } from "../../src/payments/decode-payment.ts";
import { readChainEvidence, readProgress } from "../../src/payments/evm/chain-evidence.ts";
import { JsonRpc } from "../../src/payments/evm/json-rpc.ts";
import type { MinedReceipt } from "../../src/payments/evm/relayer/relayer-port.ts";
import type { Payment } from "../../src/payments/payment.ts";
import { judgeChain } from "../../src/payments/settlement/proof.ts";
import {
  ACCOUNTS,
  aPayment,
  approvePermit2,
  BUYER,
  blockNumber,
  CHAIN_ID,
  rpc as callRpc,
  type Hex,
  mine,
  NETWORK,
  type TestPayment,
  transact,
} from "../support/chain.ts";
import { settleCall } from "../support/direct-settle.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let chain: Anvil;
let proxy: RpcProxy;
let rpc: JsonRpc;

beforeAll(async () => {
  chain = await startAnvil();
  proxy = await startRpcProxy(chain.rpcUrl);
  rpc = new JsonRpc({ rpcUrls: [proxy.rpcUrl], chainId: CHAIN_ID, totalTimeoutMs: 2_000 });
  await approvePermit2(chain.rpcUrl, BUYER.address);
});
afterEach(() => proxy.clearRules());
afterAll(async () => {
  await proxy.stop();
  await chain.stop();
});

function decoded(payment: TestPayment): Payment {
  const decoding = decodePayment(payment, new Map([[NETWORK, { chainId: CHAIN_ID }]]));
  if (!decoding.ok) throw new Error(decoding.reason);
  return decoding.payment;
}

/** Somebody else sends the payment; answers the transaction. */
async function sendElsewhere(payment: TestPayment): Promise<Hex> {
  const from = ACCOUNTS[6]?.address as Hex;
  return (await transact(chain.rpcUrl, { from, ...settleCall(payment) })).transactionHash;
}

function revertedAt(block: bigint): MinedReceipt {
  const hash: Hex = `0x${"0a".repeat(32)}`;
  return { hash, blockNumber: block, blockHash: hash, status: "reverted", logs: [] };
}

it.each(["eip3009", "permit2"] as const)("%s: unspent before, spent and found after", async (method) => {
  const payment = await aPayment({ method });
  const before = await readChainEvidence(rpc, decoded(payment), 0, null);
  expect(before).toMatchObject({ isSpent: false, candidates: [] });
  const transaction = await sendElsewhere(payment);
  const after = await readChainEvidence(rpc, decoded(payment), 0, null);
  expect(after?.isSpent).toBe(true);
  if (!after) throw new Error("the chain answers");
  expect(judgeChain(decoded(payment), null, after, 1)).toEqual({ kind: "settled", transaction });
});

it("says nothing while the node is behind our own receipt, or does not answer", async () => {
  const payment = decoded(await aPayment());
  const ahead = revertedAt((await blockNumber(chain.rpcUrl)) + 1n);
  expect(await readChainEvidence(rpc, payment, 0, ahead)).toBeNull();
  await proxy.addRule({ method: "eth_call", action: { do: "omit" } });
  expect(await readChainEvidence(rpc, payment, 0, null)).toBeNull();
  await proxy.clearRules();
  await proxy.addRule({ action: { do: "status", status: 503 } });
  expect(await readChainEvidence(rpc, payment, 0, null)).toBeNull();
});

it("is spent and without a candidate where the node refuses to search: that stays open", async () => {
  const payment = await aPayment();
  await sendElsewhere(payment);
  await proxy.addRule({
    method: "eth_getLogs",
    action: { do: "error", error: { code: -32000, message: "block range is too wide" } },
  });
  const evidence = await readChainEvidence(rpc, decoded(payment), 0, null);
  expect(evidence).toMatchObject({ isSpent: true, candidates: [] });
  if (!evidence) throw new Error("the chain answers");
  expect(judgeChain(decoded(payment), null, evidence, 1).kind).toBe("open");
});

it("takes the final block's time from so many blocks below the head, or from the node's finalized block", async () => {
  const payment = decoded(await aPayment());
  await mine(chain.rpcUrl, 3);
  const head = await blockNumber(chain.rpcUrl);
  const secondsAt = async (block: bigint) => {
    const header = await callRpc<{ timestamp: Hex }>(chain.rpcUrl, "eth_getBlockByNumber", [
      numberToHex(block),
      false,
    ]);
    return BigInt(header.timestamp);
  };
  const atHead = await readChainEvidence(rpc, payment, 0, null);
  const below = await readChainEvidence(rpc, payment, 2, null);
  const finalized = await readChainEvidence(rpc, payment, null, null);
  expect(atHead?.finalSeconds).toBe(await secondsAt(head));
  expect(below?.finalSeconds).toBe(await secondsAt(head - 2n));
  // anvil finalizes 64 blocks below the head, or its first block.
  expect(finalized?.finalSeconds).toBe(await secondsAt(head > 64n ? head - 64n : 0n));
});

it("knows how a transaction stands that no relayer watches", async () => {
  const hash = await sendElsewhere(await aPayment());
  expect(await readProgress(rpc, hash, 1)).toMatchObject({ depth: 1, isFinal: false, isAbandoned: false });
  await mine(chain.rpcUrl);
  const final = await readProgress(rpc, hash, 1);
  expect(final).toMatchObject({ depth: 2, isFinal: true, receipt: { hash, status: "success" } });
  const unknown = await readProgress(rpc, `0x${"0c".repeat(32)}`, 1);
  expect(unknown).toMatchObject({ receipt: null, depth: 0, isFinal: false, isAbandoned: true });
  await proxy.addRule({ method: "eth_getTransactionReceipt", action: { do: "omit" } });
  expect(await readProgress(rpc, hash, 1)).toBeNull();
});

// Last: its blocks run ahead of the clock.
it("finds the transaction around our own reverted one, however many blocks came after", async () => {
  const payment = await aPayment();
  const transaction = await sendElsewhere(payment);
  const own = revertedAt(await blockNumber(chain.rpcUrl));
  // In steps: a busy machine takes seconds for a hundred.
  for (let mined = 0; mined < 1_600; mined += 100) await mine(chain.rpcUrl, 100);
  const evidence = await readChainEvidence(rpc, decoded(payment), 0, own);
  expect(evidence?.candidates.map(({ receipt }) => receipt.hash)).toEqual([transaction]);
  expect(evidence?.candidates[0]?.depth).toBe(1_601);
});
