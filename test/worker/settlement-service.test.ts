// Not able now, and what follows a success: refusals that may be repeated, the catalog's message through storage and
// queue, the header about it, and payments that are not for sellers.

import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { SettlementRows } from "../../src/payments/settlement/settlement-rows.ts";
import { aBlock } from "../support/bazaar.ts";
import {
  ACCOUNTS,
  aPayment,
  BUYER,
  type Hex,
  mine,
  RELAYER,
  setBlockTime,
  setEtherBalance,
  stopMining,
} from "../support/chain.ts";
import {
  idOf,
  keyOf,
  kill,
  ORIGIN,
  recordOf,
  relayerStub,
  ringAlarm,
  sentBy,
  settle,
  settlementOf,
  startSettling,
  tablesOf,
  until,
} from "./settling.ts";

const TOPUPS = ACCOUNTS[9]?.address ?? BUYER.address;
const ETHER = 10n ** 18n;

const chain = await startSettling({
  variables: { SETTLE_WAIT_SECONDS: "2", MAX_QUEUED: "4", TOPUP_PAY_TO: TOPUPS },
});
const shop = await keyOf("shop");

beforeEach(async () => {
  await chain.proxy.clearRules();
  await setBlockTime(chain.rpcUrl, 0);
});

describe("not able now", () => {
  it("the chain does not answer: 502, nothing is said about the payment, nothing stored; later it settles", async () => {
    const payment = await aPayment();
    await chain.proxy.addRule({ action: { do: "status", status: 503 } });
    const { status, headers, body } = await settle(payment, shop);
    await chain.proxy.clearRules();
    expect(status).toBe(502);
    expect(body).toMatchObject({
      success: false,
      errorReason: "unexpected_settle_error",
      transaction: "",
      network: payment.paymentRequirements.network,
      extra: { retryable: true },
    });
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(JSON.stringify(body)).not.toContain("127.0.0.1");
    expect(await tablesOf(await idOf(payment))).toEqual([]);
    await until(async () => (await settle(payment, shop)).body.success, "the node is asked again");
  });

  it("the chain is lost after the claim: 502, the claim is gone, and the payment settles later", async () => {
    await kill(relayerStub());
    await chain.proxy.addRule({ method: "eth_getBalance", action: { do: "omit" } });
    const payment = await aPayment();
    const { status, body } = await settle(payment, shop);
    await chain.proxy.clearRules();
    expect(status).toBe(502);
    expect(body).toMatchObject({ errorReason: "unexpected_settle_error", transaction: "" });
    expect(await tablesOf(await idOf(payment))).toEqual([]);
    await until(async () => (await settle(payment, shop)).body.success, "it settles");
  });

  it("no gas: 503 with Retry-After, the claim is gone, and it recovers by itself", async () => {
    await kill(relayerStub());
    const payment = await aPayment();
    const sent = await sentBy(chain);
    await setEtherBalance(chain.rpcUrl, RELAYER.address, 1n);
    const { status, headers, body } = await settle(payment, shop);
    await setEtherBalance(chain.rpcUrl, RELAYER.address, 100n * ETHER);
    expect(status).toBe(503);
    expect(body).toMatchObject({
      errorReason: "relayer_no_gas",
      transaction: "",
      extra: { retryable: true },
    });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await tablesOf(await idOf(payment))).toEqual([]);
    await until(async () => (await settle(payment, shop)).body.success, "there is gas again");
    expect((await sentBy(chain)) - sent).toBe(1);
  });

  it("busy: one payer has at most half of the queue; the refused claim is gone and settles later", async () => {
    await stopMining(chain.rpcUrl);
    const waiting = await Promise.all([settle(await aPayment(), shop), settle(await aPayment(), shop)]);
    for (const { body } of waiting) expect(body.errorReason).toBe("settlement_pending");
    const payment = await aPayment();
    const [one, joined] = await Promise.all([settle(payment, shop), settle(payment, shop)]);
    for (const { status, headers, body } of [one, joined]) {
      expect(status).toBe(503);
      expect(body).toMatchObject({
        errorReason: "relayer_busy",
        transaction: "",
        extra: { retryable: true },
      });
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await tablesOf(await idOf(payment))).toEqual([]);
    const other = await settle(await aPayment({ payer: ACCOUNTS[4] ?? BUYER }), shop);
    expect(other.body.errorReason).toBe("settlement_pending");
    await setBlockTime(chain.rpcUrl, 0);
    await mine(chain.rpcUrl);
    await until(async () => (await settle(payment, shop)).body.success, "the queue moves on");
  });
});

describe("what follows a success", () => {
  const outcomeOf = (headers: Headers) => {
    const value = headers.get("extension-responses");
    return value === null ? null : JSON.parse(atob(value)).bazaar;
  };
  const listed = async (payTo: string): Promise<unknown[]> => {
    const response = await exports.default.fetch(`${ORIGIN}/discovery/merchant?payTo=${payTo}`);
    return ((await response.json()) as { resources: unknown[] }).resources;
  };
  const sale = (payTo: string, path: string, options: Parameters<typeof aPayment>[0] = {}) =>
    aPayment({
      payTo: payTo as Hex,
      resource: { url: `https://api.shop.test/${path}` },
      extensions: { bazaar: aBlock() },
      ...options,
    });

  it("the catalog hears of it: processing first, then listed, then success", async () => {
    const payTo = ACCOUNTS[5]?.address ?? "";
    const first = await settle(await sale(payTo, "weather"), shop);
    expect(first.body.success).toBe(true);
    expect(outcomeOf(first.headers)).toMatchObject({ status: "processing", id: expect.any(String) });
    await until(async () => (await listed(payTo)).length === 1, "it is listed");
    const second = await settle(await sale(payTo, "weather"), shop);
    expect(outcomeOf(second.headers)).toEqual({ status: "success" });
    const without = await settle(await aPayment(), shop);
    expect(outcomeOf(without.headers)).toBeNull();
  });

  it("a broken block is rejected in the header and costs the payment nothing", async () => {
    const payment = await sale(ACCOUNTS[5]?.address ?? "", "broken", {
      extensions: { bazaar: { info: {}, schema: {} } },
    });
    const { headers, body } = await settle(payment, shop);
    expect(body.success).toBe(true);
    expect(outcomeOf(headers)).toMatchObject({ status: "rejected", rejectedReason: expect.any(String) });
  });

  it("a failed payment says nothing of its block, a pending one that it is processed", async () => {
    const payTo = ACCOUNTS[5]?.address ?? "";
    const refused = await settle(await sale(payTo, "refused", { signed: { value: 1n } }), shop);
    expect(refused.body.success).toBe(false);
    expect(outcomeOf(refused.headers)).toBeNull();
    await stopMining(chain.rpcUrl);
    const pending = await settle(await sale(payTo, "late"), shop);
    await setBlockTime(chain.rpcUrl, 0);
    await mine(chain.rpcUrl);
    expect(pending.body.errorReason).toBe("settlement_pending");
    expect(outcomeOf(pending.headers)).toMatchObject({ status: "processing" });
  });

  it("C41: a queue that refuses delays the listing and changes nothing of the payment", async () => {
    const payTo = ACCOUNTS[6]?.address ?? "";
    const payment = await sale(payTo, "queued");
    const id = await idOf(payment);
    const swapQueue = (queue: unknown) =>
      runInDurableObject(settlementOf(id), (object) => {
        const holder = object as unknown as { env: Record<string, unknown> };
        holder.env = Object.assign(Object.create(holder.env), { CATALOG_QUEUE: queue });
      });
    let refusals = 0;
    await swapQueue({
      send: () => {
        refusals++;
        return Promise.reject(new Error("the queue is down"));
      },
    });
    const { headers, body } = await settle(payment, shop);
    expect(body.success).toBe(true);
    expect(outcomeOf(headers)).toMatchObject({ status: "processing" });
    await until(() => refusals > 0, "the message was tried");
    expect(await listed(payTo)).toEqual([]);
    const outbox = () =>
      runInDurableObject(
        settlementOf(id),
        (_, { storage }) => new SettlementRows(storage).read()?.outbox ?? [],
      );
    expect((await outbox())[0]?.failures).toBeGreaterThan(0);
    await kill(settlementOf(id)); // Its memory is lost; the message is not.
    await until(async () => {
      await ringAlarm(id);
      return (await outbox()).length === 0;
    }, "the message is delivered");
    await until(async () => (await listed(payTo)).length === 1, "it is listed");
    expect((await recordOf(id, shop))?.state).toBe("settled");
  });
});

describe("payments that are not for sellers", () => {
  it("a payment to where wallets are topped up is refused before anything is asked or stored", async () => {
    const payment = await aPayment({ payTo: TOPUPS });
    await chain.proxy.resetCounts();
    const { status, body } = await settle(payment, shop);
    expect(status).toBe(400);
    expect(body).toMatchObject({ errorReason: "invalid_payment_requirements", transaction: "" });
    expect((await chain.proxy.counts()).requests).toBe(0);
    expect(await tablesOf(await idOf(payment))).toEqual([]);
  });

  it("a key without the scope does not settle", async () => {
    const response = await exports.default.fetch(`${ORIGIN}/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${env.ADMIN_TOKEN}` },
      body: JSON.stringify({ tenant: "reader", scopes: ["payments:verify"] }),
    });
    const { key } = (await response.json()) as { key: string };
    const { status } = await settle(await aPayment(), key);
    expect(status).toBe(403);
  });
});
