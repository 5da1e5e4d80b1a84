// Reads a JSON Schema `pattern` (ECMA-262 with the `u` flag) into a small tree, for src/bazaar/block/pattern-cost.ts to judge.
// Anything it does not know, and anything that can look ahead, behind or back, makes it give up: such a pattern is
// never executed.

import { ANY, type CharSet, complement, DIGITS, NOT_LINE_END, one, SPACE, setOf, WORD } from "./char-set.ts";

export type Pattern =
  | { kind: "char"; set: CharSet }
  /** `^`, `$`, `\b`, `\B`: match without taking a character. */
  | { kind: "assert"; what: "start" | "end" | "boundary" }
  | { kind: "sequence"; parts: readonly Pattern[] }
  | { kind: "choice"; options: readonly Pattern[] }
  | { kind: "repeat"; body: Pattern; least: number; most: number };

/** Longer patterns than people write by hand. */
const MAX_PATTERN_CHARACTERS = 500;
/** Groups in groups; the reader recurses. */
const MAX_GROUP_DEPTH = 20;

/** The pattern's tree, or undefined when it uses what cannot be judged. */
export function parsePattern(source: string): Pattern | undefined {
  if (source.length > MAX_PATTERN_CHARACTERS) return undefined;
  try {
    const reader = new Reader(Array.from(source));
    const pattern = reader.choice(0);
    return reader.atEnd() ? pattern : undefined;
  } catch (error) {
    if (error instanceof Unjudged) return undefined;
    throw error;
  }
}

class Unjudged extends Error {}

class Reader {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
  }

  atEnd(): boolean {
    return this.#at >= this.#chars.length;
  }

  choice(depth: number): Pattern {
    if (depth > MAX_GROUP_DEPTH) throw new Unjudged();
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
  }

  #sequence(depth: number): Pattern {
    const parts: Pattern[] = [];
    while (!this.atEnd() && this.#peek() !== "|" && this.#peek() !== ")") {
      parts.push(this.#quantified(this.#atom(depth)));
    }
    return { kind: "sequence", parts };
  }

  #quantified(body: Pattern): Pattern {
    const bounds = this.#bounds();
    if (!bounds) return body;
    this.#take("?"); // Lazy or greedy: the same search, in another order.
    if (body.kind === "assert") throw new Unjudged();
    return { kind: "repeat", body, ...bounds };
  }

  #bounds(): { least: number; most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { least: 0, most: 1 };
    if (!this.#take("{")) return undefined;
    const least = this.#number();
    let most = least;
    if (this.#take(",")) most = this.#peek() === "}" ? Number.POSITIVE_INFINITY : this.#number();
    this.#expect("}");
    if (most < least) throw new Unjudged();
    return { least, most };
  }

  #atom(depth: number): Pattern {
    const char = this.#next();
    switch (char) {
      case "^":
        return { kind: "assert", what: "start" };
      case "$":
        return { kind: "assert", what: "end" };
      case ".":
        return { kind: "char", set: NOT_LINE_END };
      case "(":
        return this.#group(depth);
      case "[":
        return { kind: "char", set: this.#class() };
      case "\\": {
        if (this.#take("b") || this.#take("B")) return { kind: "assert", what: "boundary" };
        return { kind: "char", set: this.#escape() };
      }
      case "*":
      case "+":
      case "?":
      case "{":
      case "}":
      case "]":
        throw new Unjudged(); // Not a pattern under the `u` flag.
      default:
        return { kind: "char", set: one(codePointOf(char)) };
    }
  }

  #group(depth: number): Pattern {
    if (this.#take("?")) {
      if (this.#take("<")) {
        if (!/^[A-Za-z_$]$/.test(this.#peek() ?? "")) throw new Unjudged(); // Lookbehind.
        while (this.#next() !== ">");
      } else if (!this.#take(":")) throw new Unjudged(); // Lookahead, or flags.
    }
    const body = this.choice(depth + 1);
    this.#expect(")");
    return body;
  }

  #class(): CharSet {
    const negated = this.#take("^");
    const sets: CharSet[] = [];
    while (!this.#take("]")) {
      const from = this.#classMember();
      if (this.#peek() !== "-" || this.#chars[this.#at + 1] === "]") {
        sets.push(from);
        continue;
      }
      this.#expect("-");
      const to = this.#classMember();
      const [low, high] = [singleOf(from), singleOf(to)];
      if (low === undefined || high === undefined || high < low) throw new Unjudged();
      sets.push([[low, high]]);
    }
    const set = setOf(sets.flat());
    // The complement of everything may come from a property that was widened to everything: stay on the safe side.
    return negated ? orAny(complement(set)) : set;
  }

  #classMember(): CharSet {
    const char = this.#next();
    if (char !== "\\") return one(codePointOf(char));
    if (this.#take("b")) return one(0x08);
    if (this.#take("-")) return one(0x2d);
    return this.#escape();
  }

  /** What stands after a backslash. */
  #escape(): CharSet {
    const char = this.#next();
    const named = CLASS_ESCAPES[char] ?? (CONTROL_ESCAPES[char] && one(CONTROL_ESCAPES[char]));
    if (named) return named;
    if (char === "x") return one(this.#hex(2));
    if (char === "u") return one(this.#unicode());
    if (char === "p" || char === "P") {
      this.#expect("{");
      while (this.#next() !== "}");
      return ANY; // Which characters have the property does not matter: taking all of them is the safe side.
    }
    if (/^[\^$\\.*+?()[\]{}|/]$/.test(char)) return one(codePointOf(char));
    throw new Unjudged(); // Back references among others.
  }

  #unicode(): number {
    if (!this.#take("{")) return this.#hex(4);
    let digits = "";
    for (let char = this.#next(); char !== "}"; char = this.#next()) digits += char;
    if (!/^[0-9a-fA-F]{1,6}$/.test(digits)) throw new Unjudged();
    return Number.parseInt(digits, 16);
  }

  #hex(length: number): number {
    let digits = "";
    while (digits.length < length) digits += this.#next();
    if (!/^[0-9a-fA-F]+$/.test(digits)) throw new Unjudged();
    return Number.parseInt(digits, 16);
  }

  #number(): number {
    let digits = "";
    while (/^\d$/.test(this.#peek() ?? "")) digits += this.#next();
    if (digits === "" || digits.length > 6) throw new Unjudged();
    return Number(digits);
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new Unjudged();
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at++;
    return true;
  }

  #expect(char: string): void {
    if (!this.#take(char)) throw new Unjudged();
  }
}

const CLASS_ESCAPES: Record<string, CharSet> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

const CONTROL_ESCAPES: Record<string, number> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

function codePointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function orAny(set: CharSet): CharSet {
  return set.length === 0 ? ANY : set;
}

function singleOf(set: CharSet): number | undefined {
  const [range] = set;
  return set.length === 1 && range && range[0] === range[1] ? range[0] : undefined;
}
