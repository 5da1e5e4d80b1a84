// How well a listing's text answers a query. BM25 over weighted fields, counted once per concept of the query: a
// listing gains nothing by repeating a word or by naming all its synonyms. Pure.

import type { Concept, SearchQuery } from "./search-concepts.ts";
import { FIELD_NAMES, PART_END, type SearchFields, WHOLES } from "./search-fields.ts";
import { isUnspaced } from "./search-words.ts";

/** What a word counts by its field. FTS5's own bm25 picks the candidates by the same weights. */
export const FIELD_WEIGHTS: Readonly<Record<keyof SearchFields, number>> = {
  name: 6,
  tags: 5,
  route: 4,
  parameters: 2.5,
  description: 2.5,
  host: 1,
};

/** Stems of a usual listing's field: in a shorter field each word says more. */
const USUAL_STEMS: Readonly<Record<keyof SearchFields, number>> = {
  name: 2,
  tags: 4,
  route: 6,
  parameters: 4,
  description: 11,
  host: 2,
};
/** How much of a field's length counts: BM25's b. */
const LENGTH_SHARE = 0.5;
/** The evidence that is worth half of the most it can be: BM25's k1. */
const HALF_EVIDENCE = 1.5;
/** A word repeated in one field beyond this says nothing new. */
const MAX_REPEATS = 2;
/** Of the rarer concept's weight, for two that stand side by side as in the query. */
const NEIGHBOUR_SHARE = 0.3;
/** What a listing keeps of its score when it has next to nothing of the rest of the query. */
const UNCOVERED_SHARE = 0.5;

/** Who asks in a script without spaces reads it: listings in that script come before translations of the words. */
const OWN_SCRIPT_SHARE = 1.4;
/** From this sureness on a spelling covers its concept wholly. */
const SURE = 0.55;

export interface Relevance {
  /** Positive; comparable between listings of one query only. */
  score: number;
  /** 0 to 1: the share of what was asked, by rarity, that the listing has. */
  coverage: number;
}

interface Spelling {
  concept: number;
  /** What must follow the first stem. */
  rest: readonly string[];
  weight: number;
}

/** Makes a query ready to be compared with many listings. */
export function relevanceTo(query: SearchQuery): (fields: SearchFields) => Relevance {
  const rarities = query.concepts.map(({ rarity }) => rarity);
  // Small talk is not what was asked, unless nothing else was.
  const onlyWeak = query.concepts.every(({ importance }) => importance === "weak");
  const shares = query.concepts.map(({ importance }, i) =>
    importance === "weak" && !onlyWeak ? 0 : (rarities[i] ?? 0),
  );
  const total = shares.reduce((sum, share) => sum + share, 0);
  const spellings = spellingsOf(query.concepts);
  const unspaced = query.concepts.map(({ stem }) => isUnspaced(stem));
  return (fields) => {
    const { evidence, neighbours } = gather(spellings, fields);
    let isOwnScript = false;
    const best = rarities.map(() => 0);
    const sureness = rarities.map(() => 0);
    for (const [{ concept, weight }, found] of evidence) {
      isOwnScript ||= weight === 1 && unspaced[concept] === true;
      best[concept] = Math.max(best[concept] ?? 0, (weight * found) / (found + HALF_EVIDENCE));
      sureness[concept] = Math.max(sureness[concept] ?? 0, weight >= SURE ? 1 : weight);
    }
    let score = 0;
    let covered = 0;
    rarities.forEach((rarity, concept) => {
      score += rarity * (best[concept] ?? 0);
      covered += (shares[concept] ?? 0) * (sureness[concept] ?? 0);
      if (neighbours.has(concept)) score += NEIGHBOUR_SHARE * Math.min(rarity, rarities[concept - 1] ?? 0);
    });
    const coverage = total === 0 ? 0 : covered / total;
    if (isOwnScript) score *= OWN_SCRIPT_SHARE;
    return { score: score * (UNCOVERED_SHARE + (1 - UNCOVERED_SHARE) * coverage), coverage };
  };
}

interface Spellings {
  byFirstStem: ReadonlyMap<string, readonly Spelling[]>;
  prefixes: readonly (Spelling & { start: string })[];
}

function spellingsOf(concepts: readonly Concept[]): Spellings {
  const byFirstStem = new Map<string, Spelling[]>();
  const prefixes: (Spelling & { start: string })[] = [];
  concepts.forEach(({ members }, concept) => {
    for (const { stems, weight, isPrefix } of members) {
      const [first = "", ...rest] = stems;
      const spelling = { concept, rest, weight };
      if (isPrefix) prefixes.push({ ...spelling, start: first });
      else byFirstStem.set(first, [...(byFirstStem.get(first) ?? []), spelling]);
    }
  });
  return { byFirstStem, prefixes };
}

/** What the fields hold of each spelling, and the concepts found right behind the one before them in the query. */
function gather(spellings: Spellings, fields: SearchFields) {
  const evidence = new Map<Spelling, number>();
  const neighbours = new Set<number>();
  for (const name of FIELD_NAMES) {
    if (fields[name] === "") continue;
    const stems = fields[name].split(" ");
    const lengthening = 1 - LENGTH_SHARE + (LENGTH_SHARE * stems.length) / USUAL_STEMS[name];
    const each = FIELD_WEIGHTS[name] / lengthening;
    const times = new Map<Spelling, number>();
    let previous = Number.NaN;
    for (let at = 0; at < stems.length; at++) {
      let here = Number.NaN;
      for (const spelling of startingWith(spellings, stems[at] ?? "")) {
        if (!isFollowed(spelling, stems, at)) continue;
        here = spelling.concept;
        const repeats = times.get(spelling) ?? 0;
        times.set(spelling, repeats + 1);
        if (repeats < MAX_REPEATS) evidence.set(spelling, (evidence.get(spelling) ?? 0) + each);
      }
      if (here === previous + 1) neighbours.add(here);
      previous = here;
    }
  }
  return { evidence, neighbours };
}

function isFollowed({ rest }: Spelling, stems: readonly string[], at: number): boolean {
  return rest.length === 0 || rest.every((wanted, i) => stems[at + 1 + i] === wanted);
}

const NONE: readonly Spelling[] = [];

function startingWith({ byFirstStem, prefixes }: Spellings, stem: string): readonly Spelling[] {
  const whole = byFirstStem.get(stem) ?? NONE;
  if (prefixes.length === 0) return whole;
  const longer = prefixes.filter(({ start }) => stem.startsWith(start));
  return longer.length === 0 ? whole : [...whole, ...longer];
}

/** Which of a listing's names the whole query equals. */
export function namedBy(query: SearchQuery, fields: SearchFields): "name" | "tag" | "tool" | undefined {
  const asked = query.stems.join(" ");
  if (asked === "") return undefined;
  const partsOf = (field: string) => (field.split(` ${WHOLES} `)[0] ?? "").split(` ${PART_END} `);
  const [name] = partsOf(fields.name);
  if (name === asked || name?.replaceAll(" ", "") === query.stems.join("")) return "name";
  // Most listings are not named so: one look is enough to know.
  if (fields.route.startsWith(asked) && partsOf(fields.route)[0] === asked) return "tool";
  return fields.tags.includes(asked) && partsOf(fields.tags).includes(asked) ? "tag" : undefined;
}
