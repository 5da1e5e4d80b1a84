// RelayerObject on a real chain: what it promises, refuses, keeps through an eviction, and forgets. What goes wrong
// between it and the node: relayer-faults.test.ts.

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { GATHER_MS, POLL_MS } from "../../src/payments/evm/relayer/relayer-loop.ts";
import type { StepProgress } from "../../src/payments/evm/relayer/relayer-port.ts";
import { ACCOUNTS, mine, rpc, setEtherBalance, stopMining, USDC } from "../support/chain.ts";
import {
  aSubmit,
  calm,
  crash,
  eventually,
  evict,
  minedCount,
  moveTime,
  nextRelayer,
  queryRelayer,
  sentCount,
  startRelayerChain,
} from "./relayer-lab.ts";

const WAIT_MS = 8_000;
/** A transfer of more USDC than the relayer has: it reverts. */
const REVERTING = `0xa9059cbb${"1".padStart(64, "0")}${"f".repeat(64)}` as const;

const chain = await startRelayerChain({ MAX_QUEUED: "260", MAX_IN_FLIGHT: "64" });
beforeEach(() => calm(chain));

function receiptOf(steps: StepProgress[]) {
  return steps.at(-1)?.receipt ?? null;
}

describe("submit and waitFor", () => {
  it("answers the hash before it is mined, and then the receipt with its logs", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    const answer = await relayer.stub.submit(request);
    expect(answer).toEqual({ ok: true, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    const [step] = await relayer.stub.waitFor(request.settlementId, request.attempt, 1, WAIT_MS);
    expect(step).toMatchObject({ step: "transfer", depth: 1, isAbandoned: false });
    expect(step?.receipt).toMatchObject({ hash: answer.ok && answer.hash, status: "success" });
    expect(step?.receipt?.logs).toHaveLength(1);
    expect(step?.receipt?.logs[0]?.address.toLowerCase()).toBe(USDC.toLowerCase());
  });

  it("sends one transaction however often and in parallel the same step is submitted", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    const answers = await Promise.all(Array.from({ length: 10 }, () => relayer.stub.submit(request)));
    expect(new Set(answers.map((answer) => answer.ok && answer.hash)).size).toBe(1);
    await relayer.stub.waitFor(request.settlementId, request.attempt, 1, WAIT_MS);
    expect(await relayer.stub.submit(request)).toEqual(answers[0]);
    expect(await minedCount(chain, relayer.address)).toBe(1);
    expect((await chain.proxy.counts()).byMethod.eth_sendRawTransaction).toBe(1);
  });

  it("calls it a broken assertion when a step comes again with another call", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    await relayer.stub.submit(request);
    const other = { ...request, call: { ...request.call, data: aSubmit().call.data } };
    await expect(() => relayer.stub.submit(other)).rejects.toThrow("keeps its call");
    const elsewhere = { ...request, call: { ...request.call, to: ACCOUNTS[5].address } };
    await expect(() => relayer.stub.submit(elsewhere)).rejects.toThrow("keeps its call");
  });

  it("keeps the steps of one attempt apart and answers them in order", async () => {
    const relayer = await nextRelayer(chain);
    const deploy = aSubmit({ step: "deploy" });
    await relayer.stub.submit(deploy);
    const { settlementId, attempt } = deploy;
    expect(receiptOf(await relayer.stub.waitFor(settlementId, attempt, 1, WAIT_MS))).not.toBeNull();
    await relayer.stub.submit(aSubmit({ settlementId, attempt }));
    const steps = await relayer.stub.waitFor(settlementId, attempt, 1, WAIT_MS);
    expect(steps.map(({ step, depth }) => ({ step, isMined: depth > 0 }))).toEqual([
      { step: "deploy", isMined: true },
      { step: "transfer", isMined: true },
    ]);
  });

  it("waits for the depth that is asked for, and calls final what lies deep enough", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    await relayer.stub.submit(request);
    const { settlementId, attempt } = request;
    await relayer.stub.waitFor(settlementId, attempt, 1, WAIT_MS);
    const early = await relayer.stub.waitFor(settlementId, attempt, 2, 600);
    expect(early[0]).toMatchObject({ depth: 1, isFinal: false });
    const waiting = relayer.stub.waitFor(settlementId, attempt, 2, WAIT_MS);
    await mine(chain.rpcUrl);
    expect((await waiting)[0]).toMatchObject({ depth: 2, isFinal: false });
    const deeper = relayer.stub.waitFor(settlementId, attempt, 3, WAIT_MS);
    await mine(chain.rpcUrl);
    expect((await deeper)[0]).toMatchObject({ depth: 3, isFinal: true });
  });

  it("answers an unknown attempt with no steps, at once", async () => {
    const relayer = await nextRelayer(chain);
    expect(await relayer.stub.waitFor("nobody", "never", 1, WAIT_MS)).toEqual([]);
  });

  it("reports a reverted transaction as reverted", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit({ call: { data: REVERTING } });
    await relayer.stub.submit(request);
    const steps = await relayer.stub.waitFor(request.settlementId, request.attempt, 1, WAIT_MS);
    expect(receiptOf(steps)).toMatchObject({ status: "reverted", logs: [] });
  });
});

describe("refusals, each before anything is written", () => {
  it("refuses a call that the node executes to a revert, and one that needs more gas than its cap", async () => {
    const relayer = await nextRelayer(chain);
    const reverting = aSubmit({ call: { data: REVERTING, estimatedGas: null } });
    expect(await relayer.stub.submit(reverting)).toMatchObject({ ok: false, reason: "would_revert" });
    const costly = aSubmit({ call: { estimatedGas: 25_000_000n, gasCap: 300_000n } });
    expect(await relayer.stub.submit(costly)).toMatchObject({ ok: false, reason: "would_revert" });
    expect(await queryRelayer(relayer, "SELECT * FROM intents")).toEqual([]);
  });

  it("asks the node again when the authorization died after its estimate", async () => {
    const relayer = await nextRelayer(chain);
    const past = Math.floor(Date.now() / 1_000) - 1;
    const request = aSubmit({ validBeforeSeconds: past, call: { data: REVERTING, estimatedGas: 60_000n } });
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: false, reason: "would_revert" });
  });

  it("never calls a silent node a revert", async () => {
    const relayer = await nextRelayer(chain);
    await chain.proxy.addRule({ action: { do: "status", status: 503 } });
    const request = aSubmit({ call: { estimatedGas: null } });
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: false, reason: "rpc_unavailable" });
    await chain.proxy.clearRules();
    await chain.proxy.addRule({
      method: "eth_estimateGas",
      action: { do: "error", error: { code: -32603, message: "header not found" } },
    });
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: false, reason: "rpc_unavailable" });
    await chain.proxy.clearRules();
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: true });
  });

  it("refuses without gas money and takes calls again once it is there", async () => {
    const relayer = await nextRelayer(chain, 0n);
    const request = aSubmit();
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: false, reason: "no_gas" });
    expect(await queryRelayer(relayer, "SELECT * FROM intents")).toEqual([]);
    await setEtherBalance(chain.rpcUrl, relayer.address, 10n ** 18n);
    await moveTime(relayer, 5_000);
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: true });
  });

  it("counts the gas that is already promised", async () => {
    await stopMining(chain.rpcUrl);
    const { baseFeePerGas } = await rpc<{ baseFeePerGas: `0x${string}` }>(
      chain.rpcUrl,
      "eth_getBlockByNumber",
      ["latest", false],
    );
    const tip = BigInt(await rpc<`0x${string}`>(chain.rpcUrl, "eth_maxPriorityFeePerGas"));
    const costOfOne = 72_000n * (2n * BigInt(baseFeePerGas) + tip) + 10n ** 9n;
    const relayer = await nextRelayer(chain, 2n * costOfOne);
    expect(await relayer.stub.submit(aSubmit())).toMatchObject({ ok: true });
    expect(await relayer.stub.submit(aSubmit())).toMatchObject({ ok: true });
    expect(await relayer.stub.submit(aSubmit())).toMatchObject({ ok: false, reason: "no_gas" });
  });

  it("gives one payer at most half of the queue, all payers the whole, and frees it as transactions are mined", async () => {
    const relayer = await nextRelayer(chain);
    await stopMining(chain.rpcUrl);
    const ofPayer = (payer: `0x${string}`, count: number) =>
      Promise.all(Array.from({ length: count }, () => relayer.stub.submit(aSubmit({ payer }))));
    const first = await ofPayer(ACCOUNTS[2].address, 140);
    expect(first.filter(({ ok }) => ok)).toHaveLength(130);
    expect(first.filter((answer) => !answer.ok && answer.reason === "busy")).toHaveLength(10);
    const second = await ofPayer(ACCOUNTS[3].address, 130);
    expect(second.every(({ ok }) => ok)).toBe(true);
    expect(await relayer.stub.submit(aSubmit({ payer: ACCOUNTS[4].address }))).toMatchObject({
      ok: false,
      reason: "busy",
      retryAfterSeconds: 2,
    });
    expect(await queryRelayer(relayer, "SELECT COUNT(*) AS n, MAX(nonce) AS max FROM slots")).toEqual([
      { n: 260, max: 259 },
    ]);
    await calm(chain);
    await mine(chain.rpcUrl);
    await eventually("the queue has room", async () => (await relayer.stub.submit(aSubmit())).ok);
    await eventually("all are mined", async () => (await minedCount(chain, relayer.address)) === 261);
  });
});

describe("cancel", () => {
  it("before a submit leaves a tombstone that refuses it, and other attempts are free", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    const { settlementId, attempt } = request;
    expect(await relayer.stub.cancel(settlementId, attempt)).toEqual({ cancelled: true });
    expect(await relayer.stub.cancel(settlementId, attempt)).toEqual({ cancelled: true });
    await evict(relayer);
    expect(await relayer.stub.submit(request)).toMatchObject({ ok: false, reason: "cancelled" });
    expect(await relayer.stub.submit({ ...request, attempt: "another" })).toMatchObject({ ok: true });
  });

  it("after a submit answers the hashes that may be out", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    const answer = await relayer.stub.submit(request);
    expect(await relayer.stub.cancel(request.settlementId, request.attempt)).toEqual({
      cancelled: false,
      hashes: [answer.ok && answer.hash],
    });
  });

  it("wins over a submit that still reads the chain: nothing is written", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    await chain.proxy.addRule({ action: { do: "hold" } });
    const submitting = relayer.stub.submit(request);
    await eventually("the read is held", async () => (await chain.proxy.held()) > 0);
    expect(await relayer.stub.cancel(request.settlementId, request.attempt)).toEqual({ cancelled: true });
    await chain.proxy.clearRules();
    expect(await submitting).toMatchObject({ ok: false, reason: "cancelled" });
    expect(await queryRelayer(relayer, "SELECT * FROM slots")).toEqual([]);
  });
});

describe("a crash after each step keeps the one hash", () => {
  it("after the intent was written and before it was signed", async () => {
    const relayer = await nextRelayer(chain);
    await chain.proxy.addRule({ method: "eth_sendRawTransaction", action: { do: "status", status: 503 } });
    const request = aSubmit();
    const answer = await relayer.stub.submit(request);
    // As a crash between the two writes leaves it.
    await queryRelayer(relayer, "UPDATE transactions SET raw = NULL, hash = NULL");
    await crash(relayer);
    await chain.proxy.clearRules();
    expect(await relayer.stub.submit(request)).toEqual(answer);
    const steps = await relayer.stub.waitFor(request.settlementId, request.attempt, 1, WAIT_MS);
    expect(steps[0]?.hashes).toEqual([answer.ok && answer.hash]);
    expect(receiptOf(steps)?.hash).toBe(answer.ok && answer.hash);
  });

  it("after it was signed and before it was sent: the alarm sends it", async () => {
    const relayer = await nextRelayer(chain);
    await chain.proxy.addRule({ method: "eth_sendRawTransaction", action: { do: "status", status: 503 } });
    const request = aSubmit();
    const answer = await relayer.stub.submit(request);
    await crash(relayer);
    await chain.proxy.clearRules();
    expect(await minedCount(chain, relayer.address)).toBe(0);
    await moveTime(relayer, 10_000);
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(true);
    await eventually("it is mined", async () => (await minedCount(chain, relayer.address)) === 1);
    const steps = await relayer.stub.waitFor(request.settlementId, request.attempt, 1, WAIT_MS);
    expect(receiptOf(steps)?.hash).toBe(answer.ok && answer.hash);
  });

  it("after it was sent, and after it was mined", async () => {
    const relayer = await nextRelayer(chain);
    await stopMining(chain.rpcUrl);
    const request = aSubmit();
    const { settlementId, attempt } = request;
    const answer = await relayer.stub.submit(request);
    await eventually("it is sent", async () => (await sentCount(chain, relayer.address)) === 1);
    await crash(relayer);
    expect(await relayer.stub.submit(request)).toEqual(answer);
    const waiting = relayer.stub.waitFor(settlementId, attempt, 1, WAIT_MS);
    await mine(chain.rpcUrl);
    expect(receiptOf(await waiting)?.hash).toBe(answer.ok && answer.hash);
    await evict(relayer);
    expect(await relayer.stub.submit(request)).toEqual(answer);
    expect(receiptOf(await relayer.stub.waitFor(settlementId, attempt, 1, 0))?.hash).toBe(
      answer.ok && answer.hash,
    );
    expect(await minedCount(chain, relayer.address)).toBe(1);
  });
});

describe("many at once", () => {
  it("gives 200 parallel submits 200 consecutive nonces and mines them all with few requests", async () => {
    const relayer = await nextRelayer(chain);
    await relayer.stub.submit(aSubmit());
    await stopMining(chain.rpcUrl);
    await chain.proxy.resetCounts();
    const requests = Array.from({ length: 200 }, (_, index) =>
      aSubmit({ payer: ACCOUNTS[index % 2 === 0 ? 2 : 3].address }),
    );
    const startMs = Date.now();
    const answers = await Promise.all(requests.map((request) => relayer.stub.submit(request)));
    const submitMs = Date.now() - startMs;
    expect(answers.every(({ ok }) => ok)).toBe(true);
    const nonces = await queryRelayer<{ nonce: number }>(relayer, "SELECT nonce FROM slots ORDER BY nonce");
    expect(nonces.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 201 }, (_, index) => index));
    const waits = requests.map(({ settlementId, attempt }) =>
      relayer.stub.waitFor(settlementId, attempt, 1, 30_000),
    );
    const miner = setInterval(() => void mine(chain.rpcUrl), 1_000);
    const progress = await Promise.all(waits);
    clearInterval(miner);
    const waitedMs = Date.now() - startMs;
    expect(progress.every((steps) => receiptOf(steps)?.status === "success")).toBe(true);
    const { requests: httpRequests } = await chain.proxy.counts();
    // While more is submitted it asks more often: its rhythm is a matter of time, not of how much is sent.
    const polls = Math.ceil(submitMs / GATHER_MS) + Math.ceil((waitedMs - submitMs) / POLL_MS) + 1;
    console.log(JSON.stringify({ event: "figures", submitMs, waitedMs, httpRequests, polls }));
    expect(httpRequests - polls).toBeLessThanOrEqual(200 * 0.1);
  });

  it("has at most maxInFlight transactions out, and refuses none for it", async () => {
    const relayer = await nextRelayer(chain);
    await stopMining(chain.rpcUrl);
    const requests = Array.from({ length: 100 }, () => aSubmit());
    const answers = await Promise.all(requests.map((request) => relayer.stub.submit(request)));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    await eventually("64 are out", async () => (await sentCount(chain, relayer.address)) === 64);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await sentCount(chain, relayer.address)).toBe(64);
    const last = requests[99] ?? aSubmit();
    const waiting = relayer.stub.waitFor(last.settlementId, last.attempt, 1, WAIT_MS);
    const miner = setInterval(() => void mine(chain.rpcUrl), 300);
    expect(receiptOf(await waiting)?.status).toBe("success");
    clearInterval(miner);
  });
});

describe("what is done", () => {
  it("is watched until final, kept a day, and then forgotten", async () => {
    const relayer = await nextRelayer(chain);
    const request = aSubmit();
    const { settlementId, attempt } = request;
    await relayer.stub.submit(request);
    await relayer.stub.waitFor(settlementId, attempt, 1, WAIT_MS);
    await mine(chain.rpcUrl, 2);
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(true);
    expect((await relayer.stub.waitFor(settlementId, attempt, 1, 0))[0]).toMatchObject({ isFinal: true });
    await moveTime(relayer, 23 * 3_600_000);
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(true);
    expect(await relayer.stub.waitFor(settlementId, attempt, 1, 0)).toHaveLength(1);
    await moveTime(relayer, 25 * 3_600_000);
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(true);
    expect(await relayer.stub.waitFor(settlementId, attempt, 1, 0)).toEqual([]);
    for (const table of ["intents", "slots", "transactions", "blocks"]) {
      expect(await queryRelayer(relayer, `SELECT * FROM ${table}`), table).toEqual([]);
    }
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(true);
    expect(await runDurableObjectAlarm(relayer.stub)).toBe(false);
  });
});
