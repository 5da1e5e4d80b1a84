// How many steps can a backtracking engine need for a pattern? Workers have no way to stop a running RegExp and no clock
// that moves while it runs, so the bound is proved before a pattern is executed, or the pattern is never executed.
//
// A backtracking search is a tree. `ways` counts how often a part can end at a place from which the rest goes on past
// its first character; `work` counts the steps inside the part. Both are `count * length^degree`. A repetition whose
// body and whose follower begin with different characters can end in one way only; where they overlap it can end in
// `length` ways, and then nothing after it may repeat. A repeated body must itself match in one way: a repetition in a
// repetition passes only when each character alone decides where the inner one ends. `^(\d+-)*x$` passes, `^(a+)+$`
// and `^\w+\d+$` do not.

import { areDisjoint, type CharSet, EMPTY, overlaps, setOf, union } from "./char-set.ts";
import { type Pattern, parsePattern } from "./pattern-syntax.ts";

export interface PatternCost {
  /** 1: linear in the length of the text. 2: linear from each of its characters, because it is not anchored. */
  degree: 1 | 2;
  /** Steps per character, or per pair of characters. */
  steps: number;
}

/** The cost of running `source` as an ECMA-262 pattern with the `u` flag, or undefined when it must not be run. */
export function costOfPattern(source: string): PatternCost | undefined {
  const pattern = parsePattern(source);
  if (!pattern) return undefined;
  const judged = judge(pattern, EMPTY);
  if (!judged || judged.work.degree > 1 || judged.work.count > MAX_STEPS) return undefined;
  const perCharacter = judged.work.count + source.length;
  const isLinear = judged.work.degree === 0 || isAnchored(pattern) || succeedsOnceRepeating(pattern);
  return { degree: isLinear ? 1 : 2, steps: perCharacter };
}

/** Steps per character beyond which a pattern is refused: it holds for counted repetitions and choices multiplied out. */
const MAX_STEPS = 2_000;

interface Bound {
  count: number;
  degree: number;
}

interface Judgement {
  ways: Bound;
  work: Bound;
}

const ONE: Bound = { count: 1, degree: 0 };

function plus(a: Bound, b: Bound): Bound {
  return { count: a.count + b.count, degree: Math.max(a.degree, b.degree) };
}

function times(a: Bound, b: Bound): Bound {
  return { count: a.count * b.count, degree: a.degree + b.degree };
}

/** `follow`: the characters that can come right after this part. Undefined: not provable. */
function judge(pattern: Pattern, follow: CharSet): Judgement | undefined {
  switch (pattern.kind) {
    case "char":
    case "assert":
      return { ways: ONE, work: ONE };
    case "sequence":
      return judgeSequence(pattern.parts, follow);
    case "choice":
      return judgeChoice(pattern.options, follow);
    case "repeat":
      return judgeRepeat(pattern, follow);
  }
}

function judgeSequence(parts: readonly Pattern[], follow: CharSet): Judgement | undefined {
  let rest: Judgement = { ways: ONE, work: ONE };
  let next = follow;
  for (const part of parts.toReversed()) {
    const judged = judge(part, next);
    if (!judged) return undefined;
    rest = {
      ways: times(judged.ways, rest.ways),
      work: plus(judged.work, times(judged.ways, rest.work)),
    };
    next = startOf(part, next);
  }
  return rest;
}

function judgeChoice(options: readonly Pattern[], follow: CharSet): Judgement | undefined {
  const judged: Judgement[] = [];
  for (const option of options) {
    const one = judge(option, follow);
    if (!one) return undefined;
    judged.push(one);
  }
  const ways = judged.map((option) => option.ways);
  const apart = areDisjoint(options.map((option) => startOf(option, follow)));
  return {
    ways: apart
      ? { count: Math.max(...ways.map((w) => w.count)), degree: Math.max(...ways.map((w) => w.degree)) }
      : ways.reduce(plus),
    work: judged.map((option) => option.work).reduce(plus),
  };
}

function judgeRepeat(repeat: Pattern & { kind: "repeat" }, follow: CharSet): Judgement | undefined {
  const { body, least, most } = repeat;
  if (most === 0) return { ways: ONE, work: ONE };
  if (most === 1) return least === 1 ? judge(body, follow) : judgeChoice([body, NOTHING], follow);

  const first = firstOf(body);
  const judged = judge(body, union(first, follow));
  if (!judged || isNullable(body) || judged.ways.degree > 0) return undefined;
  const endsInOneWay = least === most || !overlaps(first, follow);
  if (most === Number.POSITIVE_INFINITY) {
    if (judged.ways.count > 1) return undefined;
    return {
      ways: { count: 1, degree: endsInOneWay ? 0 : 1 },
      // In one way only, so what all rounds take together is the text once.
      work: { count: judged.work.count + least, degree: 1 },
    };
  }
  const rounds = judged.ways.count ** most;
  return {
    ways: { count: rounds * (endsInOneWay ? 1 : most - least + 1), degree: 0 },
    work: { count: rounds * most * judged.work.count, degree: judged.work.degree },
  };
}

const NOTHING: Pattern = { kind: "sequence", parts: [] };

/** The characters a part can begin with when `follow` can come after it. */
function startOf(pattern: Pattern, follow: CharSet): CharSet {
  const first = firstOf(pattern);
  return isNullable(pattern) ? union(first, follow) : first;
}

function firstOf(pattern: Pattern): CharSet {
  switch (pattern.kind) {
    case "char":
      return pattern.set;
    case "assert":
      return EMPTY;
    case "choice":
      return setOf(pattern.options.flatMap(firstOf));
    case "repeat":
      return pattern.most === 0 ? EMPTY : firstOf(pattern.body);
    case "sequence": {
      const upTo = pattern.parts.findIndex((part) => !isNullable(part));
      const parts = upTo === -1 ? pattern.parts : pattern.parts.slice(0, upTo + 1);
      return setOf(parts.flatMap(firstOf));
    }
  }
}

/** Can match without taking a character. Not `$`: nothing comes after the end. */
function isNullable(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "char":
      return false;
    case "assert":
      return pattern.what !== "end";
    case "choice":
      return pattern.options.some(isNullable);
    case "repeat":
      return pattern.least === 0 || isNullable(pattern.body);
    case "sequence":
      return pattern.parts.every(isNullable);
  }
}

function isAnchored(pattern: Pattern): boolean {
  if (pattern.kind === "assert") return pattern.what === "start";
  if (pattern.kind === "sequence") return pattern.parts[0] !== undefined && isAnchored(pattern.parts[0]);
  return pattern.kind === "choice" && pattern.options.every(isAnchored);
}

/** Whatever stands after the first endless repetition may be left out: so a failing attempt never repeats anything. */
function succeedsOnceRepeating(pattern: Pattern): boolean {
  const parts = pattern.kind === "sequence" ? pattern.parts : [pattern];
  const at = parts.findIndex(isEndless);
  const repeating = parts[at];
  if (repeating?.kind !== "repeat" || isEndless(repeating.body)) return false;
  return parts.slice(at + 1).every((part) => part.kind !== "assert" && isNullable(part));
}

function isEndless(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "char":
    case "assert":
      return false;
    case "choice":
      return pattern.options.some(isEndless);
    case "repeat":
      return pattern.most === Number.POSITIVE_INFINITY || isEndless(pattern.body);
    case "sequence":
      return pattern.parts.some(isEndless);
  }
}
