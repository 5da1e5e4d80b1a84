// The payment id and the fingerprint: what makes two payments one, and two calls the same.

import fc from "fast-check";
import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { Payment } from "../../src/payments/payment.ts";
import { fingerprintOf } from "../../src/payments/settlement/fingerprint.ts";
import { PAYMENT_ID_PATTERN, paymentId, paymentKey } from "../../src/payments/settlement/payment-id.ts";
import { BUYER, SELLER, USDC } from "../support/chain.ts";
import { decodedPayment } from "../support/decoded-payment.ts";

const nonce = `0x${"ab".repeat(32)}`;
const payment = decodedPayment;
const permit2 = (change: Partial<Payment> = {}) => payment({ method: "permit2", nonce: "77", ...change });

describe("the payment id", () => {
  it("writes the key with its kind", () => {
    expect(paymentKey(payment())).toBe(
      `eip3009:84532:${USDC.toLowerCase()}:${BUYER.address.toLowerCase()}:${nonce}`,
    );
    expect(paymentKey(permit2())).toBe(`permit2:84532:${BUYER.address.toLowerCase()}:77`);
  });

  it("is the first 32 hex digits of the key's SHA-256", async () => {
    const id = await paymentId(payment());
    expect(id).toMatch(PAYMENT_ID_PATTERN);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(paymentKey(payment())));
    expect(Buffer.from(digest).toString("hex").startsWith(id)).toBe(true);
  });

  it("does not depend on letter case, price, receiver, signature or window", async () => {
    const id = await paymentId(payment());
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}` as Hex;
    for (const change of [
      { payer: upper(BUYER.address), asset: upper(USDC), nonce: upper(nonce) },
      { amountAtomic: 1n, signedAtomic: 1n },
      { payTo: BUYER.address },
      { signature: `0x${"22".repeat(300)}` as Hex },
      { validAfterSeconds: 5n, validBeforeSeconds: 6n },
    ]) {
      expect(await paymentId(payment(change))).toBe(id);
    }
  });

  it("depends on chain, payer and nonce, and for EIP-3009 on the token", async () => {
    const other: Address = "0x1111111111111111111111111111111111111111";
    const differ = async (a: Payment, b: Payment) => expect(await paymentId(a)).not.toBe(await paymentId(b));
    await differ(payment(), payment({ chainId: 8453 }));
    await differ(payment(), payment({ payer: other }));
    await differ(payment(), payment({ asset: other }));
    await differ(payment(), payment({ nonce: `0x${"ac".repeat(32)}` }));
    await differ(permit2(), permit2({ nonce: "78" }));
    expect(await paymentId(permit2())).toBe(await paymentId(permit2({ asset: other, scheme: "upto" })));
  });

  it("never mistakes a Permit2 nonce for an EIP-3009 nonce", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        const hex = `0x${value.toString(16).padStart(64, "0")}`;
        expect(paymentKey(payment({ nonce: hex }))).not.toBe(paymentKey(permit2({ nonce: `${value}` })));
      }),
    );
  });
});

describe("the fingerprint", () => {
  it("is one for two spellings of a call, another for every change of what is charged, by whom and for whom", async () => {
    const id = await paymentId(payment());
    const base = await fingerprintOf(id, payment(), "shop");
    expect(base).toMatch(/^[0-9a-f]{64}$/);
    const upper = payment({
      signature: `0x${"11".repeat(64)}1B`,
      payTo: SELLER.address.toLowerCase() as Hex,
    });
    expect(await fingerprintOf(id, upper, "shop")).toBe(base);
    for (const changed of [
      fingerprintOf(id, payment(), "other-shop"),
      fingerprintOf(id, payment({ amountAtomic: 9_999n }), "shop"),
      fingerprintOf(id, payment({ payTo: BUYER.address }), "shop"),
      fingerprintOf(id, payment({ asset: BUYER.address }), "shop"),
      fingerprintOf(id, payment({ scheme: "upto" }), "shop"),
      fingerprintOf(id, payment({ network: "eip155:8453" }), "shop"),
      fingerprintOf(id, payment({ signature: `0x${"11".repeat(64)}1c` }), "shop"),
      fingerprintOf("0".repeat(32), payment(), "shop"),
    ]) {
      expect(await changed).not.toBe(base);
    }
  });
});
