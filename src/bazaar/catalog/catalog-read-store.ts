// Reads pages of the catalog. Filters come as a condition, order is by first listing, newest first; a later settle moves
// nothing. A row that cannot be shown is left out without shifting the page.

import { log } from "../../platform/log.ts";
import type { ListingCondition } from "../search/search-port.ts";
import { type ListingRow, type OfferRow, type Resource, readResource } from "./resource.ts";
import { SHOWN_OFFER } from "./shown-offers.ts";

const COLUMNS = `l.row_id, l.id, l.type, l.resource, l.method, l.tool_name, l.x402_version, l.example_url,
  l.service_name, l.tags, l.icon_url, l.description, l.mime_type, l.bazaar, l.extensions, l.last_updated_ms,
  l.calls_30d, l.payers_30d, l.last_called_ms, l.verified_at_ms, l.health`;

const SQL = {
  count: (condition: string) => `SELECT count(*) AS total FROM listings AS l WHERE ${condition}`,
  page: (condition: string) => `SELECT ${COLUMNS} FROM listings AS l WHERE ${condition}
    ORDER BY l.first_listed_ms DESC, l.id DESC LIMIT ? OFFSET ?`,
  byRowIds: `SELECT ${COLUMNS} FROM json_each(?) AS wanted JOIN listings AS l ON l.row_id = wanted.value
    WHERE l.state = 'listed' ORDER BY wanted.key`,
  byId: `SELECT ${COLUMNS} FROM listings AS l WHERE l.id = ? AND l.state = 'listed'`,
  offers: `SELECT o.listing_id, o.scheme, o.method, o.requirements, o.usd_micros
    FROM json_each(?) AS wanted JOIN listings AS l ON l.row_id = wanted.value JOIN offers AS o ON o.listing_id = l.id
    WHERE ${SHOWN_OFFER} ORDER BY o.network, o.scheme, o.method, o.asset, o.pay_to`,
};

/** A listing with what the faces need besides the resource itself. */
export interface ShownListing {
  rowId: number;
  resource: Resource;
  /** In the order of `resource.accepts`. */
  offers: readonly OfferRow[];
  lastUpdatedMs: number;
}

export interface ListPage {
  listings: ShownListing[];
  /** All that match, shown or not. */
  total: number;
}

export async function listListings(
  db: D1Database,
  { sql, params }: ListingCondition,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListPage> {
  const [counted, page] = await db.batch<Record<string, unknown>>([
    db.prepare(SQL.count(sql)).bind(...params),
    db.prepare(SQL.page(sql)).bind(...params, limit, offset),
  ]);
  const rows = (page?.results ?? []) as unknown as ListingRow[];
  return { listings: await withOffers(db, rows), total: Number(counted?.results[0]?.total ?? 0) };
}

/** Listings by the ids that a search found, in its order. */
export async function loadListings(db: D1Database, rowIds: readonly number[]): Promise<ShownListing[]> {
  if (rowIds.length === 0) return [];
  const wanted = JSON.stringify(rowIds);
  const [rows, offers] = await db.batch<Record<string, unknown>>(
    [SQL.byRowIds, SQL.offers].map((sql) => db.prepare(sql).bind(wanted)),
  );
  return shown(
    (rows?.results ?? []) as unknown as ListingRow[],
    (offers?.results ?? []) as unknown as OfferRow[],
  );
}

/** One listing by its id; undefined when there is none or it is hidden. */
export async function findListing(db: D1Database, id: string): Promise<ShownListing | undefined> {
  const { results } = await db.prepare(SQL.byId).bind(id).all<ListingRow>();
  return (await withOffers(db, results))[0];
}

async function withOffers(db: D1Database, rows: readonly ListingRow[]): Promise<ShownListing[]> {
  if (rows.length === 0) return [];
  const wanted = JSON.stringify(rows.map(({ row_id }) => row_id));
  const { results } = await db.prepare(SQL.offers).bind(wanted).all<OfferRow>();
  return shown(rows, results);
}

function shown(rows: readonly ListingRow[], offerRows: readonly OfferRow[]): ShownListing[] {
  const offersOf = Map.groupBy(offerRows, (offer) => offer.listing_id);
  return rows.flatMap((row) => {
    const offers = offersOf.get(row.id) ?? [];
    const resource = readResource(row, offers);
    if (!resource) log("listing_unreadable", { listingId: row.id });
    return resource ? [{ rowId: row.row_id, resource, offers, lastUpdatedMs: row.last_updated_ms }] : [];
  });
}
