// A Worker for measuring search: fills a catalog through the cataloger's write path and searches it, next to the storage
// as the deployed Worker is. Bundled and started by measured-worker.ts; never deployed.

import { type CatalogFilters, conditionOf } from "../../src/bazaar/catalog/catalog-filter.ts";
import { storeObservation } from "../../src/bazaar/catalog/catalog-store.ts";
import { indexListing } from "../../src/bazaar/catalog/index-listing-store.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";
import { searchListings } from "../../src/bazaar/search/search-store.ts";
import { priceInUsdMicros } from "../../src/payments/dollar-price.ts";

export interface FillRequest {
  messages: CatalogMessage[];
}

export interface FillAnswer {
  /** Row of each message's listing. */
  rowIds: number[];
  /** What D1 counted for the catalog's own rows, and for the search index. */
  rowsWritten: { catalog: number; index: number };
}

export interface SearchBody {
  query: string;
  filters: CatalogFilters;
  limit: number;
}

export interface SearchAnswer {
  rowIds: number[];
}

interface Env {
  DB: D1Database;
}

export default {
  async fetch(request: Request, { DB }: Env): Promise<Response> {
    const body = await request.json();
    const { pathname } = new URL(request.url);
    if (pathname === "/fill") return Response.json(await fill(DB, body as FillRequest));
    if (pathname === "/confirm") return Response.json(await confirmAll(DB));
    return Response.json(await search(DB, body as SearchBody));
  },
};

async function fill(db: D1Database, { messages }: FillRequest): Promise<FillAnswer> {
  const rowsWritten = { catalog: 0, index: 0 };
  const listingIds: string[] = [];
  const statements: D1PreparedStatement[] = [];
  // One transaction for all of them: twenty thousand would otherwise take minutes.
  const catalog = withBatch(db, async (batch) => {
    statements.push(...batch);
    return [];
  });
  for (const message of messages) {
    const priceOf = priceInUsdMicros.bind(null, new Map());
    const { listingId } = await storeObservation(catalog, message, { priceOf, nowMs: message.settledAtMs });
    listingIds.push(listingId);
  }
  for (const { meta } of await db.batch(statements)) rowsWritten.catalog += meta.rows_written;
  const index = withBatch(db, async (batch) => {
    const results = await db.batch(batch);
    for (const { meta } of results) rowsWritten.index += meta.rows_written;
    return results;
  });
  await Promise.all(listingIds.map((listingId) => indexListing(index, listingId)));
  return { rowIds: await rowIdsOf(db, listingIds), rowsWritten };
}

/** The database, with its batches run by `batch`. */
function withBatch(
  db: D1Database,
  batch: (statements: D1PreparedStatement[]) => Promise<D1Result[]>,
): D1Database {
  return Object.assign(Object.create(db), { prepare: (sql: string) => db.prepare(sql), batch }) as D1Database;
}

async function rowIdsOf(db: D1Database, listingIds: readonly string[]): Promise<number[]> {
  const { results } = await db
    .prepare(
      "SELECT l.row_id FROM json_each(?1) AS wanted JOIN listings AS l ON l.id = wanted.value ORDER BY wanted.key",
    )
    .bind(JSON.stringify(listingIds))
    .all<{ row_id: number }>();
  if (results.length < listingIds.length) throw new Error("some messages were not listed");
  return results.map(({ row_id }) => row_id);
}

/** As if each origin had named its offers. */
async function confirmAll(db: D1Database): Promise<null> {
  await db.batch([
    db.prepare("UPDATE offers SET confirmed = 1, confirmed_at_ms = updated_ms"),
    db.prepare("UPDATE listings SET verified_at_ms = last_updated_ms, health = 'ok'"),
  ]);
  return null;
}

async function search(db: D1Database, { query, filters, limit }: SearchBody): Promise<SearchAnswer> {
  const { rowIds } = await searchListings(db, {
    query,
    condition: conditionOf(filters),
    forOnePayTo: false,
    shownRowIds: [],
    limit,
    nowMs: Date.now(),
  });
  return { rowIds };
}
