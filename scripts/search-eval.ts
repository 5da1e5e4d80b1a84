// `npm run search-eval`: how good Souk's search is on a labelled set, beside plain bm25 and the substring of the whole
// query, and per style of query. The catalog is a real D1, filled through the cataloger's write path.
//
//   --set DIR    a folder with corpus.jsonl and queries.jsonl (default: test/fixtures/search)
//   --queries    each query's nDCG@10 too, the worst first
//   --json       one line of JSON at the end

import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "./build.ts";
import { bm25Search, passes, type Search, substringSearch } from "./search/baselines.ts";
import {
  type LabelledListing,
  type LabelledQuery,
  messagesOf,
  readLabelledSet,
} from "./search/labelled-set.ts";
import {
  type MeasuredCatalog,
  makeStateFolder,
  SETTLED_AT_MS,
  startMeasuredCatalog,
} from "./search/measured-catalog.ts";
import { hasAnswer, type Measures, measure, ndcg10, type Ranking } from "./search/measures.ts";

const { values: options } = parseArgs({
  options: {
    set: { type: "string", default: join(PROJECT_ROOT, "test", "fixtures", "search") },
    queries: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const { corpus, queries } = readLabelledSet(options.set);
/** As deep as recall is measured. */
const PAGE = 20;

const statePath = makeStateFolder();
const catalog = await startMeasuredCatalog(statePath);
try {
  const rankings = {
    souk: await run(await soukSearch(catalog)),
    bm25: await run(await bm25Search(catalog.other, corpus)),
    substring: await run(substringSearch(corpus)),
  };
  checkFilters(rankings.souk, corpus);
  const unanswered = queries.filter((query) => !hasAnswer(query)).length;
  console.log(
    `${corpus.length} listings, ${queries.length} queries, ${unanswered} of them without an answer\n`,
  );
  printSystems(rankings);
  printStyles(rankings);
  if (options.queries) printQueries(rankings.souk);
  const measures = Object.fromEntries(
    Object.entries(rankings).map(([name, ranking]) => [name, rounded(measure(ranking))]),
  );
  if (options.json) console.log(JSON.stringify(measures));
} finally {
  await catalog.stop();
  rmSync(statePath, { recursive: true, force: true });
}

async function soukSearch({ fill, search }: MeasuredCatalog): Promise<Search> {
  const messages = corpus.flatMap((listing) => {
    try {
      return messagesOf(listing, SETTLED_AT_MS).map((message) => ({ message, id: listing.id }));
    } catch (error) {
      console.error(`left out: ${error instanceof Error ? error.message : error}`);
      return [];
    }
  });
  const { rowIds } = await fill(messages.map(({ message }) => message));
  const idOfRow = new Map(rowIds.map((rowId, index) => [rowId, messages[index]?.id ?? ""]));
  return async ({ query, filters: { maxUsdPrice, ...filters } }) => {
    const ceiling = maxUsdPrice === undefined ? {} : { maxUsdMicros: Math.round(maxUsdPrice * 1_000_000) };
    const found = await search(query, { ...filters, ...ceiling }, PAGE);
    return found.map((rowId) => idOfRow.get(rowId) ?? `row ${rowId}`);
  };
}

async function run(search: Search): Promise<Ranking[]> {
  const rankings: Ranking[] = [];
  for (const query of queries) rankings.push({ query, found: await search(query) });
  return rankings;
}

/** The filters are SQL in the catalog and plain code here: one must not pass what the other refuses. */
function checkFilters(rankings: readonly Ranking[], listings: readonly LabelledListing[]): void {
  const byId = new Map(listings.map((listing) => [listing.id, listing]));
  for (const { query, found } of rankings) {
    const wrong = found.find((id) => {
      const listing = byId.get(id);
      return !listing || !passes(listing, query.filters);
    });
    if (wrong !== undefined) throw new Error(`${query.qid}: ${wrong} does not meet the filters`);
  }
}

function printSystems(rankings: Record<string, Ranking[]>): void {
  const row = (name: string, { ndcg10, mrr10, recall20, quiet }: Measures) => ({
    system: name,
    "nDCG@10": ndcg10.toFixed(3),
    "MRR@10": mrr10.toFixed(3),
    "recall@20": recall20.toFixed(3),
    quiet: quiet.toFixed(2),
  });
  const half = (rest: number) => (rankings.souk ?? []).filter((_, index) => index % 2 === rest);
  printTable([
    ...Object.entries(rankings).map(([name, ranking]) => row(name, measure(ranking))),
    // Far apart, they would say that the search was fitted to single queries.
    row("souk, 1st, 3rd, ... query", measure(half(0))),
    row("souk, 2nd, 4th, ... query", measure(half(1))),
  ]);
}

function printStyles(rankings: Record<string, Ranking[]>): void {
  const styles = [...new Set(queries.filter(hasAnswer).map(({ style }) => style))];
  const ofStyle = (system: string, style: string) =>
    (rankings[system] ?? []).filter(({ query }) => query.style === style && hasAnswer(query));
  const ndcg = (system: string, style: string) => measure(ofStyle(system, style)).ndcg10.toFixed(2);
  printTable(
    styles.map((style) => ({
      "nDCG@10 by style": style,
      queries: String(ofStyle("souk", style).length),
      ...Object.fromEntries(Object.keys(rankings).map((system) => [system, ndcg(system, style)])),
    })),
  );
}

function printQueries(rankings: readonly Ranking[]): void {
  const answered = rankings.filter(({ query }) => hasAnswer(query));
  const graded = (query: LabelledQuery, found: readonly string[]) =>
    found.map((id) => `${id}:${query.judgments[id] ?? 0}`).join(" ");
  printTable(
    answered
      .sort((a, b) => ndcg10(a) - ndcg10(b))
      .map((ranking) => ({
        "nDCG@10": ndcg10(ranking).toFixed(2),
        query: ranking.query.query,
        "found:grade": graded(ranking.query, ranking.found.slice(0, 6)),
      })),
  );
}

function printTable(rows: readonly Record<string, string>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const widths = columns.map((column) =>
    Math.max(...[column, ...rows.map((row) => row[column] ?? "")].map((text) => text.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ");
  console.log(line(columns));
  for (const row of rows) console.log(line(columns.map((column) => row[column] ?? "")));
  console.log();
}

function rounded(measures: Measures): Measures {
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  return {
    ndcg10: round(measures.ndcg10),
    mrr10: round(measures.mrr10),
    recall20: round(measures.recall20),
    quiet: round(measures.quiet),
  };
}
