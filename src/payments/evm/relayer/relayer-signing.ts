// Gives stored transactions their bytes and hash. It owns that one write; what it signs is what storage says, so that
// signing after a crash gives the transaction that would have been signed before it.

import type { Hex } from "viem";
import type { Lane } from "./relayer-poll.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import type { IntentRow, TransactionRow } from "./relayer-schema.ts";
import { feesOf } from "./relayer-slots.ts";
import { signTransaction } from "./transaction.ts";

const SIGN_AT_ONCE = 64;

/** Signs what has no bytes yet: new versions of slots, and what a crash left between writing and signing. */
export function signUnsigned(lane: Lane): void {
  const { rows, key } = lane;
  if (key === null) return;
  for (;;) {
    const unsigned = rows.transactions.unsigned(SIGN_AT_ONCE);
    for (const row of unsigned) {
      const intentId = rows.slots.find(row.nonce)?.intent_id ?? null;
      sign(lane, key, row, intentId === null ? null : rows.intents.get(intentId));
    }
    if (unsigned.length < SIGN_AT_ONCE) return;
  }
}

/**
 * Signs one intent's own transactions, so that a submit does not wait for those of its neighbours. Answers the hashes
 * of its call, oldest first; without a configured key, of what was signed before.
 */
export function signIntent(rows: RelayerRows, intent: IntentRow, lane: Lane | null): Hex[] {
  const hashes: Hex[] = [];
  for (const { nonce } of rows.slots.ofIntent(intent.id)) {
    for (const row of rows.transactions.ofNonce(nonce)) {
      const hash = row.hash ?? (lane?.key ? sign(lane, lane.key, row, intent) : null);
      if (row.kind === "call" && hash !== null) hashes.push(hash);
    }
  }
  return hashes;
}

/** `intent`: the one in the transaction's slot; null for a filler that mends a gap. */
function sign(
  { rows, chainId, address }: Lane,
  key: Hex,
  row: TransactionRow,
  intent: IntentRow | null,
): Hex {
  const call = row.kind === "call" ? intent : null;
  const fields = {
    chainId,
    nonce: row.nonce,
    to: call?.to_address ?? address,
    data: call?.data ?? "0x",
    gas: BigInt(row.gas),
    fees: feesOf(row),
  } as const;
  const { hash, raw } = signTransaction(fields, key);
  rows.transactions.setSigned(row.nonce, row.version, hash, raw);
  return hash;
}
