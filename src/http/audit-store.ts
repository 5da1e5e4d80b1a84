// The audit in D1: how settlements ended, and with them, from the gateway's index, how paid calls ended. Rows are written
// once and never changed; neither holds a body, header, key or signature.

import { and, desc, eq, gte, lt, or, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { capabilities, paidCalls, providers, settledPayments } from "../db/schema.ts";

export type AuditKind = "settlement" | "paid_call";

/** Whose rows: everybody's, one tenant's (a provider is the tenant of its own id), or one wallet's. */
export type AuditOwner =
  | { kind: "all" }
  | { kind: "tenant"; tenant: string }
  | { kind: "wallet"; walletId: string };

export interface AuditQuery {
  owner: AuditOwner;
  kind: AuditKind | null;
  sinceMs: number | null;
  untilMs: number | null;
  /** The last row of the page before. */
  after: AuditPlace | null;
  limit: number;
}

/** Rows are ordered by time, newest first, and then by id. */
export interface AuditPlace {
  atMs: number;
  id: string;
}

export type StoredSettlement = typeof settledPayments.$inferSelect;

export interface StoredPaidCall {
  call: typeof paidCalls.$inferSelect;
  payTo: string | null;
  resource: string | null;
  toolName: string | null;
}

export type AuditEntry = AuditPlace &
  ({ kind: "settlement"; settlement: StoredSettlement } | { kind: "paid_call"; paidCall: StoredPaidCall });

export type NewSettlement = typeof settledPayments.$inferInsert;

/** Once per settlement, however often it is told. */
export async function addSettlements(db: D1Database, rows: readonly NewSettlement[]): Promise<void> {
  const d1 = drizzle(db);
  const [first, ...others] = rows.map((row) => d1.insert(settledPayments).values(row).onConflictDoNothing());
  if (first) await d1.batch([first, ...others]);
}

/** At most `limit` rows, newest first. */
export async function readAudit(db: D1Database, query: AuditQuery): Promise<AuditEntry[]> {
  const { kind, limit } = query;
  const [settlements, calls] = await Promise.all([
    kind === "paid_call" ? [] : readSettlements(db, query),
    kind === "settlement" ? [] : readPaidCalls(db, query),
  ]);
  return [...settlements, ...calls].sort(byPlace).slice(0, limit);
}

function byPlace(left: AuditPlace, right: AuditPlace): number {
  return right.atMs - left.atMs || (left.id < right.id ? 1 : -1);
}

async function readSettlements(db: D1Database, query: AuditQuery): Promise<AuditEntry[]> {
  const { settlementId, endedAtMs, tenant, walletId } = settledPayments;
  const rows = await drizzle(db)
    .select()
    .from(settledPayments)
    .where(and(ownedBy(query.owner, tenant, walletId), within(query, endedAtMs, settlementId)))
    .orderBy(desc(endedAtMs), desc(settlementId))
    .limit(query.limit);
  return rows.map((settlement) => ({
    kind: "settlement",
    atMs: settlement.endedAtMs,
    id: settlement.settlementId,
    settlement,
  }));
}

async function readPaidCalls(db: D1Database, query: AuditQuery): Promise<AuditEntry[]> {
  const { transactionId, decidedAtMs, providerId, walletId, capabilityId } = paidCalls;
  const rows = await drizzle(db)
    .select({
      call: paidCalls,
      payTo: providers.walletId,
      resource: capabilities.url,
      toolName: capabilities.toolName,
    })
    .from(paidCalls)
    .leftJoin(capabilities, eq(capabilities.id, capabilityId))
    .leftJoin(providers, eq(providers.id, providerId))
    .where(and(ownedBy(query.owner, providerId, walletId), within(query, decidedAtMs, transactionId)))
    .orderBy(desc(decidedAtMs), desc(transactionId))
    .limit(query.limit);
  return rows.map((paidCall) => ({
    kind: "paid_call",
    atMs: paidCall.call.decidedAtMs,
    id: paidCall.call.transactionId,
    paidCall,
  }));
}

function ownedBy(owner: AuditOwner, tenant: SQLiteColumn, walletId: SQLiteColumn): SQL | undefined {
  switch (owner.kind) {
    case "all":
      return undefined;
    case "tenant":
      return eq(tenant, owner.tenant);
    case "wallet":
      return eq(walletId, owner.walletId);
  }
}

function within(
  { sinceMs, untilMs, after }: AuditQuery,
  at: SQLiteColumn,
  id: SQLiteColumn,
): SQL | undefined {
  return and(
    sinceMs === null ? undefined : gte(at, sinceMs),
    untilMs === null ? undefined : lt(at, untilMs),
    after === null ? undefined : or(lt(at, after.atMs), and(eq(at, after.atMs), lt(id, after.id))),
  );
}
