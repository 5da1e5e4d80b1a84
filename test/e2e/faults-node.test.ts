// The node behind the built bundle lies, loses, refuses or answers nothing. Each payment ends in one transfer and a
// right answer. What takes time to mend, and what /health says meanwhile: faults-patience.test.ts.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  ACCOUNTS,
  aPayment,
  BUYER,
  cancelAuthorization,
  type Hex,
  mine,
  RELAYER,
  rpc,
  send,
  setBlockTime,
  stopMining,
  type TestPayment,
  transferUsdc,
} from "../support/chain.ts";
import {
  type Answer,
  type Books,
  expectNoLeak,
  expectPaid,
  type FaultyWorld,
  readBooks,
  settleToTheEnd,
  startFaultyWorld,
  until,
} from "../support/faulty-world.ts";
import { PROVIDER_TEXT, type Rule } from "../support/rpc-proxy-client.ts";

let world: FaultyWorld;

beforeAll(async () => {
  world = await startFaultyWorld({ variables: { SETTLE_WAIT_SECONDS: "2" } });
});
afterEach(async () => {
  await world.proxy.clearRules();
  await setBlockTime(world.nodeUrl, 0);
});
afterAll(() => world?.stop());

const SEND = "eth_sendRawTransaction";
const RECEIPT = "eth_getTransactionReceipt";
const COUNT = "eth_getTransactionCount";

// First: only a relayer that never sent anything believes the chain's word for its nonce.
it("C17: a nonce of the past, of an account that was used before: a new slot, and the payment is mined", async () => {
  const elsewhere = await send(world.nodeUrl, { from: RELAYER.address, to: RELAYER.address });
  expect(elsewhere).toMatch(/^0x/);
  await world.proxy.addRule({ method: COUNT, times: 2, action: { do: "answer", result: "0x0" } });
  const before = await readBooks(world);
  const payment = await aPayment();
  const { body } = await settleToTheEnd(world, payment);
  expect(body).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: body.transaction });
  const after = await readBooks(world);
  // What was signed with the old nonce can never be mined.
  expect(after).toEqual({
    sellerUsdc: before.sellerUsdc + 10_000n,
    mined: before.mined + 1,
    sent: before.sent + 2,
  });
});

const aRefusal = (code: number) =>
  ({ do: "error", error: { code, message: `${PROVIDER_TEXT}: limit` } }) as const;

const LIES: Record<string, Rule[]> = {
  "a nonce count far too high": [{ method: COUNT, times: 4, action: { do: "answer", result: "0x3e8" } }],
  "429 to everything": [{ times: 3, action: { do: "status", status: 429, headers: { "retry-after": "1" } } }],
  "429 to the transaction": [{ method: SEND, times: 5, action: { do: "status", status: 429 } }],
  "a rate limit inside the answer": [{ times: 5, action: aRefusal(-32005) }],
  "an unknown refusal of the transaction": [{ method: SEND, times: 2, action: aRefusal(-32000) }],
  "everything twice": [{ action: { do: "twice" } }],
  "a cut connection to the transaction": [{ method: SEND, times: 2, action: { do: "drop" } }],
  "a cut connection after it took the transaction": [
    { method: SEND, times: 1, action: { do: "forward_then_drop" } },
  ],
  "a cut connection to the receipt": [{ method: RECEIPT, times: 2, action: { do: "drop" } }],
  "no element for the transaction": [{ method: SEND, times: 2, action: { do: "omit" } }],
  "no element for the receipt": [{ method: RECEIPT, times: 2, action: { do: "omit" } }],
};

describe("C17: the node lies or loses", () => {
  it.each(Object.entries(LIES))("C17: %s: one transfer, one success", async (_, rules) => {
    const before = await readBooks(world);
    for (const rule of rules) await world.proxy.addRule(rule);
    const payment = await aPayment();
    await expectSuccess(await settleToTheEnd(world, payment), before, payment);
  });

  it("C17: the receipt of another transaction proves nothing", async () => {
    const other = await world.settle(await aPayment());
    const receipt = await rpc(world.nodeUrl, RECEIPT, [other.body.transaction]);
    const before = await readBooks(world);
    await world.proxy.addRule({ method: RECEIPT, action: { do: "answer", result: receipt } });
    const payment = await aPayment();
    const { body } = await world.settle(payment);
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(body.transaction).not.toBe(other.body.transaction);
    await world.proxy.clearRules();
    await expectSuccess(await settleToTheEnd(world, payment), before, payment);
  });

  it("C15: a node one block behind: pending with the hash, and the success once it has caught up", async () => {
    const before = await readBooks(world);
    await world.proxy.addRule({ action: { do: "lag", blocks: 1 } });
    const payment = await aPayment();
    const { body } = await world.settle(payment);
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    await mine(world.nodeUrl);
    await expectSuccess(await settleToTheEnd(world, payment), before, payment);
  });

  it("C15: nodes lost while a transfer is out: pending with the hash, and the success once they answer", async () => {
    const before = await readBooks(world);
    await stopMining(world.nodeUrl);
    const payment = await aPayment();
    const waiting = world.settle(payment);
    await until(async () => (await world.record(payment))?.state === "broadcast", "it is signed");
    await until(async () => (await readBooks(world)).sent > before.sent, "it is sent");
    await world.proxy.addRule({ action: { do: "status", status: 503 } });
    const { body } = await waiting;
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(body.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    await world.proxy.clearRules();
    await setBlockTime(world.nodeUrl, 0);
    await mine(world.nodeUrl);
    await expectSuccess(await settleToTheEnd(world, payment), before, payment);
  });

  it("C15: errors in the node's own words void the verdict, and say nothing of the payment", async () => {
    const before = await readBooks(world);
    const payment = await aPayment();
    await world.proxy.addRule({ method: "eth_call", action: aRefusal(-32603) });
    expect(await world.verify(payment)).toMatchObject({
      ...{ status: 502, body: { isValid: false, invalidReason: "unexpected_verify_error" } },
    });
    expect(await world.settle(payment)).toMatchObject({
      ...{ status: 502, body: { success: false, errorReason: "unexpected_settle_error", transaction: "" } },
    });
    expect(await world.record(payment)).toBeNull();
    await world.proxy.clearRules();
    await expectSuccess(await world.settle(payment), before, payment);
  });

  it("C17: two at once, a third whose sends meet 429, and a fourth: all are mined", async () => {
    const before = await readBooks(world);
    const payments = await Promise.all([aPayment(), aPayment(), aPayment(), aPayment()]);
    const [first, second, third, fourth] = payments;
    const answers = await Promise.all([settleToTheEnd(world, first), settleToTheEnd(world, second)]);
    await world.proxy.addRule({ method: SEND, times: 4, action: { do: "status", status: 429 } });
    answers.push(...(await Promise.all([settleToTheEnd(world, third), settleToTheEnd(world, fourth)])));
    for (const { body } of answers) expect(body.success).toBe(true);
    await expectPaid(world, before, ...payments);
  });
});

async function expectSuccess({ status, body }: Answer, before: Books, payment: TestPayment): Promise<void> {
  expect({ status, body }).toMatchObject({ status: 200, body: { success: true } });
  expect(await world.record(payment)).toMatchObject({ state: "settled", transaction: body.transaction });
  await world.proxy.clearRules();
  await expectPaid(world, before, payment);
}

describe("C20: the state changed since verify", () => {
  it("C20: a cancelled authorization and a spent balance are refused before anything is sent", async () => {
    const poor = ACCOUNTS[7];
    const cancelled = await aPayment();
    const spent = await aPayment({ payer: poor });
    for (const payment of [cancelled, spent]) expect((await world.verify(payment)).body.isValid).toBe(true);
    const { authorization } = cancelled.paymentPayload.payload as { authorization: { nonce: Hex } };
    await cancelAuthorization(world.nodeUrl, BUYER, authorization.nonce);
    await transferUsdc(world.nodeUrl, poor.address, ACCOUNTS[8].address, 1_000_000_000_000n);
    const before = await readBooks(world);
    expect((await world.settle(cancelled)).body).toMatchObject({
      ...{ success: false, transaction: "", errorReason: "invalid_exact_evm_nonce_already_used" },
    });
    expect((await world.settle(spent)).body).toMatchObject({
      ...{ success: false, transaction: "", errorReason: "invalid_exact_evm_insufficient_balance" },
    });
    expect(await readBooks(world)).toEqual(before);
    for (const payment of [cancelled, spent]) expect(await world.record(payment)).toBeNull();
  });
});

it("no answer and no line of the log names the node, its key or its words", () => {
  expectNoLeak(world);
});
