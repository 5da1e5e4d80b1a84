// What nodes say when a transaction is sent, in the words of geth, reth, erigon, nethermind, besu and anvil, and what
// counts as a receipt or an estimate.

import { describe, expect, it } from "vitest";
import type { RpcAnswer } from "../../src/payments/evm/json-rpc.ts";
import {
  readCount,
  readEstimate,
  readHeaderField,
  readQuantity,
  readReceipt,
  readSend,
  type SendVerdict,
} from "../../src/payments/evm/relayer/relayer-answers.ts";

const unanswered: RpcAnswer = { ok: false, kind: "unanswered" };
const result = (value: unknown): RpcAnswer => ({ ok: true, result: value });
const refusal = (message: string, code = -32000): RpcAnswer => ({
  ok: false,
  kind: "error",
  code,
  message,
  data: null,
});

describe("the answer to a sent transaction", () => {
  it.each<[string, SendVerdict]>([
    ["already known", "accepted"],
    ["known transaction: 0xabc", "accepted"],
    ["transaction already imported", "accepted"],
    ["ALREADY_EXISTS: already known", "accepted"],
    ["Transaction with the same hash was already imported.", "accepted"],
    ["tx already in mempool", "accepted"],
    ["nonce too low", "nonce_passed"],
    ["nonce too low: next nonce 7, tx nonce 5", "nonce_passed"],
    ["OldNonce, Current nonce: 7, nonce of rejected tx: 5", "nonce_passed"],
    ["nonce has already been used", "nonce_passed"],
    ["replacement transaction underpriced", "underpriced"],
    ["transaction underpriced", "underpriced"],
    ["transaction underpriced: gas tip cap 0, minimum needed 1000000000", "underpriced"],
    ["max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7", "underpriced"],
    ["FeeTooLow, MaxFeePerGas too low", "underpriced"],
    ["gas price too low", "underpriced"],
    ["insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1", "no_money"],
    ["Insufficient funds for gas * price + value", "no_money"],
    ["txpool is full", "later"],
    ["nonce too high", "later"],
    ["request timed out", "later"],
    ["intrinsic gas too low", "refused"],
    ["intrinsic gas too low: gas 20000, minimum needed 21000", "refused"],
    ["exceeds block gas limit", "refused"],
    ["invalid sender", "refused"],
    ["invalid chain id for signer", "refused"],
    ["oversized data", "refused"],
    ["transaction type not supported", "refused"],
    ["tx fee (2.00 ether) exceeds the configured cap (1.00 ether)", "refused"],
    ["execution reverted", "refused"],
    ["flux capacitor empty", "unclear"],
    ["", "unclear"],
  ])("reads %j as %s", (message, verdict) => {
    expect(readSend(refusal(message))).toBe(verdict);
  });

  it("takes any result as accepted and no answer as no news", () => {
    expect(readSend(result("0x1234"))).toBe("accepted");
    expect(readSend(unanswered)).toBe("later");
  });
});

describe("an estimate", () => {
  it("is gas, an executed revert, or nothing", () => {
    expect(readEstimate(result("0xea60"))).toEqual({ kind: "gas", gas: 60_000n });
    expect(readEstimate(refusal("execution reverted", 3))).toEqual({ kind: "reverts" });
    expect(readEstimate(refusal("gas required exceeds allowance (30000000)"))).toEqual({ kind: "reverts" });
    for (const silence of [
      unanswered,
      result(null),
      result("60000"),
      refusal("header not found"),
      refusal("no method", -32601),
    ]) {
      expect(readEstimate(silence)).toEqual({ kind: "unanswered" });
    }
  });
});

describe("a receipt", () => {
  const hash = `0x${"ab".repeat(32)}` as const;
  const receipt = {
    transactionHash: hash,
    blockNumber: "0x10",
    blockHash: `0x${"cd".repeat(32)}`,
    status: "0x1",
    logs: [
      { address: `0x${"11".repeat(20)}`, topics: [`0x${"22".repeat(32)}`], data: "0x", logIndex: "0x0" },
    ],
  };

  it("is read with its logs, and only their own fields", () => {
    expect(readReceipt(result(receipt), hash)).toEqual({
      kind: "mined",
      receipt: {
        hash,
        blockNumber: 16n,
        blockHash: receipt.blockHash,
        status: "success",
        logs: [{ address: receipt.logs[0]?.address, topics: receipt.logs[0]?.topics, data: "0x" }],
      },
    });
    const reverted = readReceipt(result({ ...receipt, status: "0x0", logs: [] }), hash);
    expect(reverted).toMatchObject({ kind: "mined", receipt: { status: "reverted" } });
  });

  it("is absent when the node says null, and no answer when it is malformed or another transaction's", () => {
    expect(readReceipt(result(null), hash)).toEqual({ kind: "absent" });
    const broken = [
      { ...receipt, transactionHash: `0x${"ef".repeat(32)}` },
      { ...receipt, status: "0x2" },
      { ...receipt, status: undefined },
      { ...receipt, blockNumber: null },
      { ...receipt, blockHash: 7 },
      { ...receipt, logs: null },
      { ...receipt, logs: [{ address: "0x11", topics: "none", data: "0x" }] },
      "0x1",
      7,
    ];
    for (const value of broken) {
      expect(readReceipt(result(value), hash), JSON.stringify(value)).toEqual({ kind: "unanswered" });
    }
    expect(readReceipt(unanswered, hash)).toEqual({ kind: "unanswered" });
    expect(readReceipt(refusal("internal error"), hash)).toEqual({ kind: "unanswered" });
  });
});

describe("counts and quantities", () => {
  it("are hex quantities, and counts fit a number", () => {
    expect(readQuantity("0x0")).toBe(0n);
    for (const value of ["", "0x", "10", 10, null, `0x${"f".repeat(65)}`])
      expect(readQuantity(value)).toBeNull();
    expect(readCount(result("0xff"))).toBe(255);
    expect(readCount(result("0xffffffffffffffff"))).toBeNull();
    expect(readCount(undefined)).toBeNull();
    expect(readHeaderField(result({ number: "0x5" }), "number")).toBe(5n);
    expect(readHeaderField(result(null), "number")).toBeNull();
  });
});
