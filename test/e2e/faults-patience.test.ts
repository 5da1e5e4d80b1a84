// Faults that only time mends: a gap in front of a nonce, bytes that a node swallowed, reorgs; and outages, which /health
// names, for which money routes answer a clear reason and Retry-After, and which end by themselves. Each story has a
// world of its own, and they wait side by side.

import { toHex } from "viem";
import { describe, expect, it } from "vitest";
import {
  aPayment,
  mine,
  NETWORK,
  RELAYER,
  revertTo,
  setBlockTime,
  setEtherBalance,
  snapshot,
  stopMining,
  type TestPayment,
} from "../support/chain.ts";
import {
  expectNoLeak,
  expectPaid,
  type FaultyWorld,
  type FaultyWorldOptions,
  readBooks,
  settleToTheEnd,
  startFaultyWorld,
  until,
} from "../support/faulty-world.ts";

const SEND = "eth_sendRawTransaction";
/** Wei; a thousand ether. */
const GAS_MONEY = 10n ** 21n;

/** Runs a story in a world that ends with it; then no answer of it may have named the node. */
function inWorld(options: FaultyWorldOptions, story: (world: FaultyWorld) => Promise<void>) {
  return async () => {
    const world = await startFaultyWorld({ ...options, variables: { SETTLE_WAIT_SECONDS: "3" } });
    try {
      await story(world);
      expectNoLeak(world);
    } finally {
      await world.stop();
    }
  };
}

async function expectSettled(world: FaultyWorld, payment: TestPayment): Promise<string> {
  const { body } = await settleToTheEnd(world, payment);
  expect(body).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: body.transaction });
  return body.transaction ?? "";
}

describe.concurrent("in time", () => {
  it(
    "C17: a nonce count that is too high leaves a gap; it is filled and the payment is mined, once",
    inWorld({}, async (world) => {
      const before = await readBooks(world);
      const count = before.mined + 2;
      await world.proxy.addRule({
        ...{ method: "eth_getTransactionCount", times: 2 },
        action: { do: "answer", result: `0x${count.toString(16)}` },
      });
      // Blocks go by, as they do on a chain that others use too.
      await setBlockTime(world.nodeUrl, 1);
      const payment = await aPayment();
      await expectSettled(world, payment);
      const after = await readBooks(world);
      // Two fillers in front of it, and it.
      expect(after).toMatchObject({ sellerUsdc: before.sellerUsdc + 10_000n, mined: before.mined + 3 });
    }),
  );

  it(
    "C17: a node that takes a transaction and keeps nothing gets the same bytes again: one transfer",
    inWorld({}, async (world) => {
      const before = await readBooks(world);
      await world.proxy.addRule({ method: SEND, times: 1, action: { do: "swallow" } });
      const payment = await aPayment();
      await expectSettled(world, payment);
      await expectPaid(world, before, payment);
    }),
  );

  it(
    "a reorg while the call waits for confirmations: sent again as the same bytes, one success, one transfer",
    inWorld({ network: { confirmations: 3, finalityBlocks: 6 } }, async (world) => {
      const payment = await aPayment();
      const before = await readBooks(world);
      const fork = await snapshot(world.nodeUrl);
      const pending = await world.settle(payment);
      expect(pending.body).toMatchObject({ success: false, errorReason: "settlement_pending" });
      await reorg(world, fork);
      const settling = settleToTheEnd(world, payment);
      await setBlockTime(world.nodeUrl, 1);
      expect((await settling).body).toMatchObject({ success: true, transaction: pending.body.transaction });
      await expectPaid(world, before, payment);
      expect(await world.record(payment)).not.toHaveProperty("reorged");
    }),
  );

  it(
    "a reorg after the answer and before finality: the record says so, the answer stands, the money arrives once",
    inWorld({ network: { finalityBlocks: 6 } }, async (world) => {
      const payment = await aPayment();
      const before = await readBooks(world);
      const fork = await snapshot(world.nodeUrl);
      const { body } = await world.settle(payment, { key: "reorg" });
      expect(body.success).toBe(true);
      await reorg(world, fork);
      // Somebody else's payment keeps the relayer looking.
      const other = await aPayment();
      const otherSettles = settleToTheEnd(world, other);
      await until(async () => (await world.record(payment))?.reorged === true, "the record says so", 40_000);
      expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: body.transaction });
      await setBlockTime(world.nodeUrl, 1);
      expect((await otherSettles).body.success).toBe(true);
      await until(
        async () => (await readBooks(world)).mined === before.mined + 2,
        "the transaction is mined again",
      );
      await expectPaid(world, before, payment, other);
      expect((await world.settle(payment, { key: "reorg" })).body).toEqual({
        ...body,
        extra: { ...body.extra, replayed: true },
      });
    }),
  );

  it(
    "no gas: 503 with Retry-After, /health says so, and it recovers once gas is there",
    inWorld({}, async (world) => {
      const before = await readBooks(world);
      await setEtherBalance(world.nodeUrl, RELAYER.address, 0n);
      // The gas was still there when the relayer looked; the node refuses what it sends, and it looks again.
      await world.proxy.addRule({
        ...{ method: "eth_getBalance", times: 1 },
        action: { do: "answer", result: toHex(GAS_MONEY) },
      });
      const promised = await aPayment();
      const { body } = await world.settle(promised);
      expect(body).toMatchObject({
        errorReason: "settlement_pending",
        transaction: expect.stringMatching(/^0x/),
      });

      const payment = await aPayment();
      const refused = await world.settle(payment);
      expect(refused).toMatchObject({
        status: 503,
        body: { success: false, errorReason: "relayer_no_gas", transaction: "", extra: { retryable: true } },
      });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await world.record(payment)).toBeNull();
      expect((await world.verify(payment)).body.isValid).toBe(true);
      await healthSays(world, "relayer gas", /^1 of 1 accounts are low$/, 200);

      await setEtherBalance(world.nodeUrl, RELAYER.address, GAS_MONEY);
      await moneyMovesAgain(world, payment);
      expect((await settleToTheEnd(world, promised)).body).toMatchObject({
        ...{ success: true, transaction: body.transaction },
      });
      await expectPaid(world, before, promised, payment);
    }),
  );

  it(
    "nodes down: verify and settle 502, /health 503, and it recovers once they answer",
    inWorld({}, async (world) => {
      const before = await readBooks(world);
      await world.proxy.addRule({ action: { do: "drop" } });
      const payment = await aPayment();
      await expectNoAnswer(world, payment);
      await healthSays(world, "rpc", /^no answer$/, 503);
      await world.proxy.clearRules();
      await moneyMovesAgain(world, payment);
      await expectPaid(world, before, payment);
    }),
  );

  it(
    "another chain behind the URL: nothing it says is used, /health says so, and it recovers",
    inWorld({}, async (world) => {
      await world.kill();
      await world.proxy.addRule({ method: "eth_chainId", action: { do: "answer", result: "0x1" } });
      await world.restart();
      const before = await readBooks(world);
      const payment = await aPayment();
      await expectNoAnswer(world, payment);
      await healthSays(world, "rpc", /^the node serves another chain id$/, 503);
      await world.proxy.clearRules();
      await moneyMovesAgain(world, payment);
      await expectPaid(world, before, payment);
    }),
  );
});

/** Other blocks in the place of the old ones, and nothing mined until the test says so. */
async function reorg({ nodeUrl }: FaultyWorld, fork: Awaited<ReturnType<typeof snapshot>>): Promise<void> {
  await stopMining(nodeUrl);
  await revertTo(nodeUrl, fork);
  await mine(nodeUrl, 2);
}

/** /health says this of the check, and what it means for the whole. */
function healthSays(world: FaultyWorld, name: string, detail: RegExp, status: number): Promise<void> {
  return until(async () => {
    const health = await world.health();
    const check = health.body.checks.find((candidate) => candidate.name === `${name} ${NETWORK}`);
    return health.status === status && check?.ok === false && detail.test(check.detail);
  }, `${name}: ${detail}`);
}

/** Without anybody's doing. */
async function moneyMovesAgain(world: FaultyWorld, payment: TestPayment): Promise<void> {
  await until(async () => (await settleToTheEnd(world, payment)).body.success === true, "money moves again");
  await until(async () => (await world.health()).body.status === "ok", "health is good again");
}

async function expectNoAnswer(world: FaultyWorld, payment: TestPayment): Promise<void> {
  const [verified, settled] = await Promise.all([world.verify(payment), world.settle(payment)]);
  for (const { status, headers, body } of [verified, settled]) {
    expect(status).toBe(502);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(body.extra?.retryable).toBe(true);
  }
  expect(verified.body).toMatchObject({ isValid: false, invalidReason: "unexpected_verify_error" });
  expect(settled.body).toMatchObject({
    ...{ success: false, transaction: "", errorReason: "unexpected_settle_error" },
  });
}
