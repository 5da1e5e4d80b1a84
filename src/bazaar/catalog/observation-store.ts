// How observations ended, as anyone may ask. The cataloger writes the rows; this file reads them, and records the
// messages that could not be stored.

import { observationHashOf } from "./listing-identity.ts";
import type { MessageName } from "./observation.ts";
import type { ObservationId } from "./observation-id.ts";

/** An ended observation can be looked up at least until its id is this old. */
export const KEEP_MS = 30 * 86_400_000;

export interface ObservationState {
  status: "processing" | "success" | "rejected";
  rejectedReason: string | null;
  /** Null while only the id is known: it is a hash. */
  resource: string | null;
  toolName: string | null;
  updatedMs: number;
}

const LOST_REASON = "could not be stored";

const SQL = {
  find: "SELECT status, reason, resource, tool_name, updated_ms FROM observations WHERE hash = ?1",
  lose: `INSERT INTO observations (hash, status, reason, resource, tool_name, updated_ms)
    VALUES (?1, 'lost', '${LOST_REASON}', ?2, ?3, ?4) ON CONFLICT (hash) DO NOTHING`,
  countLost: `SELECT count(*) AS every, count(*) FILTER (WHERE updated_ms >= ?1) AS recent
    FROM observations WHERE status = 'lost'`,
};

interface Row {
  status: "success" | "rejected" | "lost";
  reason: string | null;
  resource: string;
  tool_name: string | null;
  updated_ms: number;
}

/** The state behind a genuine id, or undefined when the id is too old to say. */
export async function findObservation(
  db: D1Database,
  { hash, expiresAtMs }: ObservationId,
  nowMs: number,
): Promise<ObservationState | undefined> {
  if (nowMs - expiresAtMs > KEEP_MS) return undefined;
  const row = await db.prepare(SQL.find).bind(hash).first<Row>();
  if (row) {
    return {
      status: row.status === "success" ? "success" : "rejected",
      rejectedReason: row.reason,
      resource: row.resource,
      toolName: row.tool_name,
      updatedMs: row.updated_ms,
    };
  }
  const unknown = { resource: null, toolName: null };
  return nowMs < expiresAtMs
    ? { status: "processing", rejectedReason: null, updatedMs: nowMs, ...unknown }
    : { status: "rejected", rejectedReason: "payment was not settled", updatedMs: expiresAtMs, ...unknown };
}

/** Records that a message was given up. What had ended before stays as it ended. */
export async function recordLost(
  db: D1Database,
  { settlementId, observation }: MessageName,
  nowMs: number,
): Promise<void> {
  const hash = await observationHashOf(settlementId, observation);
  await db.prepare(SQL.lose).bind(hash, observation.resource, observation.toolName, nowMs).run();
}

/** Observations of the last month that could not be stored, and how many of them since `sinceMs`. */
export async function countLost(db: D1Database, sinceMs: number): Promise<{ all: number; recent: number }> {
  const row = await db.prepare(SQL.countLost).bind(sinceMs).first<{ every: number; recent: number }>();
  return { all: row?.every ?? 0, recent: row?.recent ?? 0 };
}
