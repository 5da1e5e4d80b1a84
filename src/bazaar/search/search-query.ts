// A query as typed -> words, and what to ask the catalog's vocabulary about them. The first of two steps:
// search-concepts.ts makes of it and the vocabulary's answer what is searched. Pure.

import { isGrammar, tellingWordsOf } from "./search-common-words.ts";
import { isSpellable, type KnownWord, trigramsOf } from "./search-spelling.ts";
import { synonyms } from "./search-synonyms.ts";
import { isUnspaced, stemOf, type Word } from "./search-words.ts";

/** Longer queries are pasted text: what is asked stands at the start. */
export const MAX_QUERY_CHARACTERS = 400;
const MAX_WORDS = 24;
const MAX_QUOTED = 3;
/** A title or brand; more words are a sentence in capitals. */
const MAX_NAME_WORDS = 4;

const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?((?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*)(?::\d+)?(?:[/?#]\S*)?$/i;

export interface QueryWord extends Word {
  isCapital: boolean;
  /** A pair of characters of a script without spaces. */
  isPair: boolean;
}

/** How a query is written says what it asks for. */
export type QueryForm =
  /** Any words. */
  | "words"
  /** `getTokenPrice`, `get_token_price`: one thing. */
  | "identifier"
  /** Few words, each with a capital, like a title or brand: one thing. */
  | "name"
  /** A host or URL: one place. */
  | "host"
  /** Grammar alone: nothing, unless it is a name. */
  | "grammar";

export interface ReadQuery {
  /** Without grammar, unless there is nothing else. */
  words: readonly QueryWord[];
  form: QueryForm;
  /** Lower case; set when the form is `host`. */
  host?: string;
  /** Quoted by the asker: stems that a result has word for word. */
  quoted: readonly (readonly string[])[];
}

/** What to ask the vocabulary. */
export interface VocabularyQuestion {
  /** Stems whose listings are counted: of the words as typed ... */
  own: readonly string[];
  /** ... and of two of them written as one, and of synonyms. */
  others: readonly string[];
  /** Words that may be misspelt, if they are in next to no listing. */
  spellings: readonly { word: string; stem: string; trigrams: readonly string[] }[];
  /** Stems with the words that each may be made of, if it is in next to no listing. */
  halves: readonly { stem: string; halves: readonly string[] }[];
  /** The last word, which may be unfinished if it is in next to no listing. */
  start?: { text: string; stem: string };
}

export interface Vocabulary {
  /** Listings in the catalog, about. */
  listings: number;
  /** Listings that have the stem, 0 where none has; absent when it was not asked for. */
  listingsWith: ReadonlyMap<string, number>;
  /** Known words that share trigrams with a word as typed. */
  similar: ReadonlyMap<string, readonly KnownWord[]>;
  /** Those of the halves that are words. */
  halves: ReadonlySet<string>;
  /** Known words that start like the last one, the commonest first; none when that is a known word itself. */
  completions: readonly KnownWord[];
}

/** Never fails; a query without a letter or digit has no words. */
export function readQuery(typed: string): ReadQuery {
  const text = [...typed].slice(0, MAX_QUERY_CHARACTERS).join("").trim();
  const words = tellingWordsOf(text).slice(0, MAX_WORDS).map(queryWord);
  const host = HOST.exec(text)?.[1]?.toLowerCase();
  const quoted = [...text.matchAll(/"([^"]+)"/g)]
    .slice(0, MAX_QUOTED)
    .map(([, phrase = ""]) => tellingWordsOf(phrase).map((word) => word.stem))
    .filter((stems) => stems.length > 0);
  return { words, form: formOf(text, words, host), quoted, ...(host !== undefined && { host }) };
}

function queryWord(word: Word): QueryWord {
  return {
    ...word,
    isCapital: /^\p{Lu}/u.test(word.typed),
    isPair: isUnspaced(word.text),
  };
}

function formOf(text: string, words: readonly QueryWord[], host: string | undefined): QueryForm {
  if (host !== undefined) return "host";
  if (words.every(isGrammar)) return "grammar";
  if (words.length === 1 || words.some((word) => word.isPair)) return "words";
  if (/^[\p{L}\p{N}\p{M}_]+$/u.test(text)) return "identifier";
  return words.length <= MAX_NAME_WORDS && words.every((word) => word.isCapital) ? "name" : "words";
}

/** Shorter starts have too many ends. */
const MIN_START_CHARACTERS = 3;

export function vocabularyQuestion({ words }: ReadQuery): VocabularyQuestion {
  const last = words.at(-1);
  const mayBeUnfinished = last && !last.isPair && last.text.length >= MIN_START_CHARACTERS;
  return {
    own: [...new Set(words.flatMap(({ stem, whole }) => (whole === undefined ? [stem] : [stem, whole])))],
    others: [...new Set([...joinedStems(words), ...synonymStems(words)])],
    spellings: words
      .filter(
        ({ text }, index) => isSpellable(text) && words.findIndex((word) => word.text === text) === index,
      )
      .map(({ text, stem }) => ({ word: text, stem, trigrams: trigramsOf(text) })),
    halves: words.map(({ stem, text }) => ({ stem, halves: halvesOf(text).flat() })),
    ...(mayBeUnfinished && { start: { text: last.text, stem: last.stem } }),
  };
}

function joinedStems(words: readonly QueryWord[]): string[] {
  return words.flatMap((word, index) => {
    const next = words[index + 1];
    return next && !word.isPair && !next.isPair ? [joinedStem(word.text, next.text)] : [];
  });
}

/** `screen shot` is also written `screenshot`. */
export function joinedStem(left: string, right: string): string {
  return stemOf(left + right);
}

/** Stems of all that the words, and the phrases among them, also find. */
function synonymStems(words: readonly QueryWord[]): string[] {
  const stems = words.map(({ stem }) => stem);
  return stems.flatMap((stem, from) =>
    Array.from({ length: synonyms().longestFrom(stem) }, (_, i) => stems.slice(from, from + i + 1)).flatMap(
      (phrase) =>
        synonyms()
          .of(phrase)
          .flatMap((synonym) => synonym.phrase),
    ),
  );
}

const MIN_COMPOUND_CHARACTERS = 7;
const MIN_HALF_CHARACTERS = 3;

/** Every way to see two words in one: `screenshot` is also written `screen shot`. */
export function halvesOf(word: string): [string, string][] {
  if (!isSpellable(word) || word.length < MIN_COMPOUND_CHARACTERS) return [];
  const halves: [string, string][] = [];
  for (let i = MIN_HALF_CHARACTERS; i <= word.length - MIN_HALF_CHARACTERS; i++) {
    halves.push([word.slice(0, i), word.slice(i)]);
  }
  return halves;
}
