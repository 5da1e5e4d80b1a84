// The search index of the catalog: writes a listing's entry, answers a query, rebuilds the whole. Which rows a caller may
// see is decided by the condition it brings.
//
//   query -> words (search-query) -> vocabulary (search-vocabulary-store) -> concepts (search-concepts)
//         -> candidates (search-candidates-store) -> order (ranking)

import { rank } from "./ranking.ts";
import { fetchCandidates } from "./search-candidates-store.ts";
import { resolveQuery } from "./search-concepts.ts";
import { FIELD_NAMES, searchFields, vocabularyOf } from "./search-fields.ts";
import type { IndexedListing, SearchPage, SearchRequest } from "./search-port.ts";
import { readQuery } from "./search-query.ts";
import { isStuffed } from "./search-stuffing.ts";
import { askVocabulary } from "./search-vocabulary-store.ts";

const SQL = {
  writeEntry: `INSERT OR REPLACE INTO listing_search (rowid, name, tags, route, parameters, description, host, stuffed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
  learnWords: `INSERT OR IGNORE INTO search_words (word, stem)
    SELECT value ->> 0, value ->> 1 FROM json_each(?1)`,
  generation: "SELECT generation FROM search_index WHERE id = 1",
  nextGeneration: "UPDATE search_index SET generation = generation + 1 WHERE id = 1",
};

/** See `SearchRequest` and `SearchPage`. A query without a letter or digit finds nothing. */
export async function searchListings(db: D1Database, request: SearchRequest): Promise<SearchPage> {
  const { nowMs, limit, shownRowIds, forOnePayTo } = request;
  const read = readQuery(request.query);
  if (read.words.length === 0) return { rowIds: [], hasMore: false };
  const vocabulary = await askVocabulary(db, read, nowMs);
  const query = resolveQuery(read, vocabulary);
  const found = await fetchCandidates(db, query, request);
  const rowIds = rank(
    {
      query,
      nowMs,
      isFirstPage: shownRowIds.length === 0,
      shownPerPayTo: forOnePayTo ? null : found.shownPerPayTo,
    },
    found.rows,
  );
  return { rowIds: rowIds.slice(0, limit), hasMore: rowIds.length > limit };
}

/** Statements that replace this listing's entry. */
export function indexStatements(db: D1Database, listing: IndexedListing): D1PreparedStatement[] {
  const fields = searchFields(listing);
  const words = vocabularyOf(listing).map(({ text, stem }) => [text, stem]);
  return [
    db
      .prepare(SQL.writeEntry)
      .bind(listing.rowId, ...FIELD_NAMES.map((name) => fields[name]), isStuffed(listing) ? 1 : 0),
    db.prepare(SQL.learnWords).bind(JSON.stringify(words)),
  ];
}

/** Changes only when the index is rebuilt. */
export async function indexGeneration(db: D1Database): Promise<number> {
  const row = await db.prepare(SQL.generation).first<{ generation: number }>();
  return row?.generation ?? 1;
}

/**
 * Begins a rebuild from the base table, for a change of how stems or fields are made, or an index that is in doubt. The
 * migration's trigger does the rest: it makes every listing due for `indexLeftBehind`. Cursors expire.
 */
export async function rebuildIndex(db: D1Database): Promise<void> {
  await db.prepare(SQL.nextGeneration).run();
}
