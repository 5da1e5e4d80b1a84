// Finds the phrases of the synonym list that stand in a query: `exchange rate` is one thing, and so is a word of a script
// without spaces, which search-words.ts has cut into pairs. Used by search-concepts.ts. Pure.

import type { QueryWord } from "./search-query.ts";
import { type Phrase, type Synonym, synonyms } from "./search-synonyms.ts";

export interface FoundPhrase {
  phrase: Phrase;
  /** What it also finds. */
  also: readonly Synonym[];
}

/**
 * The phrases among `stems`, which are those of `words`, longest first, by the positions of their words. A word of an
 * unspaced script is kept at its first pair; its other pairs and those that straddle its ends are `dropped`.
 */
export function phrasesIn(words: readonly QueryWord[], stems: Phrase) {
  const phrasesAt = new Map<number, FoundPhrase>();
  const dropped = new Set<number>();
  for (let from = 0; from < words.length; from++) {
    const found = longestPhrase(stems, from);
    const isPair = words[from]?.isPair === true;
    const length = found?.phrase.length ?? 0;
    if (!found || (length === 1 && !isPair)) continue;
    for (let i = from; i < from + length; i++) phrasesAt.set(i, found);
    let next = from + length;
    if (isPair) {
      if (words[from]?.overlapsPrevious) dropped.add(from - 1);
      if (words[next]?.overlapsPrevious) next++;
      for (let i = from + 1; i < next; i++) dropped.add(i);
    }
    from = next - 1;
  }
  return { phrasesAt, dropped };
}

function longestPhrase(stems: readonly string[], from: number): FoundPhrase | undefined {
  const longest = Math.min(synonyms().longestFrom(stems[from] ?? ""), stems.length - from);
  for (let length = longest; length >= 1; length--) {
    const phrase = stems.slice(from, from + length);
    const also = synonyms().of(phrase);
    if (also.length > 0) return { phrase, also };
  }
  return undefined;
}
