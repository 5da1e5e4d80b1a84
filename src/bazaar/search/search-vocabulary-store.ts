// What the catalog's words say about a query, asked of D1: how common its words are, what a misspelt one may have been
// meant as, how an unfinished one may end.

import { RARE_LISTINGS } from "./search-concepts.ts";
import {
  type ReadQuery,
  type Vocabulary,
  type VocabularyQuestion,
  vocabularyQuestion,
} from "./search-query.ts";
import type { KnownWord } from "./search-spelling.ts";

const MAX_SIMILAR = 12;
/** Two edits, and an ending. */
const MAX_LENGTH_DIFFERENCE = 4;
const MAX_COMPLETIONS = 30;
/** How common a word is that was not typed matters up to here only. */
const MAX_COUNTED = 60;

const COUNTED = `(SELECT count(*) FROM (SELECT 1 FROM listing_search
    WHERE listing_search MATCH '"' || words.stem || '"' LIMIT ${MAX_COUNTED})) AS listings`;

/** ?1 is a JSON array. */
const SQL = {
  countStems: `SELECT asked.value AS stem, terms.doc AS listings
    FROM json_each(?1) AS asked CROSS JOIN listing_search_terms AS terms ON terms.term = asked.value`,
  knownWords: "SELECT word FROM search_words WHERE word IN (SELECT value FROM json_each(?1))",
  // Near enough to the number of listings, and found without counting them.
  catalogSize: "SELECT coalesce(max(row_id), 0) AS listings FROM listings WHERE ?1 IS NOT NULL",
  // Of each word: [word, stem, trigrams as a match expression].
  similarWords: `SELECT asked.value ->> 0 AS asked, words.word, words.stem, ${COUNTED}
    FROM json_each(?1) AS asked
    CROSS JOIN search_words AS words ON words.id IN (
      SELECT rowid FROM search_word_trigrams WHERE search_word_trigrams MATCH asked.value ->> 2
      ORDER BY rank LIMIT ${MAX_SIMILAR})
    WHERE abs(length(words.word) - length(asked.value ->> 0)) <= ${MAX_LENGTH_DIFFERENCE}
      AND coalesce((SELECT doc FROM listing_search_terms WHERE term = asked.value ->> 1), 0) <= ${RARE_LISTINGS}`,
  completions: `SELECT words.word, words.stem, ${COUNTED}
    FROM (SELECT word, stem FROM search_words
      WHERE word > ?1 ->> 0 AND word < (?1 ->> 0) || char(0x10ffff) LIMIT ${MAX_COMPLETIONS}) AS words
    WHERE NOT EXISTS (SELECT 1 FROM search_words WHERE word = ?1 ->> 0) ORDER BY listings DESC`,
};

type Row = Record<string, unknown>;

/** Asks D1 only for what this isolate does not know: of a query whose words are common, next to nothing. */
export async function askVocabulary(db: D1Database, read: ReadQuery, nowMs: number): Promise<Vocabulary> {
  const { own, others, spellings, halves, start } = vocabularyQuestion(read);
  const memory = memoryOf(db, nowMs);
  const remembered = (stem: string) => memory.listingsWith.get(stem);
  const isFresh = (stem: string) => nowMs < (remembered(stem)?.untilMs ?? 0);
  const isRare = (stem: string) => (remembered(stem)?.listings ?? 0) <= RARE_LISTINGS;
  // The query's own words are asked for again while no listing has them: one of a moment ago must be found by them.
  const uncounted = [
    ...own.filter((stem) => !isFresh(stem) || remembered(stem)?.listings === 0),
    ...others.filter((stem) => !isFresh(stem)),
  ];
  const [size, counted, known, similar, completions] = await askEach(db, [
    [SQL.catalogSize, memory.catalogSize === undefined ? ["listings"] : []],
    [SQL.countStems, uncounted],
    [SQL.knownWords, halves.filter(({ stem }) => isRare(stem)).flatMap((word) => word.halves)],
    [SQL.similarWords, spellings.filter(({ stem }) => isRare(stem)).map(misspelling)],
    [SQL.completions, start === undefined || !isRare(start.stem) ? [] : [start.text]],
  ]);
  memory.catalogSize ??= size[0]?.listings as number | undefined;
  const found = new Map(counted.map((row) => [row.stem as string, row.listings as number]));
  for (const stem of uncounted) {
    const listings = found.get(stem) ?? 0;
    memory.listingsWith.set(stem, { listings, untilMs: nowMs + (listings > 0 ? MEMORY_MS : ABSENCE_MS) });
  }
  return {
    listings: memory.catalogSize ?? 0,
    listingsWith: new Map([...own, ...others].map((stem) => [stem, remembered(stem)?.listings ?? 0])),
    halves: new Set(known.map((row) => row.word as string)),
    similar: Map.groupBy(similar as unknown as (KnownWord & { asked: string })[], (row) => row.asked),
    completions: completions as unknown as KnownWord[],
  };
}

function misspelling({ word, stem, trigrams }: VocabularyQuestion["spellings"][number]): string[] {
  return [word, stem, trigrams.map((three) => `"${three}"`).join(" OR ")];
}

/** Runs those statements that have something to ask about, each with its list as JSON; no rows for the others. */
async function askEach(
  db: D1Database,
  questions: readonly (readonly [sql: string, about: readonly unknown[]])[],
): Promise<[Row[], Row[], Row[], Row[], Row[]]> {
  const asked = questions.filter(([, about]) => about.length > 0);
  const results =
    asked.length === 0
      ? []
      : await db.batch<Row>(asked.map(([sql, about]) => db.prepare(sql).bind(JSON.stringify(about))));
  const rowsOf = (index: number) => {
    const question = questions[index];
    return (question && results[asked.indexOf(question)]?.results) ?? [];
  };
  return [rowsOf(0), rowsOf(1), rowsOf(2), rowsOf(3), rowsOf(4)];
}

/** Of one isolate: counting a common word reads its whole list, and no word changes much within a minute. */
interface Memory {
  catalogSize?: number | undefined;
  listingsWith: Map<string, { listings: number; untilMs: number }>;
  untilMs: number;
}

const MEMORY_MS = 60_000;
/** That no listing has a synonym: the first one that has it is found by its own words at once, by others this much later. */
const ABSENCE_MS = 10_000;
const MAX_REMEMBERED_STEMS = 5_000;
const memories = new WeakMap<D1Database, Memory>();

function memoryOf(db: D1Database, nowMs: number): Memory {
  const kept = memories.get(db);
  if (kept && nowMs < kept.untilMs && kept.listingsWith.size < MAX_REMEMBERED_STEMS) return kept;
  const fresh: Memory = { listingsWith: new Map(), untilMs: nowMs + MEMORY_MS };
  memories.set(db, fresh);
  return fresh;
}
