// Receipts that come after the Worker's deadline, with the published clients in the loop: `@x402/fetch` buys from
// `@x402/express`, which settles once more, at once, when it is told `settlement_pending`.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeBuyer } from "../../scripts/demo/buyer.ts";
import { TRANSLATION, WEATHER } from "../../scripts/demo/resources.ts";
import { type Seller, startSeller } from "../../scripts/demo/seller.ts";
import { BUYER, SELLER } from "../../scripts/local-variables.ts";
import {
  type Books,
  expectNoLeak,
  type FaultyWorld,
  readBooks,
  startFaultyWorld,
  until,
  type Verdict,
} from "../support/faulty-world.ts";

let world: FaultyWorld;
let seller: Seller;

beforeAll(async () => {
  world = await startFaultyWorld({ variables: { SETTLE_WAIT_SECONDS: "2" } });
  seller = await startSeller({ facilitatorUrl: world.url, port: 0 });
});
afterEach(() => world.proxy.clearRules());
afterAll(async () => {
  await seller?.stop();
  await world?.stop();
});

/** Mined at once, and nobody is told. */
const holdReceipts = () =>
  world.proxy.addRule({ method: "eth_getTransactionReceipt", action: { do: "hold" } });

describe("C15: a purchase whose receipt comes after the deadline", () => {
  it("C15: the server's own retry ends in one success and one transfer", async () => {
    const before = await readBooks(world, SELLER.address);
    const settles = followSettles();
    await holdReceipts();
    const buying = makeBuyer(BUYER, "eip3009").buy(seller.url, WEATHER);
    await until(() => settles.asked() === 2, "the server settles again");
    expect(settles.answers()).toMatchObject([{ success: false, errorReason: "settlement_pending" }]);
    await world.proxy.clearRules();
    const purchase = await buying;
    expect(purchase).toMatchObject({ status: 200, body: { city: "Oslo", celsius: 7 } });
    const [pending, settled, ...more] = settles.answers();
    expect(settled).toMatchObject({ success: true, transaction: purchase.transaction });
    expect(pending?.transaction).toBe(purchase.transaction);
    expect(more).toEqual([]);
    await expectBooked(before, WEATHER.priceAtomic);
  });

  it("C15: later than the retry too: no goods, one transfer, and the same body has the success", async () => {
    const before = await readBooks(world, SELLER.address);
    const settles = followSettles();
    await holdReceipts();
    const purchase = await makeBuyer(BUYER, "eip3009").buy(seller.url, TRANSLATION);
    expect(purchase.status).toBe(402);
    const [first, second, ...more] = settles.answers();
    const transaction = first?.transaction;
    expect(second).toMatchObject({ success: false, errorReason: "settlement_pending", transaction });
    expect(more).toEqual([]);
    await world.proxy.clearRules();
    const body = settles.body();
    expect((await world.settle(body)).body).toMatchObject({ success: true, transaction });
    const path = `/settlements/${second?.extra?.settlementId}`;
    expect((await world.ask("GET", { path })).body).toMatchObject({ state: "settled", transaction });
    expect((await world.settle(body)).body).toMatchObject({
      errorReason: "duplicate_settlement",
      transaction,
    });
    await expectBooked(before, TRANSLATION.priceAtomic);
  });
});

it("no answer and no line of the log names the node, its key or its words", () => {
  expectNoLeak(world);
});

/** The seller's settle calls from now on. */
function followSettles() {
  const { recorder } = world;
  const [askedBefore, answersBefore] = [recorder.asked.length, recorder.answers.length];
  return {
    asked: () => recorder.asked.slice(askedBefore).filter((name) => name === "POST /settle").length,
    answers: () =>
      recorder.answers
        .slice(answersBefore)
        .filter(({ asked }) => asked === "POST /settle")
        .map(({ body }): Verdict => JSON.parse(body)),
    /** What the seller sent last. */
    body: () => JSON.parse(recorder.answers.findLast(({ asked }) => asked === "POST /settle")?.sent ?? ""),
  };
}

/** One transaction of ours, and exactly the price. */
async function expectBooked(before: Books, priceAtomic: bigint): Promise<void> {
  expect(await readBooks(world, SELLER.address)).toEqual({
    sellerUsdc: before.sellerUsdc + priceAtomic,
    mined: before.mined + 1,
    sent: before.sent + 1,
  });
}
