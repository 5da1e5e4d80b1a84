// What a query asks for: concepts, each with the spellings that would satisfy it. The second step of reading a query:
// corrects misspelt words, completes the last one, adds synonyms. search-match.ts makes the match expression of it,
// search-relevance.ts compares listings with it. Pure.

import { ACTION_WORDS, WEAK_WORDS } from "./search-common-words.ts";
import { type FoundPhrase, phrasesIn } from "./search-phrases.ts";
import {
  halvesOf,
  joinedStem,
  type QueryForm,
  type QueryWord,
  type ReadQuery,
  type Vocabulary,
} from "./search-query.ts";
import { correctionsOf } from "./search-spelling.ts";
import { type Phrase, type Synonym, synonyms } from "./search-synonyms.ts";
import { stemOf } from "./search-words.ts";

/** One spelling that satisfies a concept. */
export interface Member {
  stems: Phrase;
  /** 0 to 1: how sure it is that this was meant. */
  weight: number;
  /** Any word that starts with the stem. */
  isPrefix?: true;
  /** Another word for what was asked. */
  isSynonym?: true;
}

/** One thing a query asks for. */
export interface Concept {
  stem: string;
  members: readonly Member[];
  /**
   * `argument`: a name nobody lists. `action`: what one does with nearly anything. `weak`: the field's small talk, or a
   * number nobody lists.
   */
  importance: keyof typeof IMPORTANCE;
  /** How much it tells: 0 for what every listing has, at most `MAX_RARITY`. */
  rarity: number;
  /** Listings that have its spellings, counted once per spelling. */
  listings: number;
}

export interface SearchQuery {
  /** In the order of the query. */
  concepts: readonly Concept[];
  quoted: readonly Phrase[];
  form: QueryForm;
  /** All stems in order: compared with names. */
  stems: Phrase;
  host?: string;
}

/** How sure a spelling is that the asker did not type. */
const SURENESS = {
  oneEdit: 0.8,
  twoEdits: 0.6,
  /** The catalog has the word as typed, but a neighbour is much commoner. */
  commonerNeighbour: 0.6,
  completion: 0.7,
  joined: 0.9,
  synonym: 0.7,
  phraseSynonym: 0.8,
  /** Times the above, for a line with `>`. */
  related: 0.8,
  /** One word of a phrase of the synonym list: an `exchange` is not an `exchange rate`. */
  wordOfPhrase: 0.6,
} as const;

/** A word in so few listings may itself be a seller's slip, if a neighbour is this much commoner. */
export const RARE_LISTINGS = 2;
const COMMONER_TIMES = 4;
/** Shorter words have neighbours by chance. */
const MIN_SLIP_CHARACTERS = 6;
/**
 * Rarity is counted in a catalog of at least this size: in one of five listings, a word that three of them have is no
 * commoner a word than elsewhere.
 */
const MIN_CATALOG = 1_000;
/** A rarer word tells no more: in a large catalog nearly every odd word of a sentence is in some listing. */
export const MAX_RARITY = 6.5;
/** Of a word no listing has: below that of the rarest listed word, because it may be beside the point. */
const UNKNOWN_RARITY = 5.5;
const IMPORTANCE = { full: 1, argument: 0.75, action: 0.5, weak: 0.25 } as const;

/** Assumed of a spelling that the vocabulary was not asked about: few enough to be looked for. */
const UNCOUNTED_LISTINGS = 3;
const MAX_CORRECTIONS = 2;
const MAX_COMPLETIONS = 6;

export function resolveQuery(query: ReadQuery, vocabulary: Vocabulary): SearchQuery {
  const words = query.words.map((word, position) => spell(word, position, query, vocabulary));
  return {
    concepts: conceptsOf(words, query, vocabulary),
    quoted: query.quoted,
    form: query.form,
    stems: query.words.map((word) => word.stem),
    ...(query.host !== undefined && { host: query.host }),
  };
}

/** A word with the stems it may have been meant to be, the likeliest first. */
interface SpeltWord extends QueryWord {
  meant: readonly { stem: string; listings: number; weight: number }[];
  isListed: boolean;
  /** A capital amid a sentence: the name of a place, a person, a brand. */
  isName: boolean;
}

function spell(word: QueryWord, position: number, query: ReadQuery, vocabulary: Vocabulary): SpeltWord {
  const listings = vocabulary.listingsWith.get(word.stem) ?? 0;
  const isKnown = listings > 0 || synonyms().knows(word.stem);
  const isSentence = query.form === "words" && query.words.some(({ isCapital }) => !isCapital);
  const isName = isSentence && word.isCapital && position > 0;
  const plain = { ...word, meant: [], isListed: listings > 0, isName };
  // Names are spelt as their bearers like: Leeds is not leads.
  if (listings > RARE_LISTINGS || isName) return plain;
  if (isKnown && word.text.length < MIN_SLIP_CHARACTERS) return plain;
  const meant = correctionsOf(word.text, vocabulary.similar.get(word.text) ?? [], MAX_CORRECTIONS)
    .filter((near) => near.stem !== word.stem)
    .filter((near) => !isKnown || near.listings >= COMMONER_TIMES * (listings + 1))
    .map(({ stem, edits, listings: known }) => ({
      stem,
      listings: known,
      weight: isKnown ? SURENESS.commonerNeighbour : edits === 1 ? SURENESS.oneEdit : SURENESS.twoEdits,
    }));
  return { ...plain, meant };
}

function conceptsOf(words: readonly SpeltWord[], query: ReadQuery, vocabulary: Vocabulary): Concept[] {
  // Words the list knows are taken as typed, others as the likeliest word they may have been meant to be.
  const stems = words.map(({ stem, meant }) => (synonyms().knows(stem) ? stem : (meant[0]?.stem ?? stem)));
  const { phrasesAt, dropped } = phrasesIn(words, stems);
  const found = new Map<string, { word: SpeltWord; members: Map<string, Member> }>();
  words.forEach((word, position) => {
    if (dropped.has(position)) return;
    const entry = found.get(word.stem) ?? { word, members: new Map<string, Member>() };
    found.set(word.stem, entry);
    const isLast = position === words.length - 1;
    for (const member of [
      ...asTyped(word, phrasesAt.get(position)),
      ...otherwiseSpelt(word, words[position - 1], words[position + 1], vocabulary),
      ...(isLast ? completionsOf(word, vocabulary) : []),
      ...synonymsOf(word, phrasesAt.get(position)),
    ]) {
      // Asked for and in no listing: looking for it would only cost time.
      if (!member.isPrefix && member.stems.some((stem) => vocabulary.listingsWith.get(stem) === 0)) continue;
      const key = member.stems.join(" ");
      if ((entry.members.get(key)?.weight ?? 0) < member.weight) entry.members.set(key, member);
    }
  });
  return [...found.values()].map(({ word, members }) => {
    const importance = importanceOf(word, query.form);
    const counts = [...members.values()].map((member) => countOf(member, word, vocabulary));
    // Its own word's where that is listed: its synonyms may be commoner.
    const count = vocabulary.listingsWith.get(word.stem) || Math.max(0, ...counts);
    return {
      stem: word.stem,
      members: [...members.values()],
      importance,
      rarity: IMPORTANCE[importance] * rarityOf(count, vocabulary.listings),
      listings: counts.reduce((sum, listings) => sum + listings, 0),
    };
  });
}

/** Listings that can have this spelling at most. */
function countOf({ stems }: Member, { meant }: SpeltWord, { listingsWith }: Vocabulary): number {
  const corrected = new Map(meant.map(({ stem, listings }) => [stem, listings]));
  return Math.min(
    ...stems.map((stem) => listingsWith.get(stem) ?? corrected.get(stem) ?? UNCOUNTED_LISTINGS),
  );
}

/** Robertson and Sparck Jones's inverse document frequency, bounded. */
function rarityOf(count: number, listings: number): number {
  if (count === 0) return UNKNOWN_RARITY;
  const catalog = Math.max(listings, MIN_CATALOG);
  return Math.min(MAX_RARITY, Math.log(1 + Math.max(0, catalog - count + 0.5) / (count + 0.5)));
}

function importanceOf(word: SpeltWord, form: QueryForm): Concept["importance"] {
  if (WEAK_WORDS.has(word.text) || /\p{Script=Hiragana}/u.test(word.text)) return "weak";
  const isUnknown = !word.isListed && word.meant.length === 0 && !synonyms().knows(word.stem);
  if (isUnknown && /\p{N}/u.test(word.text)) return "weak";
  if (ACTION_WORDS.has(word.text)) return "action";
  return isUnknown && (word.isName || form === "name") ? "argument" : "full";
}

function asTyped(word: SpeltWord, phrase: FoundPhrase | undefined): Member[] {
  const stems = [word.stem];
  if (word.isPair) return [{ stems, weight: 1, ...([...word.text].length === 1 && { isPrefix: true }) }];
  const own = { stems, weight: phrase ? SURENESS.wordOfPhrase : 1 };
  return word.whole === undefined ? [own] : [own, { stems: [word.whole], weight: 1 }];
}

function otherwiseSpelt(
  word: SpeltWord,
  before: SpeltWord | undefined,
  after: SpeltWord | undefined,
  vocabulary: Vocabulary,
): Member[] {
  const members: Member[] = word.meant.map(({ stem, weight }) => ({ stems: [stem], weight }));
  for (const halves of halvesOf(word.text)) {
    if (halves.every((half) => vocabulary.halves.has(half))) {
      members.push({ stems: halves.map(stemOf), weight: SURENESS.joined });
    }
  }
  for (const [left, right] of [
    [before, word],
    [word, after],
  ]) {
    if (!left || !right || left.isPair || right.isPair) continue;
    members.push({ stems: [joinedStem(left.text, right.text)], weight: SURENESS.joined });
  }
  return members;
}

function completionsOf(word: SpeltWord, vocabulary: Vocabulary): Member[] {
  if (word.isListed) return [];
  const stems = new Set(vocabulary.completions.map(({ stem }) => stem));
  return [...stems].slice(0, MAX_COMPLETIONS).map((stem) => ({ stems: [stem], weight: SURENESS.completion }));
}

function synonymsOf(word: SpeltWord, found: FoundPhrase | undefined): Member[] {
  const own = [{ stem: word.stem, weight: 1 }, ...word.meant].flatMap(({ stem, weight }) =>
    synonyms()
      .of([stem])
      .map((synonym) => member(synonym, weight * SURENESS.synonym)),
  );
  if (!found) return own;
  return [
    { stems: found.phrase, weight: 1 },
    ...found.also.map((synonym) => member(synonym, SURENESS.phraseSynonym)),
    ...(word.isPair
      ? []
      : own.map((synonym) => ({ ...synonym, weight: synonym.weight * SURENESS.wordOfPhrase }))),
  ];
}

function member({ phrase, isRelated }: Synonym, weight: number): Member {
  return { stems: phrase, weight: isRelated ? weight * SURENESS.related : weight, isSynonym: true };
}
