// Concepts -> FTS5 match expressions. The only place that writes one. Whatever was typed, the result is valid: it is
// built of quoted strings and the operators below, and quotes inside a string are doubled. Pure.

import type { Concept, Member, SearchQuery } from "./search-concepts.ts";
import type { Phrase } from "./search-synonyms.ts";

/** Two pages of the usual length. */
const ENOUGH_LISTINGS = 40;
/** Comparing one costs about 3 us in D1. */
const MAX_LISTINGS = 1_500;

/** Of the rows that bear the query's name: above any sum of concepts, so that they are looked at. */
const NAME_WEIGHT = 1_000_000;

/** Rows to look for, and the weight of finding one, in thousandths. */
export type WeighedMatch = readonly [match: string, weight: number];

/**
 * Rows that bear the query as it stands at the start of their name, however common its words are; and rows with each
 * concept that tells enough, and with every quoted phrase.
 */
export function matchesOf(query: SearchQuery): WeighedMatch[] {
  const quoted = query.quoted.map(quote);
  const concepts = drivingOf(carrying(query)).map(
    ({ members, rarity }): WeighedMatch => [allOf([anyOf(members), ...quoted]), Math.round(rarity * 1_000)],
  );
  return [[`{name} : ^ ${quote(query.stems)}`, NAME_WEIGHT], ...concepts];
}

/** Small talk finds nothing by itself, unless there is nothing else. */
function carrying({ concepts }: SearchQuery): readonly Concept[] {
  const telling = concepts.filter((concept) => concept.importance !== "weak");
  const carried = telling.length > 0 ? telling : concepts;
  return carried.filter(({ members }) => members.length > 0);
}

/**
 * Common words are left out once the rarer ones find enough: a row with nothing but them answers nothing, and comparing
 * thousands of such rows is what makes a search slow.
 */
function drivingOf(concepts: readonly Concept[]): Concept[] {
  const driving: Concept[] = [];
  let listings = 0;
  for (const concept of [...concepts].sort((a, b) => a.listings - b.listings)) {
    if (listings >= ENOUGH_LISTINGS && listings + concept.listings > MAX_LISTINGS) break;
    driving.push(concept);
    listings += concept.listings;
  }
  return driving;
}

/** A string that FTS5 reads as one phrase. */
function quote(stems: Phrase): string {
  return `"${stems.join(" ").replaceAll('"', '""')}"`;
}

function anyOf(members: readonly Member[]): string {
  const terms = members.map(({ stems, isPrefix }) => quote(stems) + (isPrefix ? " *" : ""));
  return [...new Set(terms)].join(" OR ");
}

function allOf(groups: readonly string[]): string {
  return groups.map((group) => `(${group})`).join(" AND ");
}
