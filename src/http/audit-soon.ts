// Audits successes of this isolate together, half a second after the first of them: one write for a burst of settlements.
// What is lost with the isolate, and every failure, is told by the settlement's own object later; rows are written once.

import type { EndedSettlement } from "../payments/settlement/settlement-aftermath.ts";
import { describeError, log } from "../platform/log.ts";
import { addSettlements } from "./audit-store.ts";
import { auditedRow } from "./audited-payment.ts";

const GATHER_MS = 500;
/** One write's worth; in a greater burst the rest is the objects'. */
const MAX_WAITING = 200;

/** A gathering that was cut off with its request must not be the isolate's last. */
const GATHERED_BY_MS = 10_000;

let waiting: EndedSettlement[] = [];
/** When the gathering under way began; null when there is none. */
let gatheringSinceMs: number | null = null;

export function auditSoon(
  db: D1Database,
  ended: EndedSettlement,
  ctx: ExecutionContext,
  nowMs: number,
): void {
  if (waiting.length < MAX_WAITING) waiting.push(ended);
  if (gatheringSinceMs !== null && nowMs < gatheringSinceMs + GATHERED_BY_MS) return;
  gatheringSinceMs = nowMs;
  ctx.waitUntil(writeAll(db));
}

async function writeAll(db: D1Database): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  const gathered = waiting;
  waiting = [];
  gatheringSinceMs = null;
  try {
    await addSettlements(db, await Promise.all(gathered.map(auditedRow)));
  } catch (error) {
    log("audit_postponed", { settlements: gathered.length, cause: describeError(error) });
  }
}
