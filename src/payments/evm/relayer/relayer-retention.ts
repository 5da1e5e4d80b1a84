// What a relayer forgets, and when. It owns the deletions: of slots that are final and old, with their transactions
// and intents, and of old tombstones. The chain keeps the nonce, the settlement its own record.

import type { RelayerRows } from "./relayer-rows.ts";

/** Settlements look at their steps until they are final; a day leaves room for one whose alarm was late. */
const KEEP_MS = 24 * 3_600_000;
/** Rows per alarm: more than ten seconds of the busiest lane, and little enough not to hold up sending. */
const FORGET_AT_ONCE = 2_000;

export function forgetOld(rows: RelayerRows, nowMs: number): void {
  const beforeMs = nowMs - KEEP_MS;
  rows.write(() => {
    rows.removeTombstonesBefore(beforeMs);
    rows.removeRevertsBefore(beforeMs);
    for (const { nonce, intent_id } of rows.slots.finalBefore(beforeMs, FORGET_AT_ONCE)) {
      rows.transactions.removeOf(nonce);
      rows.slots.remove(nonce);
      if (intent_id === null || rows.slots.ofIntent(intent_id).length > 0) continue;
      const { state } = rows.intents.get(intent_id);
      if (state === "mined" || state === "abandoned") rows.intents.remove(intent_id);
    }
  });
}

/** When the next row is old enough; null when there is none. */
export function nextForgetMs(rows: RelayerRows): number | null {
  const oldest = [rows.slots.oldestFinalMs(), rows.oldestTombstoneMs()].filter((ms) => ms !== null);
  return oldest.length === 0 ? null : Math.min(...oldest) + KEEP_MS;
}
