// What is written out here is what the published packages say: contracts, functions, and every reason.

import * as published from "@x402/evm";
import { type Abi, toFunctionSelector } from "viem";
import { describe, expect, it } from "vitest";
import * as contracts from "../../src/payments/evm/contracts.ts";
import { isReason, reasonOfMechanism, wordReason } from "../../src/payments/reasons.ts";
import { publishedReasons, SPONSORING } from "../support/published-reasons.ts";

/** name and selector of each function, which is what an encoding depends on. */
function selectors(abi: Abi): string[] {
  return abi.flatMap((item) =>
    item.type === "function" ? [`${item.name} ${toFunctionSelector(item)}`] : [],
  );
}

describe("contracts.ts", () => {
  it("has the published addresses", () => {
    expect(contracts.PERMIT2_ADDRESS).toBe(published.PERMIT2_ADDRESS);
    expect(contracts.EXACT_PROXY_ADDRESS).toBe(published.x402ExactPermit2ProxyAddress);
    expect(contracts.UPTO_PROXY_ADDRESS).toBe(published.x402UptoPermit2ProxyAddress);
  });
  it("encodes the published functions", () => {
    const token = [...published.eip3009ABI, ...published.erc20AllowanceAbi] as Abi;
    expect(selectors(token)).toEqual(expect.arrayContaining(selectors(contracts.TOKEN_ABI)));
    expect(selectors(published.x402ExactPermit2ProxyABI as Abi)).toEqual(
      expect.arrayContaining(selectors(contracts.EXACT_PROXY_ABI)),
    );
    expect(selectors(published.x402UptoPermit2ProxyABI as Abi)).toEqual(
      expect.arrayContaining(selectors(contracts.UPTO_PROXY_ABI)),
    );
  });
});

describe("reasons.ts", () => {
  it("words every reason of the published mechanisms, under its own name", () => {
    const reasons = publishedReasons();
    expect(reasons.length).toBeGreaterThan(40);
    const missing = reasons.filter((reason) => !SPONSORING.test(reason) && !isReason(reason));
    expect(missing).toEqual([]);
    for (const reason of reasons.filter(isReason)) {
      expect(wordReason(reason)).toMatchObject({ reason, status: 200 });
    }
  });
  it("takes no reason of a mechanism that it does not know", () => {
    expect(reasonOfMechanism("invalid_exact_evm_signature")).toBe("invalid_exact_evm_signature");
    expect(() => reasonOfMechanism("something_new")).toThrow("assertion failed");
    expect(() => reasonOfMechanism("toString")).toThrow("assertion failed");
    expect(() => reasonOfMechanism(undefined)).toThrow("assertion failed");
  });
  it("sends two reasons of ours under the specification's word, as verdicts", () => {
    for (const reason of ["asset_not_allowed", "amount_below_minimum"] as const) {
      expect(wordReason(reason)).toMatchObject({ reason: "invalid_payment_requirements", status: 200 });
    }
  });
});
