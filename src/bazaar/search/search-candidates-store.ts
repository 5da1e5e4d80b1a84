// The rows that a search compares, fetched from D1: those that meet the caller's condition and have most of what was
// asked. Their order is decided in ranking.ts.

import { type Candidate, UNCONFIRMED_PERMILLE } from "./ranking.ts";
import type { SearchQuery } from "./search-concepts.ts";
import { FIELD_NAMES, type SearchFields } from "./search-fields.ts";
import { matchesOf, type WeighedMatch } from "./search-match.ts";
import type { SearchRequest } from "./search-port.ts";
import { FIELD_WEIGHTS } from "./search-relevance.ts";

/** Rows fetched beside those of the page; comparing one costs about 10 us. */
const SPARE_CANDIDATES = 100;
/** Where bm25 of one concept stops to tell: beyond it are rare words in short texts. */
const MAX_BM25 = 8;

const WEIGHTS = FIELD_NAMES.map((name) => FIELD_WEIGHTS[name]).join(", ");
const BM25 = `bm25(s.listing_search, ${WEIGHTS})`;

/** No stem has a line's end in it. */
const TEXTS = FIELD_NAMES.map((name) => `t.${name}`).join(" || char(10) || ");

/** What a listing keeps of its score before it is compared, by the same rule as in ranking.ts. */
const TRUST = `iif(l.verified_at_ms IS NULL, ${UNCONFIRMED_PERMILLE}, 1000)`;

const SQL = {
  // Each concept's rows by themselves, then summed: a row with two concepts comes before one that says the first
  // twice, or in two languages. The best row ids first, their texts after: most matches are not fetched, and the index
  // says of them what is asked without their rows, which are long. The texts come as one: D1 answers value by value.
  matching: (condition: string) => `WITH hits AS MATERIALIZED (
      SELECT s.rowid AS row, (asked.value ->> 1) * (1 + min(-${BM25}, ${MAX_BM25})) AS score
      FROM json_each(?) AS asked CROSS JOIN listing_search AS s
      WHERE s.listing_search MATCH asked.value ->> 0),
    best AS MATERIALIZED (
      SELECT l.row_id AS row FROM (SELECT row, sum(score) AS score FROM hits GROUP BY row) AS scored
      CROSS JOIN listings AS l INDEXED BY listings_searched ON l.row_id = scored.row
      WHERE ${condition}
      ORDER BY scored.score * ${TRUST} DESC LIMIT ?)
    SELECT l.row_id AS rowId, l.owner_pay_to AS ownerPayTo, l.host AS listedHost, l.verified_at_ms AS verifiedAtMs,
      l.payers_30d AS payers30d, l.last_called_ms AS lastCalledMs, l.health,
      t.stuffed, ${TEXTS} AS texts
    FROM best CROSS JOIN listing_search AS t ON t.rowid = best.row CROSS JOIN listings AS l ON l.row_id = best.row`,
  shownPayTos: `SELECT owner_pay_to AS payTo, count(*) AS rows FROM listings
    WHERE row_id IN (SELECT value FROM json_each(?1)) GROUP BY owner_pay_to`,
};

export interface FoundCandidates {
  rows: Candidate[];
  /** Of the earlier pages. */
  shownPerPayTo: Map<string, number>;
}

type Row = Record<string, unknown>;

/** What has most of the concepts, and whatever bears the query's name. */
export async function fetchCandidates(
  db: D1Database,
  query: SearchQuery,
  request: SearchRequest,
): Promise<FoundCandidates> {
  const { shownRowIds, forOnePayTo, limit } = request;
  const matches = matchesOf(query);
  const most = limit + SPARE_CANDIDATES;
  const [best, payTos] = await db.batch<Row>([
    matching(db, request, matches, most),
    ...(shownRowIds.length > 0 ? [db.prepare(SQL.shownPayTos).bind(JSON.stringify(shownRowIds))] : []),
  ]);
  const found = best?.results ?? [];
  const crowding = forOnePayTo || found.length < most ? [] : crowdingPayTos(found);
  const others =
    crowding.length > 0 ? await matching(db, request, matches, most, crowding).all<Row>() : undefined;
  return {
    rows: [...found, ...(others?.results ?? [])].map(candidate),
    shownPerPayTo: new Map(payTos?.results.map((row) => [row.payTo as string, row.rows as number])),
  };
}

function matching(
  db: D1Database,
  { condition, shownRowIds }: SearchRequest,
  matches: readonly WeighedMatch[],
  most: number,
  withoutPayTos: readonly string[] = [],
): D1PreparedStatement {
  const without = [
    { column: "l.row_id", values: shownRowIds },
    { column: "l.owner_pay_to", values: withoutPayTos },
  ].filter(({ values }) => values.length > 0);
  const terms = without.map(({ column }) => `${column} NOT IN (SELECT value FROM json_each(?))`);
  return db
    .prepare(SQL.matching([`(${condition.sql})`, ...terms].join(" AND ")))
    .bind(
      JSON.stringify(matches),
      ...condition.params,
      ...without.map(({ values }) => JSON.stringify(values)),
      most,
    );
}

/** Of the rows fetched: one payTo with more may have kept others from being looked at. */
const CROWDING_SHARE = 0.2;

function crowdingPayTos(found: readonly Row[]): string[] {
  const rows = Map.groupBy(found, (row) => row.ownerPayTo as string);
  return [...rows].filter(([, own]) => own.length > CROWDING_SHARE * found.length).map(([payTo]) => payTo);
}

function candidate(row: Row): Candidate {
  return {
    rowId: row.rowId as number,
    fields: fieldsOf(row.texts as string),
    ownerPayTo: row.ownerPayTo as string,
    host: row.listedHost as string,
    isStuffed: row.stuffed === 1,
    trust: {
      isConfirmed: row.verifiedAtMs !== null,
      payers30d: row.payers30d as number,
      lastCalledMs: row.lastCalledMs as number,
      health: row.health as Candidate["trust"]["health"],
    },
  };
}

function fieldsOf(texts: string): SearchFields {
  const [name = "", tags = "", route = "", parameters = "", description = "", host = ""] = texts.split("\n");
  return { name, tags, route, parameters, description, host };
}
