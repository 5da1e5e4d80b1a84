// RelayerObject and a node that refuses, forgets, lies, lags or reorganises: no hash is lost, no nonce is burnt, and
// every step ends. The calls stand for settlements; what settlements make of it is theirs.

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { StepProgress, SubmitRequest } from "../../src/payments/evm/relayer/relayer-port.ts";
import { dropTransaction, mine, revertTo, rpc, send, snapshot, stopMining } from "../support/chain.ts";
import type { Action } from "../support/rpc-proxy-client.ts";
import {
  aSubmit,
  calm,
  crash,
  eventually,
  minedCount,
  moveTime,
  nextRelayer,
  queryRelayer,
  sentCount,
  startRelayerChain,
  type TestRelayer,
} from "./relayer-lab.ts";

const WAIT_MS = 12_000;
const SEND = "eth_sendRawTransaction";

const chain = await startRelayerChain();
beforeEach(() => calm(chain));

/** Submits and answers the hash. */
async function submitted(relayer: TestRelayer, request: SubmitRequest): Promise<string> {
  const answer = await relayer.stub.submit(request);
  if (!answer.ok) throw new Error(answer.reason);
  return answer.hash;
}

async function waitFor(relayer: TestRelayer, { settlementId, attempt }: SubmitRequest, waitMs = WAIT_MS) {
  const steps: StepProgress[] = await relayer.stub.waitFor(settlementId, attempt, 1, waitMs);
  const [step] = steps;
  if (step === undefined) throw new Error("the step is unknown");
  return step;
}

/** A relayer whose nonces and fees are read, so that the next submit reads nothing. */
async function warmRelayer(): Promise<TestRelayer> {
  const relayer = await nextRelayer(chain);
  const first = aSubmit();
  await submitted(relayer, first);
  await waitFor(relayer, first);
  return relayer;
}

function sendRefusal(message: string, code = -32000): Action {
  return { do: "error", error: { code, message } };
}

async function alarmsDuring(work: () => Promise<void>): Promise<string[]> {
  const spy = vi.spyOn(console, "error");
  try {
    await work();
    return spy.mock.calls.map(([line]) => (JSON.parse(String(line)) as { event: string }).event);
  } finally {
    spy.mockRestore();
  }
}

function feesOf(relayer: TestRelayer, nonce: number) {
  return queryRelayer<{ kind: string; max_fee: string; priority_fee: string; hash: string }>(
    relayer,
    `SELECT kind, max_fee, priority_fee, hash FROM transactions WHERE nonce = ${nonce} ORDER BY version`,
  );
}

describe("C17: the relayer's nonce is never the payer's problem", () => {
  it("C17: two in parallel, then sends that fail with 429, then a third: all are mined", async () => {
    const relayer = await nextRelayer(chain);
    const [first, second, third, fourth] = [aSubmit(), aSubmit(), aSubmit(), aSubmit()];
    await Promise.all([submitted(relayer, first), submitted(relayer, second)]);
    await Promise.all([waitFor(relayer, first), waitFor(relayer, second)]);
    await chain.proxy.addRule({ method: SEND, action: { do: "status", status: 429 }, times: 6 });
    const hash = await submitted(relayer, third);
    await submitted(relayer, fourth);
    const steps = await Promise.all([waitFor(relayer, third), waitFor(relayer, fourth)]);
    expect(steps.map(({ receipt }) => receipt?.status)).toEqual(["success", "success"]);
    expect(steps[0]?.hashes).toEqual([hash]);
    expect(await minedCount(chain, relayer.address)).toBe(4);
  });

  it("C17: nonce too low because ours was mined and the answer was lost", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: { do: "forward_then_drop" }, times: 1 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    const alarms = await alarmsDuring(async () => {
      expect((await waitFor(relayer, request)).receipt).toMatchObject({ hash, status: "success" });
    });
    expect(alarms).toEqual([]);
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });

  it("C17: nonce too low because the account is used elsewhere: an alarm, a new slot, both hashes kept", async () => {
    const relayer = await warmRelayer();
    await rpc(chain.rpcUrl, "anvil_impersonateAccount", [relayer.address]);
    await send(chain.rpcUrl, { from: relayer.address, to: relayer.address });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    const alarms = await alarmsDuring(async () => {
      const step = await waitFor(relayer, request);
      expect(step.hashes).toHaveLength(2);
      expect(step.hashes[0]).toBe(hash);
      expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
    });
    expect(alarms).toEqual(["relayer_account_used_elsewhere"]);
    expect(await minedCount(chain, relayer.address)).toBe(3);
  });

  it("C17: a node that says nonce too low without reason moves nothing", async () => {
    const relayer = await warmRelayer();
    await stopMining(chain.rpcUrl);
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("nonce too low"), times: 1 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request, 4_500);
    await moveTime(relayer, 16_000);
    const waiting = waitFor(relayer, request);
    await eventually("the same bytes are sent", async () => (await sentCount(chain, relayer.address)) === 2);
    await mine(chain.rpcUrl);
    expect(await waiting).toMatchObject({ hashes: [hash], receipt: { hash, status: "success" } });
  });

  it.each(["replacement transaction underpriced", "max fee per gas less than block base fee"])(
    "C17: %s: a higher fee with the same nonce, both hashes kept",
    async (message) => {
      const relayer = await warmRelayer();
      await chain.proxy.addRule({ method: SEND, action: sendRefusal(message), times: 1 });
      const request = aSubmit();
      const hash = await submitted(relayer, request);
      const step = await waitFor(relayer, request);
      expect(step.hashes).toHaveLength(2);
      expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
      const [before, after] = await feesOf(relayer, 1);
      expect(before?.hash).toBe(hash);
      expect(BigInt(after?.max_fee ?? 0) * 8n).toBeGreaterThanOrEqual(BigInt(before?.max_fee ?? 0) * 9n);
      expect(BigInt(after?.priority_fee ?? 0) * 8n).toBeGreaterThanOrEqual(
        BigInt(before?.priority_fee ?? 0) * 9n,
      );
      expect(await minedCount(chain, relayer.address)).toBe(2);
    },
  );

  it("C17: underpriced after a crash: the fees are read again, and raised", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: { do: "status", status: 503 } });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await crash(relayer);
    await chain.proxy.clearRules();
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("transaction underpriced"), times: 1 });
    const step = await waitFor(relayer, request);
    expect(step.hashes).toHaveLength(2);
    expect(step.hashes[0]).toBe(hash);
    expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
  });

  it("C17: a stranger's transaction with our nonce in the pool is outbid by what the node asks for", async () => {
    const relayer = await warmRelayer();
    await stopMining(chain.rpcUrl);
    await rpc(chain.rpcUrl, "anvil_impersonateAccount", [relayer.address]);
    await send(chain.rpcUrl, { from: relayer.address, to: relayer.address });
    const request = aSubmit();
    await submitted(relayer, request);
    const waiting = waitFor(relayer, request);
    await eventually("ours is in the pool", async () => {
      const { hashes } = await waitFor(relayer, request, 0);
      const found = await rpc(chain.rpcUrl, "eth_getTransactionByHash", [hashes.at(-1)]);
      return found !== null;
    });
    await mine(chain.rpcUrl);
    expect((await waiting).receipt).toMatchObject({ status: "success" });
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });

  it("C17: already known counts as sent, and what the node lost all the same is sent again as the same bytes", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("already known"), times: 1 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request, 1_000);
    expect(await sentCount(chain, relayer.address)).toBe(1);
    await moveTime(relayer, 16_000);
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
  });

  it("C17: a node that forgets its pool gets the same bytes again", async () => {
    const relayer = await warmRelayer();
    await stopMining(chain.rpcUrl);
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await eventually("it is out", async () => (await sentCount(chain, relayer.address)) === 2);
    await dropTransaction(chain.rpcUrl, hash as `0x${string}`);
    await moveTime(relayer, 16_000);
    const waiting = waitFor(relayer, request);
    await eventually("it is out again", async () => (await sentCount(chain, relayer.address)) === 2);
    await mine(chain.rpcUrl);
    expect(await waiting).toMatchObject({ hashes: [hash], receipt: { hash } });
  });

  it("C17: stuck while blocks go by: a higher fee with the same nonce", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: { do: "swallow" } });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request, 600);
    await mine(chain.rpcUrl, 3);
    await moveTime(relayer, 31_000);
    await eventually("the fee is raised", async () => {
      await waitFor(relayer, request, 300);
      return (await feesOf(relayer, 1)).length === 2;
    });
    await chain.proxy.clearRules();
    await moveTime(relayer, 60_000);
    const step = await waitFor(relayer, request);
    expect(step.hashes).toHaveLength(2);
    expect(step.hashes[0]).toBe(hash);
    expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
  });

  it("C17: a gap below our lowest nonce is filled", async () => {
    const relayer = await nextRelayer(chain);
    await chain.proxy.addRule({
      method: "eth_getTransactionCount",
      paramsInclude: "pending",
      action: { do: "answer", result: "0x3" },
      times: 1,
    });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request, 600);
    await mine(chain.rpcUrl, 3);
    await moveTime(relayer, 31_000);
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { status: "success" } });
    expect(await minedCount(chain, relayer.address)).toBe(4);
  });

  it("C17: no gas money at the node: the same bytes later, no slot burnt", async () => {
    const relayer = await warmRelayer();
    const refusal = sendRefusal("insufficient funds for gas * price + value");
    await chain.proxy.addRule({ method: SEND, action: refusal, times: 1 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    const alarms = await alarmsDuring(async () => {
      await waitFor(relayer, request, 600);
    });
    expect(alarms).toEqual(["relayer_no_gas"]);
    await moveTime(relayer, 6_000);
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
  });
});

describe("C17: a call that the node refuses for good", () => {
  async function refusedRelayer(request: SubmitRequest): Promise<TestRelayer> {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("intrinsic gas too low"), times: 1 });
    await submitted(relayer, request);
    await eventually("a filler is mined", async () => (await minedCount(chain, relayer.address)) === 2);
    return relayer;
  }

  it("C17: gives its slot to a filler and, once that is final, gets a new one under the same step", async () => {
    const request = aSubmit();
    const relayer = await refusedRelayer(request);
    const before = await waitFor(relayer, request, 600);
    expect(before).toMatchObject({ receipt: null, isFinal: false, isAbandoned: false });
    expect(before.hashes).toHaveLength(1);
    expect((await feesOf(relayer, 1)).map(({ kind }) => kind)).toEqual(["call", "filler"]);
    const waiting = waitFor(relayer, request);
    await mine(chain.rpcUrl, 3);
    const step = await waiting;
    expect(step.hashes).toHaveLength(2);
    expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
    expect(await minedCount(chain, relayer.address)).toBe(3);
  });

  it("C17: is given up once the filler is final and the authorization is dead", async () => {
    const request = aSubmit();
    const relayer = await refusedRelayer(request);
    await moveTime(relayer, 4_000_000);
    const waiting = waitFor(relayer, request);
    await mine(chain.rpcUrl, 3);
    expect(await waiting).toMatchObject({ receipt: null, isAbandoned: true });
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });

  it("C17: is given up when it would revert by now", async () => {
    const request = aSubmit();
    const relayer = await refusedRelayer(request);
    const error = { code: 3, message: "execution reverted", data: "0x08c379a0" };
    await chain.proxy.addRule({ method: "eth_estimateGas", action: { do: "error", error } });
    const waiting = waitFor(relayer, request);
    await mine(chain.rpcUrl, 3);
    expect(await waiting).toMatchObject({ receipt: null, isAbandoned: true });
  });

  it("C17: in words nobody knows, is tried again first and gets a filler in the end", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("flux capacitor empty"), times: 8 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    let aheadMs = 0;
    await eventually("a filler is out", async () => {
      await waitFor(relayer, request, 300);
      aheadMs += 9_000;
      await moveTime(relayer, aheadMs);
      return (await feesOf(relayer, 1)).length === 2;
    });
    const waiting = waitFor(relayer, request);
    await eventually("the filler is mined", async () => (await minedCount(chain, relayer.address)) === 2);
    await mine(chain.rpcUrl, 3);
    const step = await waiting;
    expect(step.hashes[0]).toBe(hash);
    expect(step.receipt).toMatchObject({ hash: step.hashes[1], status: "success" });
  });
});

describe("a node that lies, lags or says nothing", () => {
  it("believes no receipt of another transaction", async () => {
    const relayer = await warmRelayer();
    const other = (await feesOf(relayer, 0))[0]?.hash;
    const receipt = await rpc(chain.rpcUrl, "eth_getTransactionReceipt", [other]);
    const request = aSubmit();
    const lie: Action = { do: "answer", result: receipt };
    await chain.proxy.addRule({ method: "eth_getTransactionReceipt", action: lie });
    const hash = await submitted(relayer, request);
    expect((await waitFor(relayer, request, 1_500)).receipt).toBeNull();
    await chain.proxy.clearRules();
    expect((await waitFor(relayer, request)).receipt?.hash).toBe(hash);
  });

  it("gives no slot away for a nonce count that is too high", async () => {
    const relayer = await warmRelayer();
    await stopMining(chain.rpcUrl);
    const lie: Action = { do: "answer", result: "0x64" };
    await chain.proxy.addRule({ method: "eth_getTransactionCount", paramsInclude: "latest", action: lie });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    expect(await waitFor(relayer, request, 5_000)).toMatchObject({ hashes: [hash], receipt: null });
    await chain.proxy.clearRules();
    const waiting = waitFor(relayer, request);
    await mine(chain.rpcUrl);
    expect(await waiting).toMatchObject({ hashes: [hash], receipt: { hash } });
  });

  it("follows a node that lags by a block", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ action: { do: "lag", blocks: 1 } });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    expect((await waitFor(relayer, request, 1_000)).receipt).toBeNull();
    const alarms = await alarmsDuring(async () => {
      const waiting = waitFor(relayer, request);
      await mine(chain.rpcUrl);
      expect(await waiting).toMatchObject({ hashes: [hash], receipt: { hash } });
    });
    expect(alarms).toEqual([]);
  });

  it("does not take a node that falls behind for a reorg", async () => {
    const relayer = await warmRelayer();
    const request = aSubmit();
    await submitted(relayer, request);
    await waitFor(relayer, request);
    await chain.proxy.addRule({ action: { do: "lag", blocks: 1 } });
    const alarms = await alarmsDuring(async () => {
      const deep = relayer.stub.waitFor(request.settlementId, request.attempt, 3, 5_000);
      expect((await deep)[0]?.receipt).not.toBeNull();
    });
    expect(alarms).toEqual([]);
  });

  it.each<[string, Action]>([
    ["cuts the connection", { do: "drop" }],
    ["answers nothing for the call", { do: "omit" }],
    ["answers twice", { do: "twice" }],
    ["takes the call and loses the answer", { do: "forward_then_drop" }],
    ["takes the call and never answers", { do: "forward_then_hold" }],
    ["answers 503", { do: "status", status: 503 }],
  ])("sends once and settles when the node %s", async (_, action) => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action, times: 5 });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
    await chain.proxy.clearRules();
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });

  it("takes up after a node that was away, with nothing lost", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ action: { do: "status", status: 502 } });
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    expect((await waitFor(relayer, request, 3_000)).receipt).toBeNull();
    await crash(relayer);
    await chain.proxy.clearRules();
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
  });
});

describe("a reorg", () => {
  it("sends the vanished transactions again as the same bytes", async () => {
    const relayer = await warmRelayer();
    const before = await snapshot(chain.rpcUrl);
    const [first, second] = [aSubmit(), aSubmit()];
    const hashes = [await submitted(relayer, first), await submitted(relayer, second)];
    await waitFor(relayer, first);
    await waitFor(relayer, second);
    await revertTo(chain.rpcUrl, before);
    await mine(chain.rpcUrl, 2);
    expect(await minedCount(chain, relayer.address)).toBe(1);
    const alarms = await alarmsDuring(async () => {
      await eventually("both are mined again", async () => {
        await relayer.stub.waitFor(first.settlementId, first.attempt, 9, 300);
        return (await minedCount(chain, relayer.address)) === 3;
      });
      await eventually("the receipts are those of the chain", async () => {
        await relayer.stub.waitFor(first.settlementId, first.attempt, 9, 300);
        return (await waitFor(relayer, second, 0)).receipt !== null;
      });
    });
    expect(alarms).toContain("relayer_reorg");
    for (const [index, request] of [first, second].entries()) {
      const step = await waitFor(relayer, request);
      expect(step.hashes).toEqual([hashes[index]]);
      const receipt = await rpc<{ blockHash: string }>(chain.rpcUrl, "eth_getTransactionReceipt", [
        hashes[index],
      ]);
      expect(step.receipt).toMatchObject({ hash: hashes[index], blockHash: receipt.blockHash });
    }
  });

  it("is believed of a chain that stays shorter, though a node that lags looks the same at first", async () => {
    const relayer = await warmRelayer();
    const before = await snapshot(chain.rpcUrl);
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request);
    await revertTo(chain.rpcUrl, before);
    const deep = (waitMs: number) => relayer.stub.waitFor(request.settlementId, request.attempt, 9, waitMs);
    expect((await deep(4_000))[0]?.receipt).not.toBeNull();
    await moveTime(relayer, 31_000);
    await eventually("it is mined again", async () => {
      await deep(300);
      return (await minedCount(chain, relayer.address)) === 2;
    });
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
  });

  it("is seen by the alarm when nobody waits", async () => {
    const relayer = await warmRelayer();
    const before = await snapshot(chain.rpcUrl);
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    await waitFor(relayer, request);
    await crash(relayer);
    await revertTo(chain.rpcUrl, before);
    await mine(chain.rpcUrl, 3);
    await eventually("it is mined again", async () => {
      await runDurableObjectAlarm(relayer.stub);
      return (await minedCount(chain, relayer.address)) === 2;
    });
    expect(await waitFor(relayer, request)).toMatchObject({ hashes: [hash], receipt: { hash } });
  });

  it("takes over the new block of a transaction that only moved", async () => {
    const relayer = await warmRelayer();
    const before = await snapshot(chain.rpcUrl);
    const request = aSubmit();
    const hash = await submitted(relayer, request);
    const old = (await waitFor(relayer, request)).receipt;
    await chain.proxy.addRule({ action: { do: "status", status: 503 } });
    const raw = (
      await queryRelayer<{ raw: string }>(relayer, "SELECT raw FROM transactions WHERE nonce = 1")
    )[0];
    await revertTo(chain.rpcUrl, before);
    await mine(chain.rpcUrl);
    await rpc(chain.rpcUrl, SEND, [raw?.raw]);
    await chain.proxy.clearRules();
    await eventually("the new block is known", async () => {
      await relayer.stub.waitFor(request.settlementId, request.attempt, 9, 300);
      const { receipt } = await waitFor(relayer, request, 0);
      return receipt !== null && receipt.blockHash !== old?.blockHash;
    });
    expect((await waitFor(relayer, request)).receipt?.hash).toBe(hash);
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });
});

describe("a node without measure", () => {
  // Last: it leaves a chain whose node suggests high tips, having seen ours.
  it("C17: a node that calls every fee too low does not bid us up without end", async () => {
    const relayer = await warmRelayer();
    await chain.proxy.addRule({ method: SEND, action: sendRefusal("transaction underpriced") });
    const request = aSubmit();
    await submitted(relayer, request);
    await waitFor(relayer, request, 8_000);
    const versions = await feesOf(relayer, 1);
    const [first, last] = [versions[0], versions.at(-1)];
    expect(versions.length).toBeGreaterThan(3);
    expect(BigInt(last?.max_fee ?? 0)).toBeLessThanOrEqual(12n * BigInt(first?.max_fee ?? 0));
    await chain.proxy.clearRules();
    await moveTime(relayer, 9_000);
    expect((await waitFor(relayer, request)).receipt?.status).toBe("success");
    expect(await minedCount(chain, relayer.address)).toBe(2);
  });
});
