// Records the decided calls of this isolate together: one write to the registry for a burst of calls. A call's own object
// asks later whether that was done, and records it itself if not; rows are written once.

import { Gatherer } from "../platform/gatherer.ts";
import { type PaidCallRecord, recordPaidCalls } from "./registry-store.ts";

const MAX_WAITING = 1_000;

/** Objects ask within minutes; forgetting an id costs one more write, which changes nothing. */
const MAX_REMEMBERED = 50_000;

const calls = new Gatherer<PaidCallRecord>("paid_call_records", MAX_WAITING);
const recorded = new Set<string>();

export function recordSoon(
  db: D1Database,
  call: PaidCallRecord,
  ctx: Pick<ExecutionContext, "waitUntil">,
): void {
  const write = async (gathered: readonly PaidCallRecord[]) => {
    await recordPaidCalls(db, gathered);
    if (recorded.size > MAX_REMEMBERED) recorded.clear();
    for (const { transactionId } of gathered) recorded.add(transactionId);
  };
  calls.add(call, write, ctx);
}

/** Whether this isolate has recorded the call. Says yes once. */
export function wasRecorded(transactionId: string): boolean {
  return recorded.delete(transactionId);
}
