// Text -> words. The first step of search on both sides: listings when they are written, queries when they are asked.
// Both sides must go through the same functions, or what was written is never found. Pure.

/** One run of letters and digits of a text, or a part of one that stands for itself. */
export interface Word {
  /** As typed, but for accents. */
  typed: string;
  /** Lower case. Scripts without spaces come as pairs of characters. */
  text: string;
  /** What `text` is written and looked up as. */
  stem: string;
  /**
   * Stem of the longer spelling this word is a part of: `gettokenprice` for `token` in `getTokenPrice`, `realtime` for
   * `time` in `real-time`. Absent when the word stood alone.
   */
  whole?: string;
  /** A pair of characters that shares its first with the pair before it. */
  overlapsPrevious?: true;
}

/** Words longer than this are hashes, keys or noise: cut, so that one listing cannot bloat the index. */
const MAX_WORD_CHARACTERS = 40;

/** Letters, digits and the marks that belong to them: Devanagari vowel signs are marks. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const CHAIN = /[\p{L}\p{N}\p{M}_-]+/gu;
/** Scripts that write without spaces between words, and Hangul, whose particles hide the word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const ASCII = /^[\s!-~]*$/;
const ASCII_CHAIN = /[A-Za-z0-9_-]+/g;
/** A word that has no parts. */
const PLAIN = /^[a-z]+$/;
const ONLY_UNSPACED = new RegExp(`^(?:${UNSPACED.source})$`, "u");

/** Whether a word is a pair of characters (or a single one) of a script without spaces. */
export function isUnspaced(text: string): boolean {
  return ONLY_UNSPACED.test(text);
}

/** Words of a text in order. A run of an unspaced script becomes its overlapping pairs of characters. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  // Most text is ASCII, and Unicode's classes are slow to match.
  if (ASCII.test(text)) {
    for (const chain of text.match(ASCII_CHAIN) ?? []) addSpaced(chain, words);
    return words;
  }
  for (const [chain] of withoutAccents(text).matchAll(CHAIN)) {
    let from = 0;
    for (const match of chain.matchAll(UNSPACED)) {
      addSpaced(chain.slice(from, match.index), words);
      addPairs(match[0], words);
      from = match.index + match[0].length;
    }
    addSpaced(chain.slice(from), words);
  }
  return words;
}

/** Compatibility forms unified; accents of Latin, Greek and Cyrillic removed; kana keep theirs. */
function withoutAccents(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll("ł", "l")
    .replaceAll("æ", "ae")
    .replaceAll("ı", "i");
}

function addPairs(run: string, words: Word[]): void {
  const characters = [...run];
  if (characters.length === 1) words.push({ typed: run, text: run, stem: run });
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = `${characters[i]}${characters[i + 1]}`;
    words.push({ typed: pair, text: pair, stem: pair, ...(i > 0 && { overlapsPrevious: true }) });
  }
}

/** `chain` holds letters, digits, `_` and `-` of spaced scripts. */
function addSpaced(chain: string, words: Word[]): void {
  if (PLAIN.test(chain)) {
    const text = cut(chain);
    words.push({ typed: text, text, stem: stemOf(text) });
    return;
  }
  // `e-mail` and `8-K` are one word. `real-time` is also written `realtime`; longer chains are not written as one.
  const [runs, isPair] = /^\p{L}-\p{L}|^\p{N}-\p{L}/u.test(chain)
    ? [[chain.replaceAll(/[_-]/g, "")], false]
    : [chain.match(RUN) ?? [], /^[^_-]+-[^_-]+$/.test(chain)];
  const hyphenated = isPair ? stemOf(cut(runs.join("").toLowerCase())) : undefined;
  for (const run of runs) {
    const parts = partsOf(run);
    const joined = parts.length > 1 ? stemOf(cut(run.toLowerCase())) : undefined;
    const whole = hyphenated ?? joined;
    for (const part of parts) {
      const text = cut(part.toLowerCase());
      words.push({ typed: part, text, stem: stemOf(text), ...(whole !== undefined && { whole }) });
    }
  }
}

/** `getTokenPrice` -> get Token Price, `pdf2text` -> pdf 2 text, `HTTPServer` -> HTTP Server, `erc20` -> erc 20. */
function partsOf(run: string): string[] {
  // `GPUs` is one word.
  if (/^\p{Lu}{2,}s$/u.test(run)) return [run];
  return run
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/([\p{Lu}\p{N}])(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replaceAll(/(\p{L}{2})(\p{N})/gu, "$1 $2")
    .replaceAll(/(\p{N})(\p{L}{2})/gu, "$1 $2")
    .split(" ");
}

function cut(word: string): string {
  return word.length <= MAX_WORD_CHARACTERS ? word : [...word].slice(0, MAX_WORD_CHARACTERS).join("");
}

type Ending = readonly [ending: string, rest: string, minimumStem: number];

/** Plural and tense, longest first, with what is left in their place. */
const INFLECTIONS: readonly Ending[] = [
  ["sses", "ss", 2],
  ["ches", "ch", 2],
  ["shes", "sh", 2],
  ["xes", "x", 2],
  ["ies", "y", 2],
  ["ied", "y", 2],
  ["ings", "", 3],
  ["ing", "", 3],
  ["ed", "", 3],
  ["s", "", 3],
];

/** From the doer, the deed and the making back to the verb; after `tidied`. */
const DERIVATIONS: readonly Ending[] = [
  ["ification", "ify", 2],
  ["ization", "iz", 3],
  ["isation", "iz", 3],
  ["izer", "iz", 3],
  ["iser", "iz", 3],
  ["ysis", "yz", 3],
  ["ys", "yz", 3],
  ["is", "iz", 4],
  ["ison", "", 4],
  ["abiliti", "abl", 3],
  ["ation", "", 5],
  ["ation", "at", 3],
  ["ator", "", 5],
  ["ator", "at", 3],
  ["at", "", 5],
  ["ion", "", 4],
  ["er", "", 4],
  ["or", "", 4],
];

const CYRILLIC = /^\p{Script=Cyrillic}{5,}$/u;
/** Case and number of Russian nouns and adjectives, after at least four letters; й has lost its mark by then. */
const CYRILLIC_ENDING =
  /(?<=.{4})(?:ами|ями|ого|его|ыми|ими|ов|ев|ои|еи|ыи|ии|ая|яя|ые|ие|ах|ях|ам|ям|ом|ем|[аяоеиыуюь])$/u;

/** No plurals, and words that would lose the letter that keeps them apart: a plane is no plan. */
const UNCHANGED = new Set(["news", "plane", "planes"]);

/**
 * Light stemming, the same for listings and queries: a wrong cut costs nothing unless two unlike words meet. Words with
 * digits are left alone: they are codes.
 */
export function stemOf(word: string): string {
  if (CYRILLIC.test(word)) return word.replace(CYRILLIC_ENDING, "");
  if (!/^[a-z]{4,}$/.test(word) || UNCHANGED.has(word)) return word;
  const single = tidied(/(?:ss|us|is)$/.test(word) ? word : without(INFLECTIONS, "sdg", word));
  return tidied(without(DERIVATIONS, "nrsit", single));
}

/** `lastLetters` are those of the endings: most words are done with after one look. */
function without(endings: readonly Ending[], lastLetters: string, word: string): string {
  if (!lastLetters.includes(word.charAt(word.length - 1))) return word;
  for (const [ending, rest, minimumStem] of endings) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, word.length - ending.length);
    if (stem.length < minimumStem || !/[aeiouy]/.test(stem)) continue;
    // English doubles the consonant of a short word, so a single one had an e behind it: `coding`, but `mapping`.
    const hadE = /^(?:ing|ings|ed)$/.test(ending) && /^[^aeiou][aeiou][^aeiouwxy]$/.test(stem);
    return hadE ? `${stem}e` : stem + rest;
  }
  return word;
}

/** `runn` -> run, `price` -> pric, `query` -> queri: so that what an ending left meets the word's other forms. */
function tidied(stem: string): string {
  if (stem.length > 3 && /([bdfgmnprt])\1$/.test(stem)) return stem.slice(0, -1);
  if (stem.length > 4 && stem.endsWith("e")) return stem.slice(0, -1);
  if (stem.length > 2 && /[^aeiou]y$/.test(stem)) return `${stem.slice(0, -1)}i`;
  return stem;
}
