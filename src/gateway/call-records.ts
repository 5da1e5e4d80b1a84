// What the registry learns of a decided call, and when: the calls of one isolate are recorded together, one write for a
// burst of them. A call's own object asks later whether that was done, and records it itself if not; rows are written once.

import { Gatherer } from "../platform/gatherer.ts";
import { type PaidCall, receiptFieldsOf } from "./paid-call.ts";
import { type PaidCallRecord, recordPaidCalls } from "./registry-store.ts";

/** What the registry learns of a decided call; undefined for one that never took a hold. */
export function recordOf(call: PaidCall): PaidCallRecord | undefined {
  const fields = receiptFieldsOf(call);
  if (!fields || !call.decision) return undefined;
  const { receiptId, transactionId, status, failureKind, capabilityId, providerId } = fields;
  const { walletId, agentId, amountMinor, currency } = fields;
  const { policyVersion, approvalId, decision } = call;
  return {
    ...{ receiptId, transactionId, status, failureKind, capabilityId, providerId },
    ...{ walletId, agentId, amountMinor, currency, policyVersion, approvalId },
    ...{ errorText: decision.errorText, decidedAtMs: decision.atMs },
  };
}

/** A seventh of it in statements, and one for each breaker; D1 lets one request run a thousand. */
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
