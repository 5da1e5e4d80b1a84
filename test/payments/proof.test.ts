// Proof: what receipts and states prove about a payment, and what they do not.

import { x402ExactPermit2ProxyABI, x402ExactPermit2ProxyAddress } from "@x402/evm";
import { type Address, encodeFunctionData, type Hex, pad, toEventSelector, toHex } from "viem";
import { describe, expect, it } from "vitest";
import type { MinedLog, MinedReceipt, StepProgress } from "../../src/payments/evm/relayer/relayer-port.ts";
import type { Payment } from "../../src/payments/payment.ts";
import {
  AUTHORIZATION_CANCELED_TOPIC,
  AUTHORIZATION_USED_TOPIC,
  addressTopic,
  type ChainEvidence,
  type ForeignTransaction,
  judgeChain,
  judgeOwn,
  TRANSFER_TOPIC,
} from "../../src/payments/settlement/proof.ts";
import { ACCOUNTS, BUYER, SELLER, USDC } from "../support/chain.ts";
import { decodedPayment } from "../support/decoded-payment.ts";

const ours: Hex = `0x${"0a".repeat(32)}`;
const theirs: Hex = `0x${"0b".repeat(32)}`;
const stranger = ACCOUNTS[3]?.address as Address;

const payment = decodedPayment();
const permit2 = decodedPayment({ method: "permit2", nonce: "77" });

function transferLog(
  of: Payment = payment,
  change: Partial<{ to: Address; value: bigint; asset: Address }> = {},
) {
  const { to = of.payTo, value = of.amountAtomic, asset = of.asset } = change;
  return {
    address: asset,
    topics: [TRANSFER_TOPIC, addressTopic(of.payer), addressTopic(to)],
    data: pad(toHex(value)),
  } satisfies MinedLog;
}

function authorizationLog(topic = AUTHORIZATION_USED_TOPIC, nonce = payment.nonce as Hex): MinedLog {
  return { address: USDC, topics: [topic, addressTopic(BUYER.address), nonce], data: "0x" };
}

function receipt(logs: MinedLog[], change: Partial<MinedReceipt> = {}): MinedReceipt {
  return { hash: ours, blockNumber: 10n, blockHash: ours, status: "success", logs, ...change };
}

function progress(of: MinedReceipt | null, depth = 1): StepProgress {
  return { step: "transfer", hashes: [ours], receipt: of, depth, isFinal: false, isAbandoned: false };
}

function foreign(logs: MinedLog[], change: Partial<ForeignTransaction> = {}): ForeignTransaction {
  return { to: USDC, input: "0x", depth: 1, receipt: receipt(logs, { hash: theirs }), ...change };
}

function evidence(change: Partial<ChainEvidence> = {}): ChainEvidence {
  return { isSpent: false, finalSeconds: 0n, candidates: [], ...change };
}

const reverted = receipt([], { status: "reverted" });

it("knows the events by their signatures", () => {
  expect(TRANSFER_TOPIC).toBe(toEventSelector("Transfer(address,address,uint256)"));
  expect(AUTHORIZATION_USED_TOPIC).toBe(toEventSelector("AuthorizationUsed(address,bytes32)"));
  expect(AUTHORIZATION_CANCELED_TOPIC).toBe(toEventSelector("AuthorizationCanceled(address,bytes32)"));
});

describe("our own transaction", () => {
  it("settles by a successful receipt with exactly the expected Transfer, deep enough", () => {
    expect(judgeOwn(payment, progress(receipt([transferLog()])), 1)).toEqual({
      kind: "settled",
      transaction: ours,
    });
    expect(judgeOwn(payment, progress(receipt([transferLog()]), 2), 3).kind).toBe("waiting");
    expect(judgeOwn(payment, progress(null, 0), 1).kind).toBe("waiting");
    const final = { ...progress(receipt([transferLog()]), 1), isFinal: true };
    expect(judgeOwn(payment, final, 3).kind).toBe("settled");
  });

  it.each([
    ["another receiver", transferLog(payment, { to: stranger })],
    ["another amount", transferLog(payment, { value: 9_999n })],
    ["another token", transferLog(payment, { asset: stranger })],
    [
      "another payer",
      { ...transferLog(), topics: [TRANSFER_TOPIC, addressTopic(stranger), addressTopic(SELLER.address)] },
    ],
    [
      "another event",
      { ...transferLog(), topics: [AUTHORIZATION_USED_TOPIC, ...transferLog().topics.slice(1)] },
    ],
    ["no amount", { ...transferLog(), data: "0x" }],
  ] as [string, MinedLog][])("proves nothing by a Transfer with %s", (_, log) => {
    expect(judgeOwn(payment, progress(receipt([log])), 1)).toEqual({ kind: "unproven", transaction: ours });
  });

  it("is no success when it reverted, whatever its logs say", () => {
    const odd = receipt([transferLog()], { status: "reverted" });
    expect(judgeOwn(payment, progress(odd), 1)).toEqual({ kind: "reverted", receipt: odd });
  });

  it("expects what upto charges, not what was permitted", () => {
    const upto = decodedPayment({
      scheme: "upto",
      method: "permit2",
      nonce: "1",
      amountAtomic: 120n,
      signedAtomic: 500n,
    });
    expect(judgeOwn(upto, progress(receipt([transferLog(upto)])), 1).kind).toBe("settled");
    expect(judgeOwn(upto, progress(receipt([transferLog(upto, { value: 500n })])), 1).kind).toBe("unproven");
  });
});

describe("another sender's transaction", () => {
  const judge = (candidates: ForeignTransaction[], of = payment, confirmations = 1) =>
    judgeChain(of, reverted, evidence({ isSpent: true, candidates }), confirmations);

  it("settles an EIP-3009 payment by AuthorizationUsed and its Transfer in one receipt", () => {
    expect(judge([foreign([authorizationLog(), transferLog()])])).toEqual({
      kind: "settled",
      transaction: theirs,
    });
  });

  it("never by a bare Transfer, which may be the buyer's previous payment", () => {
    expect(judge([foreign([transferLog()])]).kind).toBe("open");
  });

  it("never by the Transfer of another authorization in the same transaction", () => {
    const otherNonce: Hex = `0x${"cd".repeat(32)}`;
    const logs = [
      authorizationLog(),
      transferLog(payment, { to: stranger }),
      authorizationLog(AUTHORIZATION_USED_TOPIC, otherNonce),
      transferLog(),
    ];
    expect(judge([foreign(logs)]).kind).toBe("open");
  });

  it("sees the pair between logs of other contracts", () => {
    const noise = { ...transferLog(), address: stranger };
    expect(judge([foreign([noise, authorizationLog(), noise, transferLog()])]).kind).toBe("settled");
  });

  it("not before it is deep enough, and not when it reverted", () => {
    const logs = [authorizationLog(), transferLog()];
    expect(judge([foreign(logs)], payment, 2).kind).toBe("open");
    expect(judge([foreign(logs, { receipt: receipt(logs, { status: "reverted" }) })]).kind).toBe("open");
  });

  function proxyCall(
    change: Partial<{ owner: Address; nonce: bigint; token: Address; amount: bigint; to: Address }> = {},
  ) {
    const {
      owner = BUYER.address,
      nonce = 77n,
      token = USDC,
      amount = 10_000n,
      to = SELLER.address,
    } = change;
    return encodeFunctionData({
      abi: x402ExactPermit2ProxyABI,
      functionName: "settle",
      args: [
        { permitted: { token, amount }, nonce, deadline: 2_000_000_000n },
        owner,
        { to, validAfter: 0n },
        "0x1234",
      ],
    });
  }
  const viaProxy = (input: Hex, logs = [transferLog(permit2)], to: Address = x402ExactPermit2ProxyAddress) =>
    judge([foreign(logs, { to, input })], permit2);

  it("settles an exact Permit2 payment by a proxy call with its owner and nonce", () => {
    expect(viaProxy(proxyCall())).toEqual({ kind: "settled", transaction: theirs });
  });

  it.each([
    ["owner", { owner: stranger }],
    ["nonce", { nonce: 78n }],
    ["token", { token: stranger }],
    ["amount", { amount: 1n }],
    ["receiver", { to: stranger }],
  ])("not by a proxy call with another %s", (_, change) => {
    expect(viaProxy(proxyCall(change)).kind).toBe("open");
  });

  it("not without the Transfer, not through another contract, not by junk", () => {
    expect(viaProxy(proxyCall(), []).kind).toBe("open");
    expect(viaProxy(proxyCall(), [transferLog(permit2)], stranger).kind).toBe("open");
    expect(viaProxy("0x12345678").kind).toBe("open");
    expect(judge([foreign([transferLog(permit2)], { to: null, input: proxyCall() })], permit2).kind).toBe(
      "open",
    );
  });

  it("never settles upto: only its own facilitator may charge, and the charge is not in the permit", () => {
    const upto = { ...permit2, scheme: "upto" as const };
    const candidate = foreign([transferLog(upto)], { to: x402ExactPermit2ProxyAddress, input: proxyCall() });
    expect(judge([candidate], upto).kind).toBe("open");
  });
});

describe("failure", () => {
  const late = payment.validBeforeSeconds + 1n;

  it("is proved by our revert while the authorization is unused", () => {
    const judgement = judgeChain(payment, reverted, evidence(), 1);
    expect(judgement).toEqual({ kind: "failed", failure: "reverted", transaction: ours });
  });

  it("is not proved by our revert while the authorization is used by somebody who was not found", () => {
    expect(judgeChain(payment, reverted, evidence({ isSpent: true }), 1).kind).toBe("open");
  });

  it("is proved by a final block after the deadline while the authorization is unused", () => {
    const judgement = judgeChain(payment, null, evidence({ finalSeconds: late }), 1);
    expect(judgement).toEqual({ kind: "failed", failure: "expired", transaction: "" });
  });

  it("is not proved at the deadline's own second, before it, or once the authorization is used", () => {
    for (const [finalSeconds, isSpent] of [
      [payment.validBeforeSeconds, false],
      [0n, false],
      [late, true],
    ] as const) {
      expect(judgeChain(payment, null, evidence({ finalSeconds, isSpent }), 1).kind).toBe("open");
    }
  });

  it("is proved by the payer's cancellation, deep enough", () => {
    const candidates = [foreign([authorizationLog(AUTHORIZATION_CANCELED_TOPIC)])];
    const cancelled = evidence({ isSpent: true, candidates });
    expect(judgeChain(payment, reverted, cancelled, 1)).toEqual({
      kind: "failed",
      failure: "cancelled",
      transaction: ours,
    });
    expect(judgeChain(payment, reverted, cancelled, 2).kind).toBe("open");
  });
});
