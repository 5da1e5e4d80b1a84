// A word nobody sells -> the words it may have been meant as. The words the catalog knows are found by shared trigrams
// (search-store.ts); here they are judged by the edits between them. Pure.

import { GRAMMAR_WORDS } from "./search-common-words.ts";
import { stemOf } from "./search-words.ts";

/** The mark around a word, as the migration's trigger writes it: first and last letters then have trigrams too. */
const START = "^";
const END = "$";

/** Letters of an alphabet; longer words are not typed. */
const VOCABULARY = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{3,24}$/u;
/** A slip in a shorter word leaves too little to know it by. */
const MIN_SPELLABLE_CHARACTERS = 4;

/** Whether the catalog's vocabulary holds such a word. */
export function isVocabulary(word: string): boolean {
  return VOCABULARY.test(word) && !GRAMMAR_WORDS.has(word);
}

/** Whether such a word may be corrected. */
export function isSpellable(word: string): boolean {
  return word.length >= MIN_SPELLABLE_CHARACTERS && isVocabulary(word);
}

/** Every three characters in a row of the marked word, once. */
export function trigramsOf(word: string): string[] {
  const characters = [...`${START}${word}${END}`];
  const trigrams = new Set<string>();
  for (let i = 0; i + 2 < characters.length; i++) trigrams.add(characters.slice(i, i + 3).join(""));
  return [...trigrams];
}

/**
 * Edits that still count as a slip of the hand: one in a short word, two from eight letters on, where two edits leave
 * enough of the word to be sure.
 */
function allowedEdits(word: string): number {
  return word.length >= 8 ? 2 : 1;
}

/** Another letter makes another word of a short one, a `sink` a `link`; a letter lost or two swapped do not. */
const MIN_REPLACED_CHARACTERS = 5;

function isAnotherWord(word: string, known: string): boolean {
  if (word.length >= MIN_REPLACED_CHARACTERS || known.length > word.length) return false;
  return [...word].sort().join("") !== [...known].sort().join("");
}

/** A word of the catalog. */
export interface KnownWord {
  word: string;
  stem: string;
  /** Listings that have its stem, counted up to a few dozen. */
  listings: number;
}

export interface Correction extends KnownWord {
  edits: number;
}

/**
 * The nearest of `known`, at most `limit`; only those of the smallest distance, so that an exact slip is not drowned by
 * words that merely look alike, and one form of each word. Of like distance the commoner goes first. Empty when none is
 * near enough.
 */
export function correctionsOf(word: string, known: readonly KnownWord[], limit: number): Correction[] {
  const allowed = allowedEdits(word);
  const near = known
    .filter(({ word: other }) => other !== word && !isAnotherWord(word, other))
    .map((candidate) => ({ ...candidate, edits: editsTo(word, candidate) }))
    .filter(({ edits }) => edits <= allowed);
  const fewest = Math.min(...near.map(({ edits }) => edits));
  const nearest = near.filter(({ edits }) => edits === fewest).sort((a, b) => b.listings - a.listings);
  return [...Map.groupBy(nearest, ({ stem }) => stem).values()]
    .flatMap(([first]) => first ?? [])
    .slice(0, limit);
}

/** The catalog may know a word in another form only: its stem is compared too. */
function editsTo(word: string, known: KnownWord): number {
  return Math.min(editsBetween(word, known.word), editsBetween(stemOf(word), known.stem));
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function editsBetween(left: string, right: string): number {
  const a = [...left];
  const b = [...right];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
