// What the relayer tells a settlement about its steps, read from storage. It owns no decision and writes nothing.

import type { Hex } from "viem";
import { depthOf } from "./relayer-lane.ts";
import type { MinedReceipt, StepProgress } from "./relayer-port.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import type { IntentRow, SlotRow } from "./relayer-schema.ts";
import { readStoredReceipt } from "./relayer-slots.ts";

/**
 * Every step of the attempt, in the order of submission.
 *
 * @param height - the head at which our blocks were last seen to stand, when it is known.
 */
export function progressOf(
  rows: RelayerRows,
  settlementId: string,
  attempt: string,
  height: number | null,
): StepProgress[] {
  return rows.intents.ofAttempt(settlementId, attempt).map((intent) => progressOfStep(rows, intent, height));
}

function progressOfStep(rows: RelayerRows, intent: IntentRow, height: number | null): StepProgress {
  const slots = rows.slots.ofIntent(intent.id);
  const counted = countedSlot(slots);
  const isGone = counted !== undefined && rows.blocks.isMissing(counted.blockNumber);
  return {
    step: intent.step,
    hashes: slots.flatMap(({ nonce }) => callHashes(rows, nonce)),
    receipt: counted?.receipt ?? null,
    depth: counted && !isGone ? depthOf(counted.blockNumber, height) : 0,
    isFinal: counted?.isFinal ?? false,
    isAbandoned: intent.state === "abandoned" && counted === undefined,
  };
}

/** The hashes of the call itself: a filler settles nothing. */
function callHashes(rows: RelayerRows, nonce: number): Hex[] {
  const calls = rows.transactions.ofNonce(nonce).filter(({ kind }) => kind === "call");
  return calls.flatMap(({ hash }) => hash ?? []);
}

interface MinedCall {
  receipt: MinedReceipt;
  blockNumber: number;
  isFinal: boolean;
}

/**
 * The slot whose receipt speaks for the step. With several slots a success speaks first; a revert only once no other
 * slot can still bring one.
 */
function countedSlot(slots: SlotRow[]): MinedCall | undefined {
  const mined = slots.flatMap(({ mined_kind, receipt, block_number, state }): MinedCall[] =>
    mined_kind === "call" && receipt !== null && block_number !== null
      ? [{ receipt: readStoredReceipt(receipt), blockNumber: block_number, isFinal: state === "final" }]
      : [],
  );
  const success = mined.find(({ receipt }) => receipt.status === "success");
  return success ?? (slots.some(({ state }) => state === "open") ? undefined : mined[0]);
}

/** Whether the newest step is `depth` deep or over for good, so that nobody need wait for it. */
export function isDecided(steps: readonly StepProgress[], depth: number): boolean {
  const newest = steps.at(-1);
  if (newest === undefined || newest.isAbandoned) return true;
  return newest.receipt !== null && (newest.isFinal || newest.depth >= depth);
}
