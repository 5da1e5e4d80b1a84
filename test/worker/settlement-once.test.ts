// Success exactly once: identical and different calls of one payment, tenants, keys and strangers, on a chain with a
// block per transaction.

import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ACCOUNTS, aPayment, BUYER, SELLER, type TestPayment, usdcBalance } from "../support/chain.ts";
import {
  alarmOf,
  idOf,
  keyOf,
  ORIGIN,
  recordOf,
  type SettleResult,
  sentBy,
  settle,
  startSettling,
  tablesOf,
} from "./settling.ts";

const chain = await startSettling();
const shop = await keyOf("shop");
const otherShop = await keyOf("other-shop");

const successes = (results: SettleResult[]) => results.filter(({ body }) => body.success);
const first = (results: SettleResult[]) => successes(results).filter(({ body }) => !body.extra?.replayed);

/** How often the payer's money moved and how many transactions the relayer sent for it. */
async function chainSees(act: () => Promise<unknown>): Promise<{ paid: bigint; sent: number }> {
  const before = { paid: await usdcBalance(chain.rpcUrl, SELLER.address), sent: await sentBy(chain) };
  await act();
  const paid = (await usdcBalance(chain.rpcUrl, SELLER.address)) - before.paid;
  return { paid, sent: (await sentBy(chain)) - before.sent };
}

describe("C13: identical settles", () => {
  it.each([20, 50])("C13: %i at once: one broadcast, one success, the others a duplicate", async (count) => {
    const payment = await aPayment();
    let results: SettleResult[] = [];
    const seen = await chainSees(async () => {
      results = await Promise.all(Array.from({ length: count }, () => settle(payment, shop)));
    });
    expect(seen).toEqual({ paid: 10_000n, sent: 1 });
    expect(successes(results)).toHaveLength(1);
    const transaction = successes(results)[0]?.body.transaction;
    expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
    for (const { status, body } of results) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ transaction, network: payment.paymentRequirements.network });
      expect(body.extra?.settlementId).toBe(await idOf(payment));
      if (!body.success) expect(body.errorReason).toBe("duplicate_settlement");
    }
  });

  it("C13: one more after confirmation is a duplicate that names the transaction", async () => {
    const payment = await aPayment();
    const { body } = await settle(payment, shop);
    expect(body).toMatchObject({ success: true, amount: "10000", payer: BUYER.address });
    const seen = await chainSees(async () => {
      const again = await settle(payment, shop);
      expect(again.body).toMatchObject({
        success: false,
        errorReason: "duplicate_settlement",
        transaction: body.transaction,
      });
    });
    expect(seen).toEqual({ paid: 0n, sent: 0 });
  });

  it("C13: the same Idempotency-Key gets the stored success again, marked as a replay", async () => {
    const payment = await aPayment();
    const headers = { "idempotency-key": "order 1" };
    const { body } = await settle(payment, shop, headers);
    expect(body.success).toBe(true);
    expect(body.extra?.replayed).toBeUndefined();
    const again = await settle(payment, shop, headers);
    expect(again.body).toMatchObject({
      success: true,
      transaction: body.transaction,
      extra: { replayed: true },
    });
    const keyless = await settle(payment, shop);
    expect(keyless.body.errorReason).toBe("duplicate_settlement");
  });

  it("C13: twenty parallel calls with one Idempotency-Key are one claimant: one first success, its replays", async () => {
    const payment = await aPayment();
    const headers = { "idempotency-key": "order 2" };
    const seen = await chainSees(async () => {
      const results = await Promise.all(Array.from({ length: 20 }, () => settle(payment, shop, headers)));
      expect(successes(results)).toHaveLength(20);
      expect(first(results)).toHaveLength(1);
    });
    expect(seen).toEqual({ paid: 10_000n, sent: 1 });
  });

  it("C13: the same Idempotency-Key with another payment is a conflict, and nothing is sent for it", async () => {
    const headers = { "idempotency-key": "order 3" };
    expect((await settle(await aPayment(), shop, headers)).body.success).toBe(true);
    const other = await aPayment();
    const seen = await chainSees(async () => {
      const { status, body } = await settle(other, shop, headers);
      expect(status).toBe(409);
      expect(body).toMatchObject({
        success: false,
        errorReason: "idempotency_conflict",
        transaction: "",
        network: other.paymentRequirements.network,
      });
    });
    expect(seen).toEqual({ paid: 0n, sent: 0 });
    expect((await settle(other, otherShop, headers)).body.success).toBe(true);
  });

  it.each(["", "ä", "a".repeat(256), "tab\there"])("C13: the Idempotency-Key %j is refused", async (key) => {
    const request = new Request(`${ORIGIN}/settle`, {
      method: "POST",
      headers: { authorization: `Bearer ${shop}` },
      body: JSON.stringify(await aPayment()),
    });
    request.headers.set("idempotency-key", key);
    const response = await exports.default.fetch(request);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      errorReason: "invalid_payload",
      transaction: "",
    });
  });

  it("C13: twenty parallel calls sharing one payment-identifier: one success", async () => {
    const extensions = { "payment-identifier": { info: { required: false, id: "buyer-chose-this-id-1" } } };
    const payment = await aPayment({ extensions });
    const seen = await chainSees(async () => {
      const results = await Promise.all(Array.from({ length: 20 }, () => settle(payment, shop)));
      expect(successes(results)).toHaveLength(1);
    });
    expect(seen).toEqual({ paid: 10_000n, sent: 1 });
    const another = await settle(await aPayment({ extensions }), shop);
    expect(another.body.success).toBe(true);
  });

  it("C13: spelling differences do not make another payment", async () => {
    const payment = await aPayment();
    expect((await settle(payment, shop)).body.success).toBe(true);
    const { body } = await settle(respelled(payment), shop);
    expect(body).toMatchObject({ success: false, errorReason: "duplicate_settlement" });
    expect(await idOf(respelled(payment))).toBe(await idOf(payment));
  });
});

/** The same payment with other field order, letter case, v, and fields nobody knows. */
function respelled(payment: TestPayment): TestPayment {
  const { authorization, signature } = payment.paymentPayload.payload as {
    authorization: Record<string, string>;
    signature: string;
  };
  const upper = (hex = "") => `0x${hex.slice(2).toUpperCase()}`;
  const v = signature.endsWith("1b") ? "00" : "01";
  return {
    ...payment,
    paymentRequirements: Object.fromEntries(
      Object.entries(payment.paymentRequirements).reverse(),
    ) as TestPayment["paymentRequirements"],
    paymentPayload: {
      ...payment.paymentPayload,
      payload: {
        authorization: {
          ...Object.fromEntries(Object.entries(authorization).reverse()),
          nonce: upper(authorization.nonce),
          from: authorization.from?.toLowerCase(),
          unknown: "field",
        },
        signature: `${upper(signature).slice(0, -2)}${v}`,
      },
    },
  };
}

describe("a stranger cannot hurt a payment", () => {
  const garbageSignature = (payment: TestPayment): TestPayment => ({
    ...payment,
    paymentPayload: {
      ...payment.paymentPayload,
      payload: { ...payment.paymentPayload.payload, signature: `0x${"11".repeat(64)}1b` },
    },
  });
  const paidTo = (payment: TestPayment, payTo: string): TestPayment => ({
    ...payment,
    paymentPayload: { ...payment.paymentPayload, accepted: { ...payment.paymentPayload.accepted, payTo } },
    paymentRequirements: { ...payment.paymentRequirements, payTo },
  });

  it.each([
    ["a wrong signature", garbageSignature, "invalid_exact_evm_signature"],
    [
      "another receiver",
      (payment: TestPayment) => paidTo(payment, ACCOUNTS[4]?.address ?? ""),
      "invalid_exact_evm_recipient_mismatch",
    ],
    [
      "another price",
      (payment: TestPayment) => ({
        ...payment,
        paymentRequirements: { ...payment.paymentRequirements, amount: "9000" },
      }),
      "invalid_exact_evm_payload_authorization_value_mismatch",
    ],
  ])("%s first, in between and at once: the right call succeeds", async (_, spoil, reason) => {
    const payment = await aPayment();
    const spoiled = spoil(payment) as TestPayment;
    const before = await settle(spoiled, otherShop);
    expect(before.body).toMatchObject({ success: false, errorReason: reason, transaction: "" });
    expect(await tablesOf(await idOf(payment))).toEqual([]);
    const [wrong, right, wrongAgain] = await Promise.all([
      settle(spoiled, shop),
      settle(payment, shop),
      settle(spoiled, otherShop),
    ]);
    expect(right.body.success).toBe(true);
    for (const { body } of [wrong, wrongAgain]) {
      expect(body.success).toBe(false);
      expect([reason, "duplicate_settlement"]).toContain(body.errorReason);
    }
  });

  it("a poor payer is refused, and the same payment settles once the money is there", async () => {
    const poor = ACCOUNTS[7] ?? BUYER;
    const balance = await usdcBalance(chain.rpcUrl, poor.address);
    const payment = await aPayment({ payer: poor, amount: balance + 1n });
    const refused = await settle(payment, shop);
    expect(refused.body).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_insufficient_balance",
      transaction: "",
    });
    const gift = await aPayment({ payTo: poor.address });
    expect((await settle(gift, shop)).body.success).toBe(true);
    expect((await settle(payment, shop)).body.success).toBe(true);
  });

  it("another tenant with the same payment never receives a success, nor another merchant", async () => {
    const payment = await aPayment();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => settle(payment, index % 2 ? shop : otherShop)),
    );
    expect(successes(results)).toHaveLength(1);
    const winner = results.findIndex(({ body }) => body.success) % 2 ? shop : otherShop;
    const loser = winner === shop ? otherShop : shop;
    const { body } = await settle(payment, loser);
    expect(body).toMatchObject({ success: false, errorReason: "duplicate_settlement" });
    const merchant = await settle(paidTo(payment, ACCOUNTS[4]?.address ?? ""), winner);
    expect(merchant.body.errorReason).toBe("duplicate_settlement");
  });

  it("a hundred garbage settles leave nothing stored", async () => {
    const payments = await Promise.all(Array.from({ length: 100 }, () => aPayment()));
    const results = await Promise.all(payments.map((payment) => settle(garbageSignature(payment), shop)));
    for (const { body } of results) expect(body.errorReason).toBe("invalid_exact_evm_signature");
    for (const payment of payments) {
      const id = await idOf(payment);
      expect(await tablesOf(id)).toEqual([]);
      expect(await alarmOf(id)).toBeNull();
    }
  });
});

describe("GET /settlements/:id", () => {
  it("shows a settled payment to its own tenant and to the operator, to nobody else", async () => {
    const payment = await aPayment();
    const { body } = await settle(payment, shop);
    const id = body.extra?.settlementId ?? "";
    const record = await recordOf(id, shop);
    expect(record).toEqual({
      id,
      state: "settled",
      transaction: body.transaction,
      network: payment.paymentRequirements.network,
      payer: BUYER.address,
      payTo: SELLER.address,
      amount: "10000",
      asset: payment.paymentRequirements.asset,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(await recordOf(id, otherShop)).toBeNull();
    expect(await recordOf(id, String(env.ADMIN_TOKEN))).toEqual(record);
  });

  it("knows nothing of unknown, refused and malformed ids, and makes nothing by being asked", async () => {
    const unknown = "0123456789abcdef0123456789abcdef";
    expect(await recordOf(unknown, shop)).toBeNull();
    expect(await tablesOf(unknown)).toEqual([]);
    const refused = await settle(await aPayment({ signed: { value: 1n } }), shop);
    expect(await recordOf(refused.body.extra?.settlementId ?? "", shop)).toBeNull();
    for (const malformed of ["x", unknown.toUpperCase(), `${unknown}0`, "%00"]) {
      expect(await recordOf(malformed, shop)).toBeNull();
    }
  });
});
