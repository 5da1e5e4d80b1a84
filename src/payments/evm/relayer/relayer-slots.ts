// What may happen to a slot and to the intent in it, as synchronous changes of storage:
//
//   intent   waiting -> mined                                     its call is on the chain
//            waiting -> slotless -> waiting | abandoned           its slot went to a filler or to a stranger
//   slot     open -> mined -> final,  open -> lost -> final,  mined | lost -> open when a reorg gives it back
//
// A slot is freed only by a mined transaction with its nonce, and every hash it ever had stays recorded. It owns the
// order of these changes; callers wrap them in one write.

import { assert } from "../../../platform/assert.ts";
import type { NewIntent } from "./relayer-intent-rows.ts";
import { type ChainNonces, costGwei, type Fees, nextNonce, raiseFees } from "./relayer-lane.ts";
import type { MinedReceipt } from "./relayer-port.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import type { SlotRow, TransactionKind, TransactionRow } from "./relayer-schema.ts";

/**
 * A filler sends nothing to the relayer itself. A plain transfer takes 21,000 gas; chains that charge calldata as gas
 * take more, and what is not used is not paid.
 */
const FILLER_GAS = 100_000n;

export interface Offer {
  gas: bigint;
  fees: Fees;
}

/** The allocation: from here on this call will be sent with this nonce. Answers the nonce. */
export function allocate(
  rows: RelayerRows,
  intent: NewIntent,
  offer: Offer,
  chain: ChainNonces,
  nowMs: number,
): number {
  return openSlot(rows, rows.intents.add(intent), offer, chain, nowMs);
}

/** A new slot for an intent that lost its old one; the old hashes stay recorded. */
export function allocateAgain(
  rows: RelayerRows,
  intentId: number,
  offer: Offer,
  chain: ChainNonces,
  nowMs: number,
): void {
  rows.intents.setState(intentId, "waiting");
  openSlot(rows, intentId, offer, chain, nowMs);
}

function openSlot(
  rows: RelayerRows,
  intentId: number,
  { gas, fees }: Offer,
  chain: ChainNonces,
  nowMs: number,
): number {
  const nonce = nextNonce(rows.nextNonce(), chain);
  rows.setNextNonce(nonce + 1);
  rows.slots.add(nonce, intentId, costGwei(gas, fees), nowMs);
  rows.transactions.add(nonce, "call", gas, fees);
  return nonce;
}

/** The same call or filler with a higher fee. False when the fee is already as high as it may get. */
export function raiseFee(rows: RelayerRows, nonce: number, suggested: Fees, nowMs: number): boolean {
  const newest = rows.transactions.newest(nonce);
  const fees = raiseFees(feesOf(newest), suggested);
  if (fees === null) return false;
  replace(rows, nonce, newest.kind, { gas: BigInt(newest.gas), fees }, nowMs);
  return true;
}

/** A filler takes the slot of a call that the node refuses for good. */
export function fillSlot(rows: RelayerRows, nonce: number, suggested: Fees, nowMs: number): void {
  const previous = feesOf(rows.transactions.newest(nonce));
  const fees = raiseFees(previous, suggested) ?? previous;
  replace(rows, nonce, "filler", { gas: FILLER_GAS, fees }, nowMs);
}

/**
 * Mends a nonce that the chain waits for and nothing of ours fills: a slot given to a stranger whose transaction is
 * gone again takes its own bytes back, an unknown nonce gets a filler. False when the slot is taken after all and the
 * node's count is merely old.
 */
export function mendGap(rows: RelayerRows, nonce: number, fees: Fees, nowMs: number): boolean {
  const slot = rows.slots.find(nonce);
  if (slot === undefined) {
    rows.slots.add(nonce, null, costGwei(FILLER_GAS, fees), nowMs);
    rows.transactions.add(nonce, "filler", FILLER_GAS, fees);
    return true;
  }
  if (slot.state !== "lost") return false;
  reopenSlot(rows, slot, nowMs);
  return true;
}

function replace(
  rows: RelayerRows,
  nonce: number,
  kind: TransactionKind,
  { gas, fees }: Offer,
  nowMs: number,
) {
  rows.transactions.add(nonce, kind, gas, fees);
  rows.slots.reprice(nonce, costGwei(gas, fees), nowMs);
}

/** One of the slot's hashes is on the chain, in this block. */
export function recordReceipt(rows: RelayerRows, slot: SlotRow, receipt: MinedReceipt): void {
  const mined = rows.transactions.ofNonce(slot.nonce).find(({ hash }) => hash === receipt.hash);
  assert(mined, `a receipt of slot ${slot.nonce} is of one of its hashes`);
  const blockNumber = Number(receipt.blockNumber);
  rows.slots.markMined(slot.nonce, blockNumber, mined.kind, writeReceipt(receipt));
  rows.blocks.note(blockNumber, receipt.blockHash, receipt.hash);
  if (slot.intent_id !== null && mined.kind === "call") rows.intents.setState(slot.intent_id, "mined");
}

/** The receipt is gone from the chain: the same bytes are sent again. */
export function reopenSlot(rows: RelayerRows, slot: SlotRow, nowMs: number): void {
  rows.slots.markOpen(slot.nonce, nowMs);
  if (slot.intent_id === null || slot.mined_kind !== "call") return;
  const isMinedElsewhere = rows.slots
    .ofIntent(slot.intent_id)
    .some(({ state, mined_kind }) => state !== "open" && mined_kind === "call");
  if (!isMinedElsewhere) rows.intents.setState(slot.intent_id, "waiting");
}

/** A transaction that is none of ours took this nonce: the intent needs another slot. */
export function loseSlot(rows: RelayerRows, slot: SlotRow, height: number): void {
  rows.slots.markLost(slot.nonce, height);
  releaseIntent(rows, slot);
}

/** Everything at or below this height is final. Answers the slots that became so, at most `limit` of them. */
export function finalize(rows: RelayerRows, height: number, limit: number, nowMs: number): SlotRow[] {
  const slots = rows.slots.finalizable(height, limit);
  for (const slot of slots) {
    rows.slots.markFinal(slot.nonce, nowMs);
    if (slot.state === "mined" && slot.mined_kind === "filler") releaseIntent(rows, slot);
  }
  if (slots.length < limit) rows.blocks.removeUpTo(height);
  return slots;
}

/** The intent waits for this slot alone and will not get it. */
function releaseIntent(rows: RelayerRows, slot: SlotRow): void {
  if (slot.intent_id === null || rows.intents.get(slot.intent_id).state !== "waiting") return;
  const hasOther = rows.slots
    .ofIntent(slot.intent_id)
    .some(({ nonce, state }) => nonce !== slot.nonce && state === "open");
  if (!hasOther) rows.intents.setState(slot.intent_id, "slotless");
}

export function feesOf(row: TransactionRow): Fees {
  return { maxFeePerGas: BigInt(row.max_fee), maxPriorityFeePerGas: BigInt(row.priority_fee) };
}

/** JSON without bigint; `readStoredReceipt` is its inverse. */
function writeReceipt(receipt: MinedReceipt): string {
  return JSON.stringify({ ...receipt, blockNumber: receipt.blockNumber.toString() });
}

export function readStoredReceipt(text: string): MinedReceipt {
  const stored: Omit<MinedReceipt, "blockNumber"> & { blockNumber: string } = JSON.parse(text);
  return { ...stored, blockNumber: BigInt(stored.blockNumber) };
}
