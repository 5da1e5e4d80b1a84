// Brings a listing's derived columns to what its texts, offers and calls say: owner, text, times, counters. Whoever
// writes one of those three runs these statements in the same batch, so that no reader sees them disagree.

import { ORIGIN_TEXT, SHOWN_CALL, SHOWN_OFFER } from "./shown-offers.ts";

/** ?1: the listing's id. */
const SQL = {
  owner: `UPDATE listings AS l SET owner_pay_to = first.pay_to, recount = 1
    FROM (SELECT pay_to FROM listing_texts WHERE listing_id = ?1 AND pay_to <> '${ORIGIN_TEXT}'
      ORDER BY first_ms, first_settlement LIMIT 1) AS first
    WHERE l.id = ?1 AND l.owner_source = 'first_seen' AND l.owner_pay_to <> first.pay_to`,

  text: `UPDATE listings AS l SET
      example_url = t.content ->> '$.exampleUrl', service_name = t.content ->> '$.serviceName',
      tags = t.content -> '$.tags', icon_url = t.content ->> '$.iconUrl',
      description = t.content ->> '$.description', mime_type = t.content ->> '$.mimeType',
      bazaar = t.content -> '$.bazaar', extensions = t.content -> '$.extensions', text_hash = t.text_hash
    FROM (SELECT t.content, t.text_hash FROM listing_texts AS t JOIN listings AS owned ON owned.id = t.listing_id
      WHERE t.listing_id = ?1 AND t.pay_to IN (owned.owner_pay_to, '${ORIGIN_TEXT}')
      ORDER BY t.pay_to = '${ORIGIN_TEXT}' DESC LIMIT 1) AS t
    WHERE l.id = ?1`,

  times: `UPDATE listings AS l SET
      first_listed_ms = coalesce((SELECT min(first_ms) FROM listing_texts
        WHERE listing_id = ?1 AND pay_to <> '${ORIGIN_TEXT}'), first_listed_ms),
      last_updated_ms = coalesce((SELECT max(o.updated_ms) FROM offers AS o
        WHERE o.listing_id = ?1 AND ${SHOWN_OFFER}), last_updated_ms)
    WHERE l.id = ?1`,

  recount: `UPDATE listings AS l SET recount = 0, (calls_30d, payers_30d, last_called_ms) =
      (SELECT count(*), count(DISTINCT c.payer), coalesce(max(c.at_ms), 0) FROM calls AS c
        WHERE c.listing_id = ?1 AND ${SHOWN_CALL})
    WHERE l.id = ?1 AND l.recount = 1`,

  askRecount: "UPDATE listings SET recount = 1 WHERE id = ?1",
};

/** Statements for the end of a batch that wrote texts or offers of this listing. */
export function deriveStatements(db: D1Database, listingId: string): D1PreparedStatement[] {
  return [SQL.owner, SQL.text, SQL.times, SQL.recount].map((sql) => db.prepare(sql).bind(listingId));
}

/** Put before `deriveStatements` when offers were confirmed, denied or withdrawn: other calls count then. */
export function recountStatement(db: D1Database, listingId: string): D1PreparedStatement {
  return db.prepare(SQL.askRecount).bind(listingId);
}
