// C22: the time of a hold, alarms and races. The stored row decides; the alarm only tidies.

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  alarmOf,
  aMarket,
  changeOf,
  expiryOf,
  type Market,
  moveClock,
  paidCallOf,
  stateOf,
} from "./market.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Each test has its own, because failures of one would open the breaker for the next. */
let market: Market;
beforeEach(async () => {
  market = await aMarket();
});

const NOTHING = { available: 0, held: 0, earned: 0 };
const PAID = { available: -100, held: 0, earned: 100 };

describe("C22: a hold is fifteen minutes by its row", () => {
  it("C22: complete at 899 s wins, with the alarm firing twice after it", async () => {
    const change = await changeOf(market, async () => {
      const transactionId = await market.hold();
      const expiresAtMs = await expiryOf(transactionId);
      await moveClock(transactionId, expiresAtMs - SECOND);
      expect(await market.complete(transactionId)).toMatchObject({
        status: 200,
        body: { status: "completed" },
      });
      await moveClock(transactionId, expiresAtMs + SECOND);
      await fireAlarm(transactionId);
      await fireAlarm(transactionId);
    });
    expect(change).toEqual(PAID);
  });

  it("C22: complete at 900 s loses although the alarm is an hour late, and the buyer is refunded once", async () => {
    const change = await changeOf(market, async () => {
      const transactionId = await market.hold();
      await moveClock(transactionId, await expiryOf(transactionId));
      const late = await market.complete(transactionId);
      expect(late).toMatchObject({
        status: 409,
        body: { error: { code: "CALL_DECIDED" }, receipt: { status: "failed", failureKind: "timeout" } },
      });
      await moveClock(transactionId, (await expiryOf(transactionId)) + HOUR);
      await fireAlarm(transactionId);
      expect((await market.complete(transactionId)).body.receipt).toEqual(late.body.receipt);
      expect((await market.fail(transactionId, "client_error")).body.receipt).toEqual(late.body.receipt);
    });
    expect(change).toEqual(NOTHING);
  });

  it("C22: the alarm delivered twice refunds once, and the receipt says timeout", async () => {
    const transactionId = await market.hold();
    const change = await changeOf(market, async () => {
      await moveClock(transactionId, await expiryOf(transactionId));
      await fireAlarm(transactionId);
      await fireAlarm(transactionId);
    });
    expect(change).toEqual({ available: 100, held: -100, earned: 0 });
    expect(await stateOf(transactionId)).toBe("timed_out");
    const { status, body } = await market.fail(transactionId);
    expect(status).toBe(409);
    expect(body.receipt).toMatchObject({ status: "failed", failureKind: "timeout", responseHash: null });
  });

  it("C22: an alarm that comes early leaves the hold alone and sets itself again", async () => {
    const transactionId = await market.hold();
    await fireAlarm(transactionId);
    expect(await stateOf(transactionId)).toBe("held");
    expect(await alarmOf(transactionId)).toBe(await expiryOf(transactionId));
    await market.release(transactionId);
  });

  it("C22: two holds have an alarm each", async () => {
    const [one, two] = [await market.hold(), await market.hold()];
    const change = await changeOf(market, async () => {
      for (const transactionId of [one, two]) {
        await moveClock(transactionId, await expiryOf(transactionId));
        await fireAlarm(transactionId);
      }
    });
    expect(change).toEqual({ available: 200, held: -200, earned: 0 });
  });

  it("lasts exactly 15 minutes from the authorize", async () => {
    const before = Date.now();
    const transactionId = await market.hold();
    const expiresAtMs = await expiryOf(transactionId);
    expect(expiresAtMs).toBeGreaterThanOrEqual(before + 900 * SECOND);
    expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 900 * SECOND);
    await market.release(transactionId);
  });
});

describe("complete, fail and the alarm racing", () => {
  it.each(["complete first", "fail first", "alarm first"])("have one winner (%s)", async (order) => {
    for (let round = 0; round < 4; round++) {
      const transactionId = await market.hold();
      await moveClock(
        transactionId,
        (await expiryOf(transactionId)) - (order === "alarm first" ? 0 : SECOND),
      );
      const racers = {
        "complete first": [
          () => market.complete(transactionId),
          () => market.fail(transactionId, "client_error"),
        ],
        "fail first": [
          () => market.fail(transactionId, "client_error"),
          () => market.complete(transactionId),
        ],
        "alarm first": [
          () => market.complete(transactionId),
          () => market.fail(transactionId, "client_error"),
        ],
      }[order] as (() => ReturnType<Market["complete"]>)[];
      const change = await changeOf(market, async () => {
        const alarm = order === "alarm first" ? [fireAlarm(transactionId)] : [];
        const late = order === "alarm first" ? [] : [fireAlarm(transactionId)];
        const answers = await Promise.all(racers.flatMap((race) => [race(), race(), race()]));
        await Promise.all([...alarm, ...late]);
        const winners = answers.filter(({ status }) => status === 200).map(({ body }) => body);
        const losers = answers.filter(({ status }) => status === 409).map(({ body }) => body.receipt);
        expect(winners.length + losers.length).toBe(6);
        expect(new Set([...winners, ...losers].map((receipt) => JSON.stringify(receipt))).size).toBe(1);
        expect(winners).toHaveLength(order === "alarm first" ? 0 : 3);
      });
      expect([
        { available: 0, held: -100, earned: 100 },
        { available: 100, held: -100, earned: 0 },
      ]).toContainEqual(change);
    }
  });
});

describe("after its end", () => {
  it("a call is kept for 90 days and then forgotten", async () => {
    const transactionId = await market.hold();
    await market.complete(transactionId);
    // The alarm of its first minute finds nothing left to do but to come back.
    await vi.waitFor(async () => {
      await fireAlarm(transactionId);
      expect(await alarmOf(transactionId)).toBeGreaterThan(Date.now() + 89 * 24 * HOUR);
    });
    await moveClock(transactionId, Date.now() + 91 * 24 * HOUR);
    await fireAlarm(transactionId);
    expect(await stateOf(transactionId)).toBeNull();
    expect(await alarmOf(transactionId)).toBeNull();
  });
});

const fireAlarm = (transactionId: string) => runDurableObjectAlarm(paidCallOf(transactionId));
