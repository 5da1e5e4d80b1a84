// Writes one settled observation into the catalog: listing, text, offer, counters and the observation's end, in one
// batch. Every statement gives the same rows when messages come twice, late or out of order: texts and offers keep the
// newest, owners the first, calls are keyed by settlement.

import { deriveStatements } from "./derive-listing-store.ts";
import { listingIdOf, observationHashOf, textHashOf } from "./listing-identity.ts";
import type { CatalogMessage, Observation } from "./observation.ts";
import { comparableAddress } from "./offer.ts";
import { SHOWN_CALL, SHOWN_OFFER } from "./shown-offers.ts";

/** New (listing, payTo) pairs of one payTo and UTC day; settling each costs, and no honest seller has so many. */
export const MAX_NEW_LISTINGS_A_DAY = 1_000;
const DAY_MS = 86_400_000;

/** What an offer's amount is worth in millionths of a dollar, rounded up; null when nobody can say. */
export type PriceOf = (network: string, asset: string, amountAtomic: bigint) => number | null;

const SQL = {
  listing: `INSERT INTO listings (id, type, resource, host, route_template, method, tool_name, x402_version, bazaar,
      text_hash, owner_pay_to, first_listed_ms, last_updated_ms)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '{}', '', ?9, ?10, ?10
    WHERE EXISTS (SELECT 1 FROM listings WHERE id = ?1) OR ${MAX_NEW_LISTINGS_A_DAY} >
      (SELECT count(*) FROM listing_texts WHERE pay_to = ?9 AND first_ms >= ?11 AND first_ms < ?11 + ${DAY_MS})
    ON CONFLICT (id) DO NOTHING`,

  text: `INSERT INTO listing_texts (listing_id, pay_to, first_ms, first_settlement, newest_ms, newest_settlement,
      content, text_hash)
    SELECT ?1, ?2, ?3, ?4, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM listings WHERE id = ?1)
    ON CONFLICT (listing_id, pay_to) DO UPDATE SET newest_ms = excluded.newest_ms,
      newest_settlement = excluded.newest_settlement, content = excluded.content, text_hash = excluded.text_hash
    WHERE (excluded.newest_ms, excluded.newest_settlement) > (newest_ms, newest_settlement)`,

  firstSeen: `UPDATE listing_texts SET first_ms = ?3, first_settlement = ?4
    WHERE listing_id = ?1 AND pay_to = ?2 AND (?3, ?4) < (first_ms, first_settlement)`,

  // A confirmed offer's price is the origin's word: a payment of another amount may be a stranger's. A payTo that
  // delisted its offers has no new way to pay listed by a payment either.
  offer: `INSERT INTO offers (listing_id, scheme, method, network, asset, pay_to, amount, usd_micros, requirements,
      updated_ms, updated_settlement, withdrawn_at_ms)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
      (SELECT max(withdrawn_at_ms) FROM offers WHERE listing_id = ?1 AND pay_to = ?6)
    WHERE EXISTS (SELECT 1 FROM listings WHERE id = ?1)
    ON CONFLICT (listing_id, scheme, method, network, asset, pay_to) DO UPDATE SET
      amount = iif(confirmed, amount, excluded.amount),
      usd_micros = iif(confirmed, usd_micros, excluded.usd_micros),
      requirements = iif(confirmed, requirements, excluded.requirements),
      updated_ms = excluded.updated_ms, updated_settlement = excluded.updated_settlement
    WHERE (excluded.updated_ms, excluded.updated_settlement) > (updated_ms, updated_settlement)`,

  // The origin can say what this payment cannot: whether the offer, its new price or its new text is its own; and a
  // listing that was given up is alive.
  askOrigin: `UPDATE listings SET next_probe_ms = 0 WHERE id = ?1 AND (hidden_reason = 'stale'
    OR EXISTS (SELECT 1 FROM offers AS o
      WHERE o.listing_id = ?1 AND o.pay_to = ?2 AND o.denied_at_ms IS NULL AND o.withdrawn_at_ms IS NULL
        AND (o.confirmed = 0 OR text_hash <> ?8
          OR o.network = ?3 AND o.asset = ?4 AND o.scheme = ?5 AND o.method = ?6 AND o.amount <> ?7)))`,
  isProbeDue: "SELECT next_probe_ms = 0 AS due FROM listings WHERE id = ?1",

  count: `UPDATE listings AS l SET calls_30d = calls_30d + 1, last_called_ms = max(last_called_ms, ?4),
      payers_30d = payers_30d + NOT EXISTS (SELECT 1 FROM calls AS c
        WHERE c.listing_id = ?1 AND c.payer = ?5 AND ${SHOWN_CALL})
    WHERE l.id = ?1 AND NOT EXISTS (SELECT 1 FROM calls WHERE settlement_id = ?2)
      AND EXISTS (SELECT 1 FROM offers AS o WHERE o.listing_id = ?1 AND o.pay_to = ?3 AND ${SHOWN_OFFER})`,

  call: `INSERT INTO calls (settlement_id, listing_id, pay_to, payer, at_ms)
    SELECT ?2, ?1, ?3, ?5, ?4 WHERE EXISTS (SELECT 1 FROM listings WHERE id = ?1)
    ON CONFLICT (settlement_id) DO NOTHING`,

  ended: `INSERT INTO observations (hash, status, reason, resource, tool_name, updated_ms)
    SELECT ?2, iif(problem IS NULL, 'success', 'rejected'), problem, ?3, ?4, ?5 FROM (SELECT CASE
        WHEN l.id IS NULL THEN 'resource is one of more than ${MAX_NEW_LISTINGS_A_DAY} new ones of this payTo today'
        WHEN l.state <> 'listed' THEN 'resource is hidden: ' || coalesce(l.hidden_reason, 'operator')
        WHEN ${SHOWN_OFFER} THEN NULL
        WHEN o.withdrawn_at_ms IS NOT NULL THEN 'payTo has delisted this offer'
        WHEN o.denied_at_ms IS NOT NULL THEN 'accepts of the resource''s own 402 do not name this offer'
        ELSE 'payTo did not list this resource first, and the resource''s own 402 has not named it'
      END AS problem
      FROM (SELECT ?1 AS listing_id) AS this LEFT JOIN listings AS l ON l.id = this.listing_id
      LEFT JOIN offers AS o ON (o.listing_id, o.pay_to, o.network, o.asset, o.scheme, o.method) = (l.id, ?6, ?7, ?8, ?9, ?10))
    WHERE true
    ON CONFLICT (hash) DO UPDATE SET status = excluded.status, reason = excluded.reason,
      updated_ms = excluded.updated_ms
    WHERE status <> 'success'`,

  rejected: `INSERT INTO observations (hash, status, reason, resource, tool_name, updated_ms)
    VALUES (?1, 'rejected', ?2, ?3, ?4, ?5)
    ON CONFLICT (hash) DO UPDATE SET status = 'rejected', reason = ?2, updated_ms = ?5 WHERE status = 'lost'`,

  isListed: `SELECT 1 FROM listings AS l JOIN offers AS o ON o.listing_id = l.id
    WHERE l.id = ?1 AND l.state = 'listed' AND l.text_hash = ?2 AND o.pay_to = ?3 AND o.requirements = ?4
      AND ${SHOWN_OFFER} LIMIT 1`,
};

/** Stores a settled observation and how it ended. Idempotent; says which listing it was and whether to ask its origin. */
export async function storeObservation(
  db: D1Database,
  message: CatalogMessage,
  { priceOf, nowMs }: { priceOf: PriceOf; nowMs: number },
): Promise<{ listingId: string; isProbeDue: boolean }> {
  const { settlementId, observation } = message;
  const { resource, toolName, offer } = observation;
  const listingId = await listingIdOf(observation);
  const hash = await observationHashOf(settlementId, observation);
  const unlisted = reasonNotToList(message);
  if (unlisted !== undefined) {
    await db.prepare(SQL.rejected).bind(hash, unlisted, resource, toolName, nowMs).run();
    return { listingId, isProbeDue: false };
  }
  const { payTo, network, asset, scheme, method } = offer;
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(listingId, ...values);
  const results = await db.batch<{ due: number | null }>([
    ...writeStatements(
      bind,
      message,
      priceOf(network, asset, BigInt(offer.amount)),
      await textHashOf(observation),
    ),
    ...deriveStatements(db, listingId),
    ...countStatements(bind, message),
    bind(SQL.ended, hash, resource, toolName, nowMs, payTo, network, asset, scheme, method),
    bind(SQL.isProbeDue),
  ]);
  return { listingId, isProbeDue: results.at(-1)?.results[0]?.due === 1 };
}

/** A payment proves only that the payer paid payTo: to oneself, or of nothing, it proves nothing. */
function reasonNotToList({ payer, observation }: CatalogMessage): string | undefined {
  const { offer, paidAtomic } = observation;
  if (comparableAddress(offer.network, payer) === offer.payTo) return "payer and payTo are the same";
  return BigInt(paidAtomic) === 0n ? "nothing was charged" : undefined;
}

/** Binds the listing's id as ?1, then the values. */
type Bind = (sql: string, ...values: unknown[]) => D1PreparedStatement;

function writeStatements(
  bind: Bind,
  { settlementId, settledAtMs, observation }: CatalogMessage,
  usdMicros: number | null,
  textHash: string,
): D1PreparedStatement[] {
  const { type, resource, host, routeTemplate, method, toolName, x402Version, offer } = observation;
  const { payTo, network, asset, scheme, amount } = offer;
  const names = [type, resource, host, routeTemplate, method, toolName, x402Version];
  const keys = [scheme, offer.method, network, asset, payTo];
  const dayMs = settledAtMs - (settledAtMs % DAY_MS);
  return [
    bind(SQL.listing, ...names, payTo, settledAtMs, dayMs),
    bind(SQL.text, payTo, settledAtMs, settlementId, contentOf(observation), textHash),
    bind(SQL.firstSeen, payTo, settledAtMs, settlementId),
    bind(
      SQL.offer,
      ...keys,
      amount,
      usdMicros,
      JSON.stringify(offer.requirements),
      settledAtMs,
      settlementId,
    ),
    bind(SQL.askOrigin, payTo, network, asset, scheme, offer.method, amount, textHash),
  ];
}

/** After the listing's owner is derived: whose calls count depends on it. */
function countStatements(bind: Bind, { settlementId, settledAtMs, payer, observation }: CatalogMessage) {
  const { payTo, network } = observation.offer;
  const call = [settlementId, payTo, settledAtMs, comparableAddress(network, payer)];
  return [bind(SQL.count, ...call), bind(SQL.call, ...call)];
}

/** Whether readers already see exactly this: text, offer and all. For the settle answer, beside the settlement. */
export async function isListedExactly(db: D1Database, observation: Observation): Promise<boolean> {
  const { offer } = observation;
  const [listingId, textHash] = await Promise.all([listingIdOf(observation), textHashOf(observation)]);
  const row = await db
    .prepare(SQL.isListed)
    .bind(listingId, textHash, offer.payTo, JSON.stringify(offer.requirements))
    .first();
  return row !== null;
}

/** A payTo's text as `listing_texts.content` holds it; names as in `deriveStatements`. */
export function contentOf(observation: Observation): string {
  const { exampleUrl, serviceName, tags, iconUrl, description, mimeType, bazaar, extensionKeys } =
    observation;
  const extensions = Object.fromEntries(extensionKeys.map((key) => [key, {}]));
  return JSON.stringify({
    exampleUrl,
    serviceName,
    tags,
    iconUrl,
    description,
    mimeType,
    bazaar,
    extensions,
  });
}
