// What the catalog forgets, and when: calls after 30 days, because the counters promise 30 days, and ended observations
// once no id can ask for them any more. Run by the hourly schedule; each run does a bounded part.

import { SHOWN_CALL } from "./shown-offers.ts";

const DAY_MS = 86_400_000;
const KEEP_CALLS_MS = 30 * DAY_MS;
/** An id lives up to a day and can be asked for 30 days after that (DESIGN.md section 4). */
const KEEP_OBSERVATIONS_MS = 32 * DAY_MS;
/** Rows in one statement: a backlog is worked off over several runs. */
const MAX_ROWS = 5_000;

const SQL = {
  oldCalls: `SELECT DISTINCT listing_id FROM (SELECT listing_id FROM calls WHERE at_ms < ?1 ORDER BY at_ms LIMIT ${MAX_ROWS})`,
  deleteCalls: `DELETE FROM calls WHERE settlement_id IN
    (SELECT settlement_id FROM calls WHERE at_ms < ?1 ORDER BY at_ms LIMIT ${MAX_ROWS})`,
  // `last_called_ms` stays: when the last call was is true for ever.
  recount: `UPDATE listings AS l SET (calls_30d, payers_30d) = (SELECT count(*), count(DISTINCT c.payer)
      FROM calls AS c WHERE c.listing_id = l.id AND ${SHOWN_CALL})
    WHERE l.id IN (SELECT value FROM json_each(?1))`,
  deleteObservations: `DELETE FROM observations WHERE hash IN
    (SELECT hash FROM observations WHERE updated_ms < ?1 ORDER BY updated_ms LIMIT ${MAX_ROWS})`,
};

/** Deletes what is too old and counts anew what that changes. */
export async function forgetOld(db: D1Database, nowMs: number): Promise<void> {
  const callsBeforeMs = nowMs - KEEP_CALLS_MS;
  const { results } = await db.prepare(SQL.oldCalls).bind(callsBeforeMs).all<{ listing_id: string }>();
  const listingIds = results.map((row) => row.listing_id);
  await db.batch([
    db.prepare(SQL.deleteCalls).bind(callsBeforeMs),
    db.prepare(SQL.recount).bind(JSON.stringify(listingIds)),
    db.prepare(SQL.deleteObservations).bind(nowMs - KEEP_OBSERVATIONS_MS),
  ]);
}
