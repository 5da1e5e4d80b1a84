// The vocabulary of paid APIs: words that sellers and buyers use for the same thing, in the languages they use. A
// reviewed list (search-synonyms-*.ts), not a learned one: every line can be read and argued with. Pure.
//
// `a, b, c`       mean the same: each finds the others.
// `a, b > c, d`   a and b also find c and d, not the other way round: the narrower from the wider, the tool from the
//                 task.
// Rules for a new line: field vocabulary that any catalog of APIs shares, never the wording of one query or one
// seller; leave a word out when half of its uses mean something else.

import { tellingWordsOf } from "./search-common-words.ts";
import { MEDIA_LINES } from "./search-synonyms-media.ts";
import { MONEY_LINES } from "./search-synonyms-money.ts";
import { WEB_LINES } from "./search-synonyms-web.ts";
import { WORLD_LINES } from "./search-synonyms-world.ts";

const LINES = [WORLD_LINES, MONEY_LINES, MEDIA_LINES, WEB_LINES].join("\n");

/** A word or phrase, as stems in order. */
export type Phrase = readonly string[];

export interface Synonym {
  phrase: Phrase;
  /** From a line with `>`: related, not the same. */
  isRelated: boolean;
}

export interface Synonyms {
  /** What a word or phrase also finds; empty when the list has no line for it. */
  of(phrase: Phrase): readonly Synonym[];
  /** Stems of the longest phrase that starts with `stem`; 0 when none does. */
  longestFrom(stem: string): number;
  /** Whether the word is part of any phrase of the list: then it is not misspelt. */
  knows(stem: string): boolean;
  /** A number that words of one line share; undefined for a word that has no line of its own. */
  topicOf(stem: string): number | undefined;
}

let read: Synonyms | undefined;

/** The list, read at first use: a Worker's start must not pay for it. */
export function synonyms(): Synonyms {
  read ??= readLines(LINES);
  return read;
}

interface Line {
  left: readonly Phrase[];
  /** After the `>`. */
  related?: readonly Phrase[];
}

/** Reads lines of the form described above. */
export function readLines(text: string): Synonyms {
  const linesOf = new Map<string, Line[]>();
  const longest = new Map<string, number>();
  const known = new Set<string>();
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const topics = new Map<string, number>();
  for (const [topic, line] of lines.map(readLine).entries()) {
    for (const stem of [...line.left, ...(line.related ?? [])].flat()) known.add(stem);
    for (const phrase of line.left) {
      const key = phrase.join(" ");
      const first = phrase[0] ?? "";
      linesOf.set(key, [...(linesOf.get(key) ?? []), line]);
      longest.set(first, Math.max(longest.get(first) ?? 0, phrase.length));
      if (!topics.has(key)) topics.set(key, topic);
    }
  }
  return {
    of: (phrase) => synonymsOn(linesOf.get(phrase.join(" ")) ?? [], phrase.join(" ")),
    longestFrom: (stem) => longest.get(stem) ?? 0,
    knows: (stem) => known.has(stem),
    topicOf: (stem) => topics.get(stem),
  };
}

/** What else stands on these lines. One that means the same is not merely related. */
function synonymsOn(lines: readonly Line[], asked: string): Synonym[] {
  const found = new Map<string, Synonym>();
  for (const { left, related } of lines) {
    for (const phrase of related ?? left) {
      const key = phrase.join(" ");
      if (key === asked || found.get(key)?.isRelated === false) continue;
      found.set(key, { phrase, isRelated: related !== undefined });
    }
  }
  return [...found.values()];
}

function readLine(line: string): Line {
  const [left = [], related] = line.split(">").map(phrasesOf);
  return { left, ...(related && { related }) };
}

function phrasesOf(list: string): Phrase[] {
  return list
    .split(",")
    .map((phrase) => tellingWordsOf(phrase).map((word) => word.stem))
    .filter((stems) => stems.length > 0);
}
