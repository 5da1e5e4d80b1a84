// Lost answers and crashes of paid calls: the money follows whatever was decided, once.

import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { breakWallets, type Fault, type WalletStep } from "./faulty-wallets.ts";
import {
  aMarket,
  changeOf,
  holdOf,
  type Market,
  moveClock,
  paidCallOf,
  stateOf,
  walletOf,
} from "./market.ts";

const SECOND = 1_000;

let market: Market;
beforeEach(async () => {
  lastAsked = "";
  market = await aMarket();
});
afterEach(() => repair());

const NOTHING = { available: 0, held: 0, earned: 0 };
const PAID = { available: -100, held: 0, earned: 100 };

describe("a lost answer", () => {
  it("of the wallet before the hold was taken: 503, and the same proof resumes", async () => {
    const proof = await market.proof(await market.challenge());
    const change = await changeOf(market, async () => {
      breakOnce("hold", "before");
      const first = await market.authorize(proof);
      expect(first).toMatchObject({ status: 503, body: { ok: false, code: "UNAVAILABLE" } });
      const second = await market.authorize(proof);
      expect(second).toMatchObject({ status: 200, body: { ok: true } });
      expect((await market.authorize(proof)).body.code).toBe("NONCE_REPLAYED");
      await market.complete(second.body.transactionId ?? "");
    });
    expect(change).toEqual(PAID);
  });

  it("of the wallet after the hold was taken: the same proof resumes with that hold", async () => {
    const proof = await market.proof(await market.challenge());
    const change = await changeOf(market, async () => {
      breakOnce("hold", "after");
      expect((await market.authorize(proof)).status).toBe(503);
      expect((await market.authorize(proof)).body.ok).toBe(true);
    });
    expect(change).toEqual({ available: -100, held: 100, earned: 0 });
  });

  it("that nobody resumes is cancelled by the alarm after 60 s, and the nonce stays dead", async () => {
    for (const moment of ["before", "after"] as const) {
      const proof = await market.proof(await market.challenge());
      const change = await changeOf(market, async () => {
        breakOnce("hold", moment);
        await market.authorize(proof);
        const transactionId = lastAsked;
        expect(await market.complete(transactionId)).toMatchObject({
          status: 409,
          body: { error: { code: "CALL_NOT_HELD" } },
        });
        await moveClock(transactionId, Date.now() + 59 * SECOND);
        await fireAlarm(transactionId);
        expect(await stateOf(transactionId)).toBe("authorizing");
        await moveClock(transactionId, Date.now() + 61 * SECOND);
        await fireAlarm(transactionId);
        expect(await stateOf(transactionId)).toBe("abandoned");
        expect((await market.authorize(proof)).body.code).toBe("NONCE_REPLAYED");
        expect(await market.fail(transactionId)).toMatchObject({
          status: 409,
          body: { error: { code: "CALL_NOT_HELD" } },
        });
      });
      expect(change).toEqual(NOTHING);
    }
  });

  it("that comes after the alarm gave the call up takes nothing", async () => {
    const proof = await market.proof(await market.challenge());
    const change = await changeOf(market, async () => {
      breakOnce("hold", "slow");
      const answer = market.authorize(proof);
      await vi.waitFor(() => expect(lastAsked).not.toBe(""));
      await moveClock(lastAsked, Date.now() + 61 * SECOND);
      await fireAlarm(lastAsked);
      expect((await answer).body).toMatchObject({ ok: false, code: "NONCE_REPLAYED" });
      expect(await stateOf(lastAsked)).toBe("abandoned");
    });
    expect(change).toEqual(NOTHING);
  });

  it("followed by a refusal leaves no hold behind, however late the first one arrives", async () => {
    const proof = await market.proof(await market.challenge());
    const change = await changeOf(market, async () => {
      breakOnce("hold", "before");
      expect((await market.authorize(proof)).status).toBe(503);
      await market.setPolicy({ perCallMaxMinor: "1" });
      expect((await market.authorize(proof)).body.code).toBe("POLICY_DENIED");
      await market.setPolicy({});
      await fireAlarm(lastAsked);
      const request = holdOf(market, lastAsked);
      expect(await walletOf(market.buyer.walletId).hold(request)).toMatchObject({
        ok: false,
        code: "CANCELLED",
      });
      expect((await market.authorize(proof)).body.code).toBe("NONCE_REPLAYED");
    });
    expect(change).toEqual(NOTHING);
  });

  it.each([
    ["capture", "before"],
    ["capture", "after"],
    ["credit", "before"],
    ["credit", "after"],
  ] as const)(
    "of %s (%s it was done): the decision stands, the alarm moves the money once",
    async (step, moment) => {
      const transactionId = await market.hold();
      const change = await changeOf(market, async () => {
        breakOnce(step, moment);
        const { status, body: receipt } = await market.complete(transactionId);
        expect({ status, ends: receipt.status }).toEqual({ status: 200, ends: "completed" });
        await crash();
        await fireAlarm(transactionId);
        expect((await market.complete(transactionId)).body).toEqual(receipt);
      });
      expect(change).toEqual({ available: 0, held: -100, earned: 100 });
    },
  );

  it.each(["before", "after"] as const)(
    "of release (%s it was done): the refund comes once",
    async (moment) => {
      const transactionId = await market.hold();
      const change = await changeOf(market, async () => {
        breakOnce("release", moment);
        expect((await market.fail(transactionId, "client_error")).status).toBe(200);
        await crash();
        await fireAlarm(transactionId);
        await fireAlarm(transactionId);
      });
      expect(change).toEqual({ available: 100, held: -100, earned: 0 });
    },
  );

  it("by a crash between hold and complete changes nothing", async () => {
    const change = await changeOf(market, async () => {
      const transactionId = await market.hold();
      await crash();
      const { body: receipt } = await market.complete(transactionId);
      await crash();
      expect((await market.complete(transactionId)).body).toEqual(receipt);
    });
    expect(change).toEqual(PAID);
  });

  it("of the registry is made up for: the call is recorded by the alarm", async () => {
    const transactionId = await market.hold();
    await runInDurableObject(paidCallOf(transactionId), (instance) => {
      const away = {
        prepare: () => {
          throw new Error("D1 is away");
        },
      };
      Object.assign(instance, { env: Object.create(env, { DB: { value: away } }) });
    });
    expect((await market.complete(transactionId)).status).toBe(200);
    expect(await recorded(transactionId)).toBeNull();
    await crash();
    await fireAlarm(transactionId);
    expect(await recorded(transactionId)).toMatchObject({ status: "completed" });
  });
});

const fireAlarm = (transactionId: string) => runDurableObjectAlarm(paidCallOf(transactionId));

/** Every object loses what lives only in its memory, moved clocks too. */
const crash = () => abortAllDurableObjects();

async function recorded(transactionId: string): Promise<unknown> {
  return env.DB.prepare("SELECT status FROM paid_calls WHERE transaction_id = ?").bind(transactionId).first();
}

/** The call for which a wallet was asked last in vain. */
let lastAsked = "";
let repair = () => {};

/** The next `step` that any wallet is asked for meets this fault. */
function breakOnce(step: WalletStep, fault: Fault): void {
  repair = breakWallets((asked, transactionId) => {
    if (asked !== step) return "none";
    lastAsked = transactionId;
    repair();
    return fault;
  });
}
