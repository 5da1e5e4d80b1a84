// What a relayer's loop learns from receipts: what was mined, what vanished in a reorg, what a stranger took, what is
// final. It owns that judgement over one request's answers; relayer-slots.ts makes the changes.

import type { Hex } from "viem";
import { log, logAlarm } from "../../../platform/log.ts";
import type { RpcAnswer, RpcCall } from "../json-rpc.ts";
import { type ReceiptReading, readHeaderField, readReceipt } from "./relayer-answers.ts";
import { finalHeight } from "./relayer-lane.ts";
import type { Lane } from "./relayer-poll.ts";
import type { MinedReceipt } from "./relayer-port.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import type { BlockRow, SlotRow } from "./relayer-schema.ts";
import { finalize, loseSlot, recordReceipt, reopenSlot } from "./relayer-slots.ts";

/** A full block of ours; more wait for the next poll. */
const PASSED_PER_WATCH = 300;
const LOST_PER_WATCH = 16;
const BLOCKS_PER_WATCH = 50;
const FINAL_PER_WATCH = 1_000;
/** Nodes behind one URL differ by a block or two: what one of them does not know may only be late. */
const LAG_PATIENCE_MS = 3_000;
/** A head below a block we saw is almost always a node that lags; a chain that stays shorter is believed after this. */
const SHORT_CHAIN_PATIENCE_MS = 30_000;
const RESEND_PASSED_MS = 1_000;

interface Asked {
  /** Open slots that the chain is past, and slots given to strangers, with their hashes. */
  slots: { slot: SlotRow; hashes: Hex[] }[];
  blocks: BlockRow[];
}

/** Asks for receipts and judges them. Answers the intents whose progress changed. */
export async function watch(lane: Lane, height: number): Promise<Set<number>> {
  const { rows, view, readings, network } = lane;
  const changed = new Set<number>();
  view.watchedAtMs = lane.clock.nowMs();
  view.isUnresolved = false;
  if (rows.slots.lowestOpen() === undefined && !rows.slots.hasUnfinal()) {
    view.standingHeight = height;
    return changed;
  }
  const asked = whatToAsk(rows, view.minedCount);
  const receiptCalls = [
    ...asked.slots.flatMap(({ hashes }) => hashes.map(receiptCall)),
    ...asked.blocks.map(({ witness }) => receiptCall(witness)),
  ];
  const finalCalls = network.finalityBlocks === null && rows.slots.hasUnfinal() ? [FINALIZED_CALL] : [];
  // Fees and balance ride along, so that the next submits find them fresh; alone they are not worth a request.
  const moneyCalls = receiptCalls.length > 0 ? readings.moneyCalls() : [];
  const answers = await lane.rpc.batch([...moneyCalls, ...finalCalls, ...receiptCalls]);
  const next = takeFrom(answers);
  readings.absorb(moneyCalls.map(next));
  const finalized = readHeaderField(finalCalls.map(next)[0], "number");
  const slotReadings = asked.slots.map(({ hashes }) => hashes.map((hash) => readReceipt(next(), hash)));
  const witnessReadings = asked.blocks.map(({ witness }) => readReceipt(next(), witness));

  // A block that does not answer for itself may be gone, and with it all above it and some below.
  const areStanding = asked.blocks.every((block, index) => stands(block, witnessReadings[index]));
  const goneBlocks = rows.write(() => judgeBlocks(lane, asked.blocks, witnessReadings, height));
  if (goneBlocks.length > 0) await reviseBlocks(lane, goneBlocks, changed);
  rows.write(() => {
    const lowestDoubted = rows.blocks.lowestUnchecked();
    for (const [index, { slot }] of asked.slots.entries()) {
      judgeSlot(lane, slot.nonce, slotReadings[index] ?? [], height, changed);
    }
    if (!areStanding) return;
    view.standingHeight = height;
    const final = finalHeight(network.finalityBlocks, height, finalized === null ? null : Number(finalized));
    if (final === null) return;
    const upTo = lowestDoubted === null ? final : Math.min(final, lowestDoubted - 1);
    const slots = finalize(rows, upTo, FINAL_PER_WATCH, lane.clock.nowMs());
    for (const { intent_id } of slots) if (intent_id !== null) changed.add(intent_id);
  });
  return changed;
}

function whatToAsk(rows: RelayerRows, minedCount: number): Asked {
  const slots = [...rows.slots.passed(minedCount, PASSED_PER_WATCH), ...rows.slots.lost(LOST_PER_WATCH)];
  return {
    slots: slots.map((slot) => ({ slot, hashes: allHashes(rows, slot.nonce) })),
    blocks: rows.blocks.toCheck(BLOCKS_PER_WATCH),
  };
}

const FINALIZED_CALL: RpcCall = { method: "eth_getBlockByNumber", params: ["finalized", false] };

function receiptCall(hash: Hex): RpcCall {
  return { method: "eth_getTransactionReceipt", params: [hash] };
}

function takeFrom(answers: readonly RpcAnswer[]): () => RpcAnswer {
  let position = 0;
  return () => answers[position++] ?? { ok: false, kind: "unanswered" };
}

/** Fillers included: whatever has the slot's nonce frees it. */
function allHashes(rows: RelayerRows, nonce: number): Hex[] {
  return rows.transactions.ofNonce(nonce).flatMap(({ hash }) => hash ?? []);
}

/** What is known now of a slot that the chain is past. Runs inside the watch's write. */
function judgeSlot(
  lane: Lane,
  nonce: number,
  readings: ReceiptReading[],
  height: number,
  changed: Set<number>,
): void {
  const { rows, view, chainId } = lane;
  const slot = rows.slots.find(nonce);
  if (slot === undefined || (slot.state !== "open" && slot.state !== "lost")) return;
  const receipt = minedAmong(readings);
  if (receipt) {
    recordReceipt(rows, slot, receipt);
    log("relayer_mined", { chainId, nonce, transaction: receipt.hash, status: receipt.status });
    if (slot.intent_id !== null) changed.add(slot.intent_id);
    return;
  }
  if (slot.state === "lost") return;
  view.isUnresolved = true;
  const isAllAbsent = readings.every(({ kind }) => kind === "absent");
  if (nonce < view.minedCount && isAllAbsent) judgeTakenSlot(lane, slot, height, changed);
}

/**
 * The chain counts past this nonce and knows none of our hashes. Two things must agree before it is called a
 * stranger's: the count, and a node's refusal of our bytes for their nonce some seconds ago.
 */
function judgeTakenSlot(lane: Lane, slot: SlotRow, height: number, changed: Set<number>): void {
  const { rows, readings, chainId, address, clock } = lane;
  const nowMs = clock.nowMs();
  if (slot.passed_at_ms === null) {
    rows.slots.sendBy(slot.nonce, nowMs + RESEND_PASSED_MS);
    return;
  }
  if (nowMs - slot.passed_at_ms < LAG_PATIENCE_MS) return;
  logAlarm("relayer_account_used_elsewhere", { chainId, relayer: address, nonce: slot.nonce });
  loseSlot(rows, slot, height);
  readings.forgetNonces();
  if (slot.intent_id !== null) changed.add(slot.intent_id);
}

function minedAmong(readings: readonly ReceiptReading[]): MinedReceipt | undefined {
  for (const reading of readings) if (reading.kind === "mined") return reading.receipt;
  return undefined;
}

function stands(block: BlockRow, reading: ReceiptReading | undefined): boolean {
  return reading?.kind === "mined" && reading.receipt.blockHash === block.hash;
}

/** Which noted blocks still stand. Answers those that do not. */
function judgeBlocks(
  { rows, view, clock }: Lane,
  blocks: BlockRow[],
  readings: ReceiptReading[],
  height: number,
): BlockRow[] {
  const nowMs = clock.nowMs();
  return blocks.filter((block, index) => {
    const reading = readings[index];
    if (reading?.kind === "mined") {
      if (reading.receipt.blockHash !== block.hash) return true;
      rows.blocks.markChecked(block.number);
      return false;
    }
    view.isUnresolved = true;
    if (reading?.kind !== "absent") return false;
    rows.blocks.markMissing(block.number, nowMs);
    const patienceMs = height < block.number ? SHORT_CHAIN_PATIENCE_MS : LAG_PATIENCE_MS;
    return block.missing_since_ms !== null && nowMs - block.missing_since_ms >= patienceMs;
  });
}

/** A reorg: every slot of these blocks is asked for again, and is mined elsewhere or open once more. */
async function reviseBlocks(lane: Lane, blocks: BlockRow[], changed: Set<number>): Promise<void> {
  const { rows, view, chainId, address, clock } = lane;
  view.isUnresolved = true;
  for (const block of blocks) {
    const slots = rows.slots.minedIn(block.number);
    const hashes = slots.map(({ nonce }) => allHashes(rows, nonce));
    const next = takeFrom(await lane.rpc.batch(hashes.flat().map(receiptCall)));
    const readings = hashes.map((ofSlot) => ofSlot.map((hash) => readReceipt(next(), hash)));
    if (readings.flat().some(({ kind }) => kind === "unanswered")) continue;
    logAlarm("relayer_reorg", { chainId, relayer: address, block: block.number, slots: slots.length });
    rows.write(() => {
      rows.blocks.remove(block.number);
      rows.blocks.doubtAll();
      for (const [index, { nonce, intent_id }] of slots.entries()) {
        const slot = rows.slots.find(nonce);
        if (slot?.state !== "mined" || slot.block_number !== block.number) continue;
        const receipt = minedAmong(readings[index] ?? []);
        reopenSlot(rows, slot, clock.nowMs());
        if (receipt) recordReceipt(rows, slot, receipt);
        if (intent_id !== null) changed.add(intent_id);
      }
    });
  }
}
