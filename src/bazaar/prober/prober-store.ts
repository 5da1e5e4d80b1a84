// The prober's rows in D1: which listings are due, whose turn it is, and what a probe found. A listing is leased while
// it is asked, so that two probers never ask for the same one and a crashed probe comes again.

import { contentOf, type PriceOf } from "../catalog/catalog-store.ts";
import { deriveStatements, recountStatement } from "../catalog/derive-listing-store.ts";
import { type OwnersText, textHashOf } from "../catalog/listing-identity.ts";
import type { Offer } from "../catalog/offer.ts";
import { ORIGIN_TEXT } from "../catalog/shown-offers.ts";
import type { HiddenReason } from "./listing-health.ts";
import type { ProbedListing, ProbeVerdict } from "./probe-verdict.ts";

/** One probe per host and this long: nobody's server is hammered on a stranger's word. */
export const HOST_SPACING_MS = 60_000;
/** Many times a probe's five seconds; a prober that died in between is replaced after it. */
const LEASE_MS = 300_000;

/**
 * Offers of one listing that a probe compares. Sellers have a handful; the rest are strangers' payments with somebody
 * else's URL, and those that were denied before come last.
 */
const MAX_COMPARED_OFFERS = 200;

/** A listing that is due, with what is needed to ask and to judge. */
export interface DueListing extends ProbedListing {
  id: string;
  host: string;
  /** Where to ask: concrete also where the listing stands under a template. */
  url: string;
  transport: "streamable-http" | "sse";
}

export type StoredOffer = Omit<Offer, "requirements"> & { listingId: string };

const COLUMNS = `id, type, resource, method, tool_name, host, coalesce(example_url, resource) AS url,
  iif(json_valid(bazaar), bazaar ->> '$.info.input.transport', NULL) AS transport, owner_pay_to, state, hidden_reason, health, misses,
  failing_since_ms, verified_at_ms, last_probe_at_ms, next_probe_ms`;

const SQL = {
  dueNow: `SELECT ${COLUMNS}, min(next_probe_ms) FROM listings
    WHERE next_probe_ms <= ?1 AND hidden_reason IS NOT 'operator'
      AND host NOT IN (SELECT host FROM probed_hosts WHERE at_ms > ?1 - ${HOST_SPACING_MS})
    GROUP BY CASE host WHEN '' THEN id ELSE host END ORDER BY min(next_probe_ms) LIMIT ?2`,
  dueAmong: `SELECT ${COLUMNS} FROM listings
    WHERE id IN (SELECT value FROM json_each(?2)) AND next_probe_ms <= ?1 AND hidden_reason IS NOT 'operator'`,

  takeHosts: `INSERT INTO probed_hosts (host, at_ms) SELECT value, ?2 FROM json_each(?1) WHERE true
    ON CONFLICT (host) DO UPDATE SET at_ms = excluded.at_ms WHERE at_ms <= excluded.at_ms - ${HOST_SPACING_MS}
    RETURNING host`,
  lease: `UPDATE listings SET next_probe_ms = ?2 + ${LEASE_MS}
    WHERE id IN (SELECT value FROM json_each(?1)) AND next_probe_ms <= ?2 RETURNING id`,
  offers: `SELECT listing_id AS listingId, scheme, method, network, asset, pay_to AS payTo, amount FROM (
      SELECT *, row_number() OVER (PARTITION BY listing_id
        ORDER BY confirmed DESC, denied_at_ms IS NOT NULL, updated_ms DESC) AS place
      FROM offers WHERE listing_id IN (SELECT value FROM json_each(?1)) AND withdrawn_at_ms IS NULL)
    WHERE place <= ${MAX_COMPARED_OFFERS}`,

  ownerContent: "SELECT content FROM listing_texts WHERE listing_id = ?1 AND pay_to = ?2",

  confirm: `UPDATE offers SET confirmed = 1, confirmed_at_ms = ?7, denied_at_ms = NULL, amount = ?8, usd_micros = ?9,
      requirements = ?10
    WHERE listing_id = ?1 AND scheme = ?2 AND method = ?3 AND network = ?4 AND asset = ?5 AND pay_to = ?6`,
  deny: `UPDATE offers SET confirmed = 0, denied_at_ms = ?3
    WHERE listing_id = ?1 AND json_array(scheme, method, network, asset, pay_to) IN (SELECT value FROM json_each(?2))`,
  text: `INSERT INTO listing_texts (listing_id, pay_to, first_ms, first_settlement, newest_ms, newest_settlement, content,
      text_hash)
    VALUES (?1, '${ORIGIN_TEXT}', ?2, '', ?2, '', ?3, ?4)
    ON CONFLICT (listing_id, pay_to) DO UPDATE SET newest_ms = ?2, content = ?3, text_hash = ?4`,
  owner: "UPDATE listings SET owner_pay_to = ?2, owner_source = 'origin' WHERE id = ?1",
  // What an operator, an owner or a payment decided while the origin was being asked stands.
  health: `UPDATE listings SET
      state = iif(hidden_reason IS ?2, ?3, state), hidden_reason = iif(hidden_reason IS ?2, ?4, hidden_reason),
      next_probe_ms = iif(next_probe_ms = ?5, ?6, next_probe_ms),
      health = ?7, misses = ?8, failing_since_ms = ?9, verified_at_ms = ?10, last_probe_at_ms = ?11
    WHERE id = ?1`,

  forgetHosts: `DELETE FROM probed_hosts WHERE at_ms <= ?1 - ${HOST_SPACING_MS}`,
};

interface Row {
  id: string;
  type: "http" | "mcp";
  resource: string;
  method: string | null;
  tool_name: string | null;
  host: string;
  url: string;
  transport: string | null;
  owner_pay_to: string;
  state: "listed" | "hidden";
  hidden_reason: HiddenReason | null;
  health: "ok" | "failing" | "unprobed";
  misses: number;
  failing_since_ms: number | null;
  verified_at_ms: number | null;
  last_probe_at_ms: number | null;
  next_probe_ms: number | null;
}

/** Listings that are due, longest first, one of each host that may be asked now. */
export async function findDue(db: D1Database, nowMs: number, limit: number): Promise<DueListing[]> {
  const { results } = await db.prepare(SQL.dueNow).bind(nowMs, limit).all<Row>();
  return results.map(dueListing);
}

/** Those of `listingIds` that are due. */
export async function findDueAmong(
  db: D1Database,
  listingIds: readonly string[],
  nowMs: number,
): Promise<DueListing[]> {
  const { results } = await db.prepare(SQL.dueAmong).bind(nowMs, JSON.stringify(listingIds)).all<Row>();
  return results.map(dueListing);
}

/** Takes this minute's turn of each host that still has one; returns those. */
export async function takeHosts(db: D1Database, hosts: readonly string[], nowMs: number): Promise<string[]> {
  if (hosts.length === 0) return [];
  const { results } = await db
    .prepare(SQL.takeHosts)
    .bind(JSON.stringify(hosts), nowMs)
    .all<{ host: string }>();
  return results.map(({ host }) => host);
}

/** Leases listings; returns those that nobody else took, with their offers that are not withdrawn. */
export async function leaseListings(
  db: D1Database,
  listings: readonly DueListing[],
  nowMs: number,
): Promise<{ listing: DueListing; offers: StoredOffer[] }[]> {
  const ids = JSON.stringify(listings.map(({ id }) => id));
  const [leased, offers] = await db.batch<{ id: string } & StoredOffer>([
    db.prepare(SQL.lease).bind(ids, nowMs),
    db.prepare(SQL.offers).bind(ids),
  ]);
  const taken = new Set(leased?.results.map(({ id }) => id));
  return listings
    .filter(({ id }) => taken.has(id))
    .map((listing) => ({
      listing: { ...listing, nextProbeMs: nowMs + LEASE_MS },
      offers: (offers?.results ?? []).filter(({ listingId }) => listingId === listing.id),
    }));
}

/** Writes a probe's verdict and what follows from it, in one batch. `listing` is as it was leased. */
export async function storeVerdict(
  db: D1Database,
  listing: DueListing,
  verdict: ProbeVerdict<StoredOffer>,
  { priceOf, nowMs }: { priceOf: PriceOf; nowMs: number },
): Promise<void> {
  const { id } = listing;
  const { health, offers, ownerPayTo } = verdict;
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(id, ...values);
  const text = await originText(db, listing, verdict);
  await db.batch([
    ...offers.named.map(({ offer, origin }) => {
      const { network, asset, amount, requirements } = origin;
      const usdMicros = priceOf(network, asset, BigInt(amount));
      return bind(SQL.confirm, ...keyOf(offer), nowMs, amount, usdMicros, JSON.stringify(requirements));
    }),
    bind(SQL.deny, JSON.stringify(offers.denied.map((offer) => JSON.stringify(keyOf(offer)))), nowMs),
    ...(ownerPayTo === undefined ? [] : [bind(SQL.owner, ownerPayTo)]),
    ...(text === undefined ? [] : [bind(SQL.text, nowMs, text.content, text.hash)]),
    bind(
      SQL.health,
      listing.hiddenReason,
      health.state,
      health.hiddenReason,
      listing.nextProbeMs,
      health.nextProbeMs,
      health.health,
      health.misses,
      health.failingSinceMs,
      health.verifiedAtMs,
      health.lastProbeAtMs,
    ),
    recountStatement(db, id),
    ...deriveStatements(db, id),
  ]);
}

/** Forgets hosts whose turn is over. */
export async function forgetHosts(db: D1Database, nowMs: number): Promise<void> {
  await db.prepare(SQL.forgetHosts).bind(nowMs).run();
}

/** The origin's text as `listing_texts` holds it. Without a block of its own it describes what its payTo declared. */
async function originText(
  db: D1Database,
  { id }: DueListing,
  { text, ownerPayTo }: ProbeVerdict<StoredOffer>,
): Promise<{ content: string; hash: string } | undefined> {
  if (text?.kind === "whole") {
    return { content: contentOf(text.observation), hash: await textHashOf(text.observation) };
  }
  if (text === undefined) return undefined;
  const owners = await db.prepare(SQL.ownerContent).bind(id, ownerPayTo).first<string>("content");
  if (owners === null) return undefined;
  const content: OwnersText = { ...(JSON.parse(owners) as OwnersText), ...text.metadata };
  return { content: JSON.stringify(content), hash: await textHashOf(content) };
}

function keyOf(offer: StoredOffer): string[] {
  return [offer.scheme, offer.method, offer.network, offer.asset, offer.payTo];
}

function dueListing(row: Row): DueListing {
  return {
    id: row.id,
    type: row.type,
    resource: row.resource,
    method: row.method,
    toolName: row.tool_name,
    host: row.host,
    url: row.url,
    transport: row.transport === "sse" ? "sse" : "streamable-http",
    ownerPayTo: row.owner_pay_to,
    state: row.state,
    hiddenReason: row.hidden_reason,
    health: row.health,
    misses: row.misses,
    failingSinceMs: row.failing_since_ms,
    verifiedAtMs: row.verified_at_ms,
    lastProbeAtMs: row.last_probe_at_ms,
    nextProbeMs: row.next_probe_ms,
  };
}
