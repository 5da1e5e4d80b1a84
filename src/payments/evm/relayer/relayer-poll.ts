// One turn of a relayer's loop: sends what is due, asks how far the chain is, and mends what stands still. It owns
// the order of these: one request with everything, then one synchronous write of what came back; what was mined is
// relayer-watch.ts's. It must not run twice at a time: relayer-loop.ts sees to that.

import type { Address, Hex } from "viem";
import type { Network } from "../../../config.ts";
import type { Clock } from "../../../platform/clock.ts";
import { log, logAlarm } from "../../../platform/log.ts";
import type { JsonRpc, RpcAnswer, RpcCall } from "../json-rpc.ts";
import { readCount, readSend } from "./relayer-answers.ts";
import type { RelayerGasAlarm } from "./relayer-gas-alarm.ts";
import {
  gapBelow,
  gasLimitFor,
  isOutbid,
  isStuck,
  RESEND_AFTER_MS,
  retryDelayMs,
  STUCK_AFTER_MS,
  UNCLEAR_REFUSALS_MAX,
} from "./relayer-lane.ts";
import type { RelayerReadings } from "./relayer-readings.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import type { IntentRow, SlotRow } from "./relayer-schema.ts";
import { signUnsigned } from "./relayer-signing.ts";
import type { DueSlot } from "./relayer-slot-rows.ts";
import { allocateAgain, feesOf, fillSlot, mendGap, raiseFee } from "./relayer-slots.ts";
import { watch } from "./relayer-watch.ts";

/** What a poll works with. All of it can be rebuilt from storage and configuration. */
export interface Lane {
  chainId: number;
  address: Address;
  /** Null once the operator took the key away: what is signed is still sent and watched, nothing new is signed. */
  key: Hex | null;
  network: Network;
  rows: RelayerRows;
  rpc: JsonRpc;
  readings: RelayerReadings;
  gasAlarm: RelayerGasAlarm;
  clock: Clock;
  view: ChainView;
}

/** What the last poll saw of the chain. */
export interface ChainView {
  /** Head; null before the first answer. */
  height: number | null;
  /**
   * The head at the last look at which every block asked for still stood: depth is counted up to it, since blocks that
   * came after one that vanished do not bury it. Null before the first such look.
   */
  standingHeight: number | null;
  /** Transactions of the account that are mined. */
  minedCount: number;
  watchedAtMs: number;
  /** Something passed or vanished and is not explained yet: look again soon, though no block came. */
  isUnresolved: boolean;
}

export interface PollReport {
  isAnswered: boolean;
  /** Receipts lie deeper than before. */
  hasDepthGrown: boolean;
  /** More was due than one request holds. */
  isMoreDue: boolean;
  /** Intents whose progress a waiting settlement should look at. */
  changedIntents: ReadonlySet<number>;
}

/** With the five questions that may come after them, one request of at most a hundred calls. */
const SENDS_PER_REQUEST = 95;
const LOOK_AGAIN_MS = 1_000;
const NO_MONEY_RETRY_MS = 5_000;
/** Work on intents that lost their slot, and on slots that stand still, per poll: both are rare. */
const MENDS_PER_POLL = 32;

export async function poll(lane: Lane): Promise<PollReport> {
  const { rows, view, readings } = lane;
  signUnsigned(lane);
  const due = rows.slots.due(lane.network.maxInFlight, lane.clock.nowMs(), SENDS_PER_REQUEST);
  const sends = due.map(({ raw }): RpcCall => ({ method: "eth_sendRawTransaction", params: [raw] }));
  const moneyCalls = readings.isOld && rows.hasWork() ? readings.moneyCalls() : [];
  const answers = await lane.rpc.batch([...sends, ...headCalls(lane), ...moneyCalls]);
  if (moneyCalls.length > 0) readings.absorb(answers.slice(-moneyCalls.length));
  rows.write(() => {
    for (const [index, slot] of due.entries()) applySend(lane, slot, answers[index]);
  });
  const changedIntents = new Set<number>();
  const isMoreDue = due.length === SENDS_PER_REQUEST;
  const height = readCount(answers[due.length]);
  const minedCount = readCount(answers[due.length + 1]);
  if (height === null || minedCount === null) {
    return { isAnswered: false, hasDepthGrown: false, isMoreDue: false, changedIntents };
  }
  const standingBefore = view.standingHeight;
  const hasMoved = height !== view.height || minedCount !== view.minedCount;
  view.height = height;
  view.minedCount = minedCount;
  if (hasMoved || (view.isUnresolved && lane.clock.nowMs() - view.watchedAtMs >= LOOK_AGAIN_MS)) {
    for (const intentId of await watch(lane, height)) changedIntents.add(intentId);
  }
  for (const intentId of await placeAgain(lane)) changedIntents.add(intentId);
  rows.write(() => mend(lane, height));
  const hasDepthGrown = view.standingHeight !== standingBefore;
  return { isAnswered: true, hasDepthGrown, isMoreDue, changedIntents };
}

/** After the sends, so that a chain that mines at once shows them mined in the same answer. */
function headCalls({ address }: Lane): RpcCall[] {
  return [
    { method: "eth_blockNumber", params: [] },
    { method: "eth_getTransactionCount", params: [address, "latest"] },
  ];
}

/** What became of one slot's newest bytes. Runs inside the poll's write. */
function applySend(lane: Lane, { nonce, version }: DueSlot, answer: RpcAnswer | undefined): void {
  const { rows, readings, clock, view } = lane;
  const slot = rows.slots.find(nonce);
  if (slot?.state !== "open" || rows.transactions.newest(nonce).version !== version) return;
  const nowMs = clock.nowMs();
  const verdict = answer ? readSend(answer) : "later";
  const tryAgain = () =>
    rows.slots.postpone(nonce, slot.failures + 1, nowMs + retryDelayMs(slot.failures + 1));
  switch (verdict) {
    case "accepted":
      rows.slots.markAccepted(nonce, nowMs, view.height, nowMs + RESEND_AFTER_MS);
      return;
    case "later":
      tryAgain();
      return;
    case "no_money":
      lane.gasAlarm.refused();
      readings.forgetMoney();
      rows.slots.postpone(nonce, slot.failures + 1, nowMs + NO_MONEY_RETRY_MS);
      return;
    case "nonce_passed":
      rows.slots.markPassed(nonce, nowMs);
      rows.slots.postpone(nonce, slot.failures, nowMs + RESEND_AFTER_MS);
      view.isUnresolved = true;
      return;
    case "underpriced":
      if (!raise(lane, nonce)) tryAgain();
      return;
    case "refused":
    case "unclear":
      if (verdict === "unclear" && slot.failures + 1 < UNCLEAR_REFUSALS_MAX) tryAgain();
      else if (!fill(lane, nonce)) tryAgain();
      return;
  }
}

function raise({ rows, readings, clock, key, chainId }: Lane, nonce: number): boolean {
  const suggested = readings.lastFees;
  if (key === null || suggested === null) return false;
  const isRaised = raiseFee(rows, nonce, suggested, clock.nowMs());
  if (isRaised) log("relayer_fee_raised", { chainId, nonce });
  return isRaised;
}

/** False where that cannot help: the filler itself is refused, or there is nothing to sign or price it with. */
function fill({ rows, readings, clock, key, chainId, address }: Lane, nonce: number): boolean {
  logAlarm("relayer_send_refused", { chainId, relayer: address, nonce });
  const suggested = readings.lastFees;
  if (key === null || suggested === null || rows.transactions.newest(nonce).kind === "filler") return false;
  fillSlot(rows, nonce, suggested, clock.nowMs());
  return true;
}

/** Gives intents without a slot a new one, or gives them up: dead authorization, or a call that would revert now. */
async function placeAgain(lane: Lane): Promise<number[]> {
  const intents = lane.key === null ? [] : lane.rows.intents.slotless(MENDS_PER_POLL);
  const decided = await Promise.all(intents.map((intent) => placeIntent(lane, intent)));
  return decided.flatMap((intentId) => intentId ?? []);
}

async function placeIntent(lane: Lane, intent: IntentRow): Promise<number | null> {
  const { rows, clock, chainId } = lane;
  const call = { to: intent.to_address, data: intent.data };
  const { readings, estimate } = await lane.readings.current(call);
  const nowMs = clock.nowMs();
  const isDead = nowMs / 1_000 >= intent.valid_before_seconds;
  const gas = estimate.kind === "gas" ? gasLimitFor(estimate.gas, BigInt(intent.gas_cap)) : null;
  return rows.write(() => {
    if (rows.intents.get(intent.id).state !== "slotless") return null;
    if (isDead || estimate.kind === "reverts" || (estimate.kind === "gas" && gas === null)) {
      rows.intents.setState(intent.id, "abandoned");
      log("relayer_abandoned", { chainId, settlementId: intent.settlement_id, step: intent.step });
      return intent.id;
    }
    if (readings === null || gas === null) return null;
    allocateAgain(rows, intent.id, { gas, fees: readings.fees }, readings.nonces, nowMs);
    return intent.id;
  });
}

/** Looks for what stands still: a gap below the lowest slot, or fees that the market has left behind. */
function mend(lane: Lane, height: number): void {
  const { rows, view, clock, readings, key, chainId, address } = lane;
  const fees = readings.lastFees;
  if (key === null || fees === null) return;
  const nowMs = clock.nowMs();
  const isOverdue = ({ nonce, accepted_at_ms, accepted_height }: SlotRow) =>
    isStuck(
      { nonce, acceptedAtMs: accepted_at_ms ?? nowMs, acceptedHeight: accepted_height ?? height },
      height,
      nowMs,
    );
  const lowest = rows.slots.lowestOpen();
  if (lowest === undefined || !isOverdue(lowest)) return;
  const mended = gapBelow(lowest.nonce, view.minedCount).filter((nonce) => mendGap(rows, nonce, fees, nowMs));
  if (mended.length > 0) logAlarm("relayer_gap", { chainId, relayer: address, nonce: view.minedCount });
  const waiting = rows.slots.acceptedBefore(nowMs - STUCK_AFTER_MS, MENDS_PER_POLL);
  for (const { nonce } of waiting.filter(isOverdue)) {
    const isNext = nonce === view.minedCount;
    if (isNext || isOutbid(feesOf(rows.transactions.newest(nonce)), fees)) raise(lane, nonce);
  }
}
