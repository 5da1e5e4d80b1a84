// Patterns that a stranger sends: the proof of a bound is checked against a backtracking matcher that counts its steps.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOfPattern } from "../../src/bazaar/block/pattern-cost.ts";
import { type Pattern, parsePattern } from "../../src/bazaar/block/pattern-syntax.ts";

describe("a pattern's cost", () => {
  it.each([
    "^[a-z]+$",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$",
    "^0x[a-fA-F0-9]{40}$",
    "^(USD|EUR|UAH)$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^\\+?[1-9]\\d{1,14}$",
    "^https?://.+",
    "^.*\\.json$",
    "^(\\d{1,3}\\.){3}\\d{1,3}$",
    "^[A-Z]{3}(,[A-Z]{3})*$",
    "^\\p{Lu}\\p{L}*$",
    "[a-z]+",
    "",
    "^[\\w\\-\\u{1F600}-\\u{1F64F}]*$",
  ])("of %j is linear", (source) => {
    expect(costOfPattern(source)).toMatchObject({ degree: 1 });
  });

  it.each([
    ["nested repetition", "^(a+)+$"],
    ["nested repetition", "^(a*)*$"],
    ["nested repetition", "^([a-z]+\\d?)+$"],
    ["ambiguous choice in a repetition", "^(a|a)*$"],
    ["ambiguous choice in a repetition", "^(a|ab)*$"],
    ["overlapping repetitions", "^\\w+\\d+$"],
    ["overlapping repetitions", "^.*,.*,.*$"],
    ["overlapping repetitions", "^[^@]+@[^@]+\\.[^@]+$"],
    ["optional parts multiplied out", `^${"a?".repeat(30)}${"a".repeat(30)}$`],
    ["counted repetitions multiplied out", "^(.{1,50}){1,50}$"],
    ["counted repetitions multiplied out", "^((a{1,9}){1,9}){1,9}$"],
    ["back reference", "^(a)\\1$"],
    ["named back reference", "^(?<x>a)\\k<x>$"],
    ["lookahead", "^(?=a)a$"],
    ["lookbehind", "(?<=a)b"],
    ["what is no pattern", "^(a"],
    ["what is no pattern", "a{2,1}"],
    ["too long a pattern", "a".repeat(501)],
    ["a property's complement that overlaps", "^[^\\P{L}]*\\d*[a-z]*x$"],
  ])("is not provable for %s: %j", (_kind, source) => {
    expect(costOfPattern(source)).toBeUndefined();
  });

  it("is quadratic where nothing anchors a repetition that may fail at its end", () => {
    expect(costOfPattern("a+b")).toMatchObject({ degree: 2 });
    expect(costOfPattern("^a+b")).toMatchObject({ degree: 1 });
  });

  it("bounds the steps of a backtracking engine, for generated patterns and texts", () => {
    const atom = fc.constantFrom("a", "b", "c", "[ab]", "[^a]", ".", "\\d", "(?:a|b)", "(?:ab|c)");
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "*?");
    const piece = fc.tuple(atom, quantifier).map(([a, q]) => (q === "" ? a : `${a}${q}`));
    const group = fc
      .tuple(fc.array(piece, { minLength: 1, maxLength: 3 }), quantifier)
      .map(([pieces, q]) => `(?:${pieces.join("")})${q}`);
    const source = fc
      .tuple(
        fc.constantFrom("", "^"),
        fc.array(fc.oneof(piece, group), { maxLength: 4 }),
        fc.constantFrom("", "$"),
      )
      .map(([start, parts, end]) => start + parts.join("") + end);
    const letters = fc.array(fc.constantFrom("a", "b", "c", "1"), { maxLength: 3 });
    const text = fc
      .tuple(letters, fc.integer({ min: 0, max: 130 }), letters)
      .map(([seed, times, tail]) => seed.join("").repeat(times) + tail.join(""));
    let proved = 0;
    fc.assert(
      fc.property(source, text, (pattern, subject) => {
        const cost = costOfPattern(pattern);
        if (!cost) return;
        proved++;
        const tree = parsePattern(pattern);
        if (!tree) throw new Error("judged without being parsed");
        // Each step of the bound is a few of ours: entering a node, testing it, coming back.
        const most = 4 * cost.steps * (subject.length + 2) ** cost.degree;
        const { steps, matches } = backtrack(tree, subject, most);
        expect(matches).toBe(new RegExp(pattern, "u").test(subject));
        expect(steps).toBeLessThanOrEqual(most);
      }),
      { numRuns: 5_000 },
    );
    expect(proved).toBeGreaterThan(1_000);
  });
});

/** Matches as engines do, from every start, and counts the steps; gives up beyond `most`. */
function backtrack(pattern: Pattern, subject: string, most: number): { steps: number; matches: boolean } {
  let steps = 0;
  const step = () => {
    if (++steps > most) throw new Error(`more than ${most} steps`);
  };
  const chars = Array.from(subject, (char) => char.codePointAt(0) ?? 0);
  type Next = (at: number) => boolean;

  const match = (node: Pattern, at: number, next: Next): boolean => {
    step();
    switch (node.kind) {
      case "char": {
        const char = chars[at];
        return (
          char !== undefined && node.set.some(([from, to]) => from <= char && char <= to) && next(at + 1)
        );
      }
      case "assert":
        if (node.what === "start") return at === 0 && next(at);
        if (node.what === "end") return at === chars.length && next(at);
        throw new Error("no boundaries in these patterns");
      case "sequence":
        return node.parts.reduceRight<Next>((rest, part) => (i) => match(part, i, rest), next)(at);
      case "choice":
        return node.options.some((option) => match(option, at, next));
      case "repeat": {
        const round = (count: number, i: number): boolean => {
          step();
          const again =
            count < node.most &&
            match(node.body, i, (j) => (j > i || count < node.least) && round(count + 1, j));
          return again || (count >= node.least && next(i));
        };
        return round(0, at);
      }
    }
  };
  for (let start = 0; start <= chars.length; start++) {
    if (match(pattern, start, () => true)) return { steps, matches: true };
  }
  return { steps, matches: false };
}
