// Audits successes of this isolate together: one write for a burst of settlements. What is lost on the way, and every
// failure, is told by the settlement's own object later; rows are written once.

import type { EndedSettlement } from "../payments/settlement/settlement-aftermath.ts";
import { Gatherer } from "../platform/gatherer.ts";
import { addSettlements } from "./audit-store.ts";
import { auditedRow } from "./audited-payment.ts";

/** A statement each; D1 lets one request run a thousand. */
const MAX_WAITING = 200;

const settlements = new Gatherer<EndedSettlement>("audit", MAX_WAITING);

export function auditSoon(db: D1Database, ended: EndedSettlement, ctx: ExecutionContext): void {
  const write = async (gathered: readonly EndedSettlement[]) =>
    addSettlements(db, await Promise.all(gathered.map(auditedRow)));
  settlements.add(ended, write, ctx);
}
