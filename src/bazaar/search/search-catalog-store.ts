// One page of a search, as every face shows it: reads the cursor, asks the index, loads the rows, writes the next
// cursor. The index's words and rules are loaded with the first search, because every start would wait for them.

import { type CatalogFilters, conditionOf } from "../catalog/catalog-filter.ts";
import { loadListings, type ShownListing } from "../catalog/catalog-read-store.ts";
import { MAX_SEARCH_DEPTH, readCursor, writeCursor } from "../catalog/result-cursor.ts";

export interface CatalogSearch {
  /** As typed: 1 to `MAX_QUERY_CHARACTERS` characters. */
  query: string;
  filters: CatalogFilters;
  /** 1 to 100. */
  limit: number;
  /** Of the page before; absent on the first. */
  cursor?: string;
  nowMs: number;
}

export type CatalogSearchResult =
  | {
      ok: true;
      /** Best first. */
      listings: ShownListing[];
      /** More listings match than this page holds. */
      hasMore: boolean;
      /**
       * The cursor of the page that follows, or null when none does. With `unshown`, the first of `listings` that did
       * not fit into an answer: the cursor of the page that begins there.
       */
      nextCursor(unshown?: ShownListing): Promise<string | null>;
    }
  | { ok: false; reason: "cursor_expired" };

export async function searchCatalog(db: D1Database, search: CatalogSearch): Promise<CatalogSearchResult> {
  const { query, filters, limit, cursor, nowMs } = search;
  const { indexGeneration, searchListings } = await import("./search-store.ts");
  const scopeOf = (generation: number) => ({ search: JSON.stringify([query, filters]), generation });
  // Only a cursor must be judged by it first; the first page does not wait for it.
  const asked = indexGeneration(db);
  const before = cursor === undefined ? [] : await readCursor(scopeOf(await asked), cursor);
  if (!before) return { ok: false, reason: "cursor_expired" };

  const [generation, page] = await Promise.all([
    asked,
    searchListings(db, {
      query,
      condition: conditionOf(filters),
      forOnePayTo: filters.payTo !== undefined,
      shownRowIds: before,
      limit: Math.min(limit, MAX_SEARCH_DEPTH - before.length),
      nowMs,
    }),
  ]);
  return {
    ok: true,
    listings: await loadListings(db, page.rowIds),
    hasMore: page.hasMore,
    nextCursor: async (unshown) => {
      const shownHere = unshown ? page.rowIds.slice(0, page.rowIds.indexOf(unshown.rowId)) : page.rowIds;
      const shown = [...before, ...shownHere];
      const goesOn = (unshown !== undefined || page.hasMore) && shown.length < MAX_SEARCH_DEPTH;
      return goesOn ? writeCursor(scopeOf(generation), shown) : null;
    },
  };
}
