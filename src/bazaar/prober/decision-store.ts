// Decisions about listings that are somebody's will, not the prober's finding: an operator hides and restores, a payTo
// withdraws its own offers or asks for a probe. Each is written with who decided and why.

import { deriveStatements, recountStatement } from "../catalog/derive-listing-store.ts";
import { SHOWN_OFFER } from "../catalog/shown-offers.ts";
import type { HiddenReason } from "./listing-health.ts";

export type ListingState = "listed" | "hidden";

/** Where a listing stands, for whoever asks about it by name. */
export interface ListingStanding {
  id: string;
  state: ListingState;
  hiddenReason: HiddenReason | null;
  health: "ok" | "failing" | "unprobed";
  verifiedAtMs: number | null;
  lastProbeAtMs: number | null;
}

/** After `used_nonce` nothing was changed. */
export type ClaimOutcome =
  | { ok: true; state: ListingState }
  | { ok: false; reason: "not_found" | "used_nonce" };

const SQL = {
  state: "SELECT state FROM listings WHERE id = ?1",
  standing: `SELECT id, state, hidden_reason AS hiddenReason, health, verified_at_ms AS verifiedAtMs,
      last_probe_at_ms AS lastProbeAtMs
    FROM listings WHERE id = ?1`,
  hasOffer: "SELECT 1 FROM offers WHERE listing_id = ?1 AND pay_to = ?2 LIMIT 1",
  note: `INSERT INTO listing_decisions (listing_id, action, by, reason, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)`,
  useNonce: "INSERT INTO claim_nonces (pay_to, nonce, expires_ms) VALUES (?1, ?2, ?3)",
  forgetNonces: "DELETE FROM claim_nonces WHERE expires_ms <= ?1",

  hide: `UPDATE listings SET state = 'hidden', hidden_reason = 'operator', next_probe_ms = NULL WHERE id = ?1`,
  // A fresh start: what was held against the listing until now was the reason to look at it.
  restore: `UPDATE listings SET state = 'listed', hidden_reason = NULL, health = 'unprobed', misses = 0,
      failing_since_ms = NULL, next_probe_ms = 0 WHERE id = ?1`,
  undeny: "UPDATE offers SET denied_at_ms = NULL WHERE listing_id = ?1",

  withdraw: "UPDATE offers SET withdrawn_at_ms = ?3, confirmed = 0 WHERE listing_id = ?1 AND pay_to = ?2",
  offerAgain: "UPDATE offers SET withdrawn_at_ms = NULL WHERE listing_id = ?1 AND pay_to = ?2",
  showAgain: `UPDATE listings SET state = 'listed', hidden_reason = NULL WHERE id = ?1 AND hidden_reason = 'delisted'`,
  askSoon: "UPDATE listings SET next_probe_ms = 0 WHERE id = ?1 AND hidden_reason IS NOT 'operator'",
  // Nothing left to show, and somebody's will is why.
  hideIfWithdrawn: `UPDATE listings AS l SET state = 'hidden', hidden_reason = 'delisted', next_probe_ms = NULL
    WHERE l.id = ?1 AND l.state = 'listed'
      AND NOT EXISTS (SELECT 1 FROM offers AS o WHERE o.listing_id = l.id AND ${SHOWN_OFFER})
      AND EXISTS (SELECT 1 FROM offers AS o WHERE o.listing_id = l.id AND o.withdrawn_at_ms IS NOT NULL)`,
};

/** An operator's decision; undefined when there is no such listing. A restored listing is due for a probe. */
export async function decideAsOperator(
  db: D1Database,
  listingId: string,
  action: "hide" | "restore",
  reason: string,
  nowMs: number,
): Promise<ListingState | undefined> {
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(listingId, ...values);
  const found = await bind(SQL.state).first();
  if (found === null) return undefined;
  const steps = action === "hide" ? [SQL.hide] : [SQL.restore, SQL.undeny, SQL.hideIfWithdrawn];
  await db.batch([...steps.map((sql) => bind(sql)), bind(SQL.note, action, "operator", reason, nowMs)]);
  return readState(db, listingId);
}

/** What a payTo decided about its own offers. The nonce is used up in the same write. */
export async function decideAsPayTo(
  db: D1Database,
  claim: { listingId: string; action: "delist" | "reprobe"; payTo: string; nonce: string; expiresMs: number },
  nowMs: number,
): Promise<ClaimOutcome> {
  const { listingId, action, payTo, nonce, expiresMs } = claim;
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(listingId, ...values);
  if ((await bind(SQL.hasOffer, payTo).first()) === null) return { ok: false, reason: "not_found" };
  const steps =
    action === "delist"
      ? [bind(SQL.withdraw, payTo, nowMs), bind(SQL.hideIfWithdrawn)]
      : [bind(SQL.offerAgain, payTo), bind(SQL.showAgain), bind(SQL.askSoon)];
  try {
    await db.batch([
      db.prepare(SQL.useNonce).bind(payTo, nonce, expiresMs),
      ...steps,
      bind(SQL.note, action, payTo, null, nowMs),
      recountStatement(db, listingId),
      ...deriveStatements(db, listingId),
    ]);
  } catch (error) {
    if (isUsedNonce(error)) return { ok: false, reason: "used_nonce" };
    throw error;
  }
  return { ok: true, state: await readState(db, listingId) };
}

export async function findStanding(db: D1Database, listingId: string): Promise<ListingStanding | undefined> {
  return (await db.prepare(SQL.standing).bind(listingId).first<ListingStanding>()) ?? undefined;
}

/** Forgets nonces of claims that can no longer be sent. */
export async function forgetNonces(db: D1Database, nowMs: number): Promise<void> {
  await db.prepare(SQL.forgetNonces).bind(nowMs).run();
}

async function readState(db: D1Database, listingId: string): Promise<ListingState> {
  const state = await db.prepare(SQL.state).bind(listingId).first<ListingState>("state");
  return state ?? "hidden";
}

/** The one uniqueness that a claim's batch can break. */
function isUsedNonce(error: unknown): boolean {
  return error instanceof Error && /UNIQUE constraint failed: claim_nonces/.test(error.message);
}
