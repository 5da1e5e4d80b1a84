// Tells a description from a list of words to be found by. Such listings stay in the catalog and can be found; they are
// ranked lower (ranking.ts), because they claim every subject. Pure.

import { GRAMMAR_WORDS } from "./search-common-words.ts";
import type { IndexedListing } from "./search-port.ts";
import { synonyms } from "./search-synonyms.ts";
import { isUnspaced, wordsOf } from "./search-words.ts";

/** A text shorter than this is terse, not stuffed. */
const MIN_WORDS = 12;
/** Prose has more words of grammar than this; checked only together with one of the signs below. */
const MAX_GRAMMAR_SHARE = 0.15;
/** Sign one: so many of its words were said before. */
const MIN_REPEATED_SHARE = 0.25;
/** Sign two: so many subjects, in so few words. */
const MIN_TOPICS = 8;
const MIN_TOPIC_SHARE = 0.3;

/** Whether tags and description are stuffed. Scripts without spaces are not judged: their grammar is not seen here. */
export function isStuffed(listing: Pick<IndexedListing, "tags" | "description">): boolean {
  const spaced = (text: string) => wordsOf(text).filter((word) => !isUnspaced(word.text));
  const prose = spaced(listing.description ?? "");
  const words = [...spaced(listing.tags.join(" , ")), ...prose];
  const telling = words.filter((word) => !GRAMMAR_WORDS.has(word.text)).map((word) => word.stem);
  const grammar = prose.filter((word) => GRAMMAR_WORDS.has(word.text)).length;
  if (words.length < MIN_WORDS || grammar > MAX_GRAMMAR_SHARE * prose.length) return false;
  const repeated = telling.length - new Set(telling).size;
  const topics = new Set(telling.flatMap((stem) => synonyms().topicOf(stem) ?? []));
  return (
    repeated >= MIN_REPEATED_SHARE * telling.length ||
    (topics.size >= MIN_TOPICS && topics.size >= MIN_TOPIC_SHARE * words.length)
  );
}
