// Sets of code points as sorted, disjoint, inclusive ranges: what a pattern's classes mean, so that two of them can be
// asked whether any character is in both.

export type CharSet = readonly (readonly [from: number, to: number])[];

const MAX_CODE_POINT = 0x10ffff;

export const EMPTY: CharSet = [];
export const ANY: CharSet = [[0, MAX_CODE_POINT]];
export const DIGITS: CharSet = [[0x30, 0x39]];
export const WORD: CharSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const SPACE: CharSet = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: CharSet = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

export function one(codePoint: number): CharSet {
  return [[codePoint, codePoint]];
}

/** In time linear in the ranges for two sets that are sets already: the judge of patterns merges often. */
export function union(a: CharSet, b: CharSet): CharSet {
  const merged: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i];
    const right = b[j];
    const takeLeft = left !== undefined && (right === undefined || left[0] <= right[0]);
    const next = takeLeft ? left : right;
    if (takeLeft) i++;
    else j++;
    if (next) append(merged, next);
  }
  return merged;
}

/** A set from ranges in any order, overlapping or not. */
export function setOf(ranges: CharSet): CharSet {
  const merged: [number, number][] = [];
  for (const range of ranges.toSorted((a, b) => a[0] - b[0])) append(merged, range);
  return merged;
}

function append(merged: [number, number][], [from, to]: readonly [number, number]): void {
  const last = merged.at(-1);
  if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
  else merged.push([from, to]);
}

export function complement(set: CharSet): CharSet {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) gaps.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= MAX_CODE_POINT) gaps.push([next, MAX_CODE_POINT]);
  return gaps;
}

/** What `.` matches without the `s` flag. */
export const NOT_LINE_END: CharSet = complement(LINE_ENDS);

export function overlaps(a: CharSet, b: CharSet): boolean {
  return !areDisjoint([a, b]);
}

/** No character is in two of the sets. */
export function areDisjoint(sets: readonly CharSet[]): boolean {
  const ranges = sets.flat().toSorted((a, b) => a[0] - b[0]);
  return ranges.every((range, i) => i === 0 || range[0] > (ranges[i - 1]?.[1] ?? -1));
}
