// The process that holds the Worker is killed with SIGKILL at every point of a settlement's way and started again on
// the same state. No hash is lost, nothing is sent twice, and the record and every answer tell the same story.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SettlementState } from "../../src/payments/settlement/settlement-states.ts";
import { aPayment, type TestPayment } from "../support/chain.ts";
import {
  type Answer,
  expectNoLeak,
  expectPaid,
  type FaultyWorld,
  readBooks,
  startFaultyWorld,
  until,
} from "../support/faulty-world.ts";
import type { Rule } from "../support/rpc-proxy-client.ts";

let world: FaultyWorld;

beforeAll(async () => {
  world = await startFaultyWorld({ relayers: 4, variables: { SETTLE_WAIT_SECONDS: "20" } });
});
afterEach(() => world.proxy.clearRules());
afterAll(() => world?.stop());

interface KillPoint {
  name: string;
  /** Each point has a relayer of its own: what that has read of the chain is not read again for some seconds. */
  relayer: number;
  rule(payment: TestPayment): Rule;
  /** What the record says at this point. */
  state: SettlementState;
}

const SEND = "eth_sendRawTransaction";
/** The payment's nonce, as it stands in the signed transaction that carries it. */
const nonceOf = ({ paymentPayload }: TestPayment) => {
  const { authorization } = paymentPayload.payload as { authorization: { nonce: string } };
  return authorization.nonce.slice(2);
};
/** An Idempotency-Key of the one caller who is killed and comes back. */
const keyOf = nonceOf;

const KILL_POINTS: KillPoint[] = [
  {
    name: "claimed, its relayer still reading the chain",
    relayer: 0,
    rule: () => ({ method: "eth_getBalance", times: 1, action: { do: "hold_then_drop" } }),
    state: "claimed",
  },
  {
    name: "signed and stored, no node has heard of it",
    relayer: 1,
    rule: (payment) => ({
      ...{ method: SEND, paramsInclude: nonceOf(payment), times: 1 },
      action: { do: "hold_then_drop" },
    }),
    state: "broadcast",
  },
  {
    name: "sent, the node's answer not seen",
    relayer: 2,
    rule: (payment) => ({
      ...{ method: SEND, paramsInclude: nonceOf(payment), times: 1 },
      action: { do: "forward_then_hold" },
    }),
    state: "broadcast",
  },
  {
    name: "mined, the receipt not seen",
    relayer: 3,
    rule: () => ({ method: "eth_getTransactionReceipt", times: 1, action: { do: "hold" } }),
    state: "broadcast",
  },
];

/** Brings a payment to the point and leaves it there. `call` is what its caller will hear. */
async function bringTo({ name, rule, state }: KillPoint, payment: TestPayment) {
  const heldBefore = await world.proxy.held();
  await world.proxy.addRule(rule(payment));
  const call = world.settle(payment, { key: keyOf(payment) }).catch((error: Error) => error);
  await until(async () => (await world.proxy.held()) > heldBefore, `held: ${name}`);
  await until(async () => (await world.record(payment))?.state === state, `${state}: ${name}`);
  return { call };
}

/** The first claimant, its repeat, and everybody else hear what the record says. */
async function expectOneStory(payment: TestPayment, transaction?: string): Promise<void> {
  const key = keyOf(payment);
  const first = await world.settle(payment, { key });
  expect(first).toMatchObject({ status: 200, body: { success: true } });
  expect(first.body.extra?.replayed).toBeUndefined();
  const hash = first.body.transaction ?? "";
  if (transaction) expect(hash).toBe(transaction);
  const again = await world.settle(payment, { key });
  expect(again.body).toMatchObject({ success: true, transaction: hash, extra: { replayed: true } });
  expectDuplicate(await world.settle(payment), hash);
  expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: hash });
}

function expectDuplicate({ status, body }: Answer, transaction: string): void {
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: false, errorReason: "duplicate_settlement", transaction },
  });
}

describe("C16: SIGKILL", () => {
  it.each(KILL_POINTS)("C16: $name: the same call gets the success after the restart", async (point) => {
    const before = await readBooks(world);
    const payment = await world.paymentOf(point.relayer);
    const { call } = await bringTo(point, payment);
    const known = await world.record(payment);
    expect(known?.transaction).toMatch(point.state === "claimed" ? /^$/ : /^0x[0-9a-f]{64}$/);
    await world.kill();
    expect(await call).toBeInstanceOf(Error);
    await world.proxy.clearRules();
    await world.restart();
    // Nobody has asked yet: what is stored came through.
    expect(["broadcast", "settled", point.state]).toContain((await world.record(payment))?.state);
    await expectOneStory(payment, known?.transaction);
    await expectPaid(world, before, payment);
  });

  it("C16: all points at once, and nobody asks again: the alarms bring each to its record", async () => {
    const before = await readBooks(world);
    const payments = await Promise.all(KILL_POINTS.map(({ relayer }) => world.paymentOf(relayer)));
    const known: (string | undefined)[] = [];
    for (const [index, point] of KILL_POINTS.entries()) {
      const payment = payments[index] as TestPayment;
      await bringTo(point, payment);
      known.push((await world.record(payment))?.transaction);
    }
    await world.kill();
    await world.proxy.clearRules();
    await world.restart();
    for (const payment of payments) {
      await until(
        async () => (await world.record(payment))?.state === "settled",
        "the alarm settles it",
        30_000,
      );
    }
    await expectPaid(world, before, ...payments);
    for (const [index, payment] of payments.entries()) await expectOneStory(payment, known[index]);
    await expectPaid(world, before, ...payments);
  });
});

describe("C13: fifty identical settles at once", () => {
  const CALLS = 50;
  /** Each caller has an Idempotency-Key of its own. A call that is cut off is null. */
  const settleByAll = (payment: TestPayment) =>
    Promise.all(
      Array.from({ length: CALLS }, (_, caller) =>
        world.settle(payment, { key: `${caller} ${keyOf(payment)}` }).catch(() => null),
      ),
    );

  it("C13: one transaction, one success, 49 duplicates with its hash; the same again after a restart", async () => {
    const before = await readBooks(world);
    const payment = await aPayment();
    const answers = await settleByAll(payment);
    const winner = answers.findIndex((answer) => answer?.body.success);
    const success = answers[winner]?.body;
    const hash = success?.transaction ?? "";
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    const rest = answers.toSpliced(winner, 1) as Answer[];
    expect(rest.length).toBe(CALLS - 1);
    for (const other of rest) expectDuplicate(other, hash);
    await world.kill();
    await world.restart();
    const later = await settleByAll(payment);
    expect(later[winner]?.body).toEqual({ ...success, extra: { ...success?.extra, replayed: true } });
    for (const other of later.toSpliced(winner, 1)) expectDuplicate(other as Answer, hash);
    expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: hash });
    await expectPaid(world, before, payment);
  });

  it("C13: killed while all fifty wait, none was told; of the fifty repeats the claimant's succeeds", async () => {
    const before = await readBooks(world);
    const payment = await aPayment();
    await world.proxy.addRule({ method: SEND, times: 1, action: { do: "hold_then_drop" } });
    const waiting = settleByAll(payment);
    await until(async () => (await world.proxy.held()) > 0, "the transaction is on its way");
    await world.kill();
    expect(await waiting).toEqual(Array(CALLS).fill(null));
    await world.proxy.clearRules();
    await world.restart();
    const answers = await settleByAll(payment);
    const winner = answers.findIndex((answer) => answer?.body.success);
    const hash = answers[winner]?.body.transaction ?? "";
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    for (const other of answers.toSpliced(winner, 1)) expectDuplicate(other as Answer, hash);
    await expectPaid(world, before, payment);
  });
});

it("no answer and no line of the log names the node, its key or its words", () => {
  expectNoLeak(world);
});
