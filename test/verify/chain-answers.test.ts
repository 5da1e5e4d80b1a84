// What the chain says decides, and what a failing node says decides nothing.

import { describe, expect, it } from "vitest";
import {
  aPayment,
  BUYER,
  cancelAuthorization,
  type Hex,
  RELAYER,
  settleCall,
  transact,
  USDC,
} from "../support/chain.ts";
import type { FaultyNode } from "../support/faulty-node.ts";
import { verdictOn } from "../support/verify.ts";
import {
  anvil,
  node,
  PROVIDER_KEY,
  refused,
  useVerifyLab,
  VALID,
  verify,
  wallet,
} from "../support/verify-lab.ts";

useVerifyLab();

describe("what the chain says", () => {
  it("refuses a spent and a cancelled authorization", async () => {
    const spent = await aPayment();
    await transact(anvil.rpcUrl, { from: RELAYER.address, ...settleCall(spent) });
    expect(await verdictOn(node.url, spent)).toEqual(refused("invalid_exact_evm_nonce_already_used"));
    const cancelled = await aPayment();
    const { authorization } = cancelled.paymentPayload.payload as { authorization: { nonce: Hex } };
    await cancelAuthorization(anvil.rpcUrl, BUYER, authorization.nonce);
    expect(await verdictOn(node.url, cancelled)).toEqual(refused("invalid_exact_evm_nonce_already_used"));
  });
  it("never refuses a payment for its resource, its extensions or what it does not know", async () => {
    const payment = await aPayment({ resource: null });
    expect(await verdictOn(node.url, payment)).toEqual(VALID);
    for (const odd of [null, 7, "x", [], { url: 7, tags: ["a", "b", "c", "d", "e", "f"] }]) {
      const body = {
        ...payment,
        note: odd,
        paymentPayload: { ...payment.paymentPayload, resource: odd, extensions: odd, other: odd },
      };
      expect(await verdictOn(node.url, body)).toEqual(VALID);
    }
  });
});

describe("C21: a node that fails says nothing about the payment", () => {
  const lost = refused("unexpected_verify_error", 502);
  const failingReads = (error: Record<string, unknown> | null) => ({
    element: ({ method }: { method: string }) => (method === "eth_chainId" ? undefined : error),
  });
  const failures: [string, Parameters<FaultyNode["behave"]>[0]][] = [
    ["answers HTTP 500", { status: 500, text: "upstream error" }],
    ["answers HTTP 401", { status: 401, text: '{"error":"bad key"}' }],
    ["rate limits for ever", { status: 429, text: "" }],
    ["answers no JSON", { text: "<html>maintenance</html>" }],
    ["hangs up", { hangUp: true }],
    ["never answers", { silent: true }],
    ["drops every element", failingReads(null)],
    ["rate limits every element", failingReads({ error: { code: -32005, message: "limit exceeded" } })],
    ["has no such block", failingReads({ error: { code: -32000, message: "header not found" } })],
    ["has an internal error", failingReads({ error: { code: -32603, message: "internal error" } })],
    ["answers nonsense", failingReads({ result: 7 })],
  ];
  it.each(failures)("C21: when it %s", async (_, misbehaviour) => {
    node.behave(misbehaviour);
    const verdicts = await Promise.all(
      (["eip3009", "permit2", "upto"] as const).map((method) => verify({ method })),
    );
    for (const verdict of verdicts) {
      expect(verdict).toEqual(lost);
      expect(verdict.told).not.toContain(PROVIDER_KEY);
      expect(verdict.told).not.toMatch(/https?:|127\.0\.0\.1|viem|revert/);
    }
  });
  it.each(["eth_getCode", "eth_call"])("C21: when only %s is lost", async (lostMethod) => {
    node.behave({ element: ({ method }) => (method === lostMethod ? null : undefined) });
    expect(await verify()).toEqual(lost);
    expect(await verify({ payer: wallet })).toEqual(lost);
    expect(await verify({ method: "permit2" })).toEqual(lost);
  });
  it("C21: when the question why the token refuses is lost", async () => {
    const payment = await aPayment({ amount: 2_000_000_000_000n });
    node.behave({
      element: ({ params }) =>
        JSON.stringify(params[0] ?? "").includes("0xcA11bde05977b3631167028862bE2a173976CA11")
          ? null
          : undefined,
    });
    expect(await verdictOn(node.url, payment)).toEqual(lost);
  });
  it("C21: a revert is an answer, by whichever code the node words it", async () => {
    for (const error of [
      { code: 3, message: "execution reverted", data: "0x" },
      { code: -32000, message: "execution reverted" },
    ]) {
      node.behave({
        element: ({ method, params }) =>
          method === "eth_call" && params.length === 2 && isTransfer(params[0]) ? { error } : undefined,
      });
      const payment = await aPayment({ amount: 2_000_000_000_000n });
      expect(await verdictOn(node.url, payment)).toEqual(refused("invalid_exact_evm_insufficient_balance"));
    }
  });
});

function isTransfer(call: unknown): boolean {
  return (call as { to?: string }).to === USDC;
}
