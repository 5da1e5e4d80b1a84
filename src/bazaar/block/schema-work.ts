// What evaluating a schema can cost, in units counted while it is interpreted (src/bazaar/block/schema-guard.ts). Workers stop
// no computation and their clock stands still meanwhile, so work is bounded by counting, not by timing.

import { costOfPattern } from "./pattern-cost.ts";

/** Sizes of the instance that decide what a keyword can cost. */
export interface InstanceSize {
  longestArray: number;
  /** Entries of the object that has the most. */
  widestObject: number;
  /** Characters of all keys of the object that has the most: each step into it writes a path. */
  longestKeys: number;
  /** Characters of the longest string or key. */
  longestText: number;
}

/**
 * Units of about 100 to 200 ns: some 5 to 10 ms in all, of the 50 ms that a block may take on a slower or busier machine.
 * An honest schema uses some hundreds.
 */
export const MAX_WORK_UNITS = 50_000;

// What things cost, measured on the interpreter while cold, which is how a hostile schema meets it.
export const UNITS_PER_EVALUATION = 20;
const UNITS_PER_ENTRY = 5;
/** The interpreter makes objects for each branch, one inheriting from the other. */
const UNITS_PER_BRANCH = 20;
/** Each name that is missing writes an error. */
const UNITS_PER_REQUIRED_NAME = 15;
/** Two array items compared with each other. */
const UNITS_PER_PAIR = 1;
const STEPS_PER_UNIT = 10;
/** Characters written into a path or an error. */
const CHARACTERS_PER_UNIT = 10;

/** Units that evaluating `keyword` once can take, without patterns and without what subschemas count for themselves. */
export function workOfKeyword(keyword: string, value: unknown, size: InstanceSize): number {
  const { longestArray, widestObject, longestKeys, longestText } = size;
  switch (keyword) {
    case "const":
    case "enum":
      return JSON.stringify(value).length / CHARACTERS_PER_UNIT;
    case "uniqueItems":
      return value === true ? longestArray * longestArray * UNITS_PER_PAIR : 0;
    case "minLength":
    case "maxLength":
      return longestText / CHARACTERS_PER_UNIT;
    case "items":
    case "contains":
    case "additionalItems":
    case "unevaluatedItems":
      return longestArray;
    case "additionalProperties":
    case "unevaluatedProperties":
    case "propertyNames":
      return widestObject + longestKeys / CHARACTERS_PER_UNIT;
    case "properties":
      return countEntries(value) * UNITS_PER_ENTRY + longestKeys / CHARACTERS_PER_UNIT;
    case "allOf":
    case "anyOf":
    case "oneOf":
      return countEntries(value) * UNITS_PER_BRANCH;
    case "required":
      return countEntries(value) * UNITS_PER_REQUIRED_NAME;
    default:
      return countEntries(value) * UNITS_PER_ENTRY;
  }
}

/** Units of running a pattern once; undefined when nothing proves that it ends in time. */
export function workOfPattern(pattern: string, { longestText }: InstanceSize): number | undefined {
  const cost = costOfPattern(pattern);
  if (!cost) return undefined;
  const units = (cost.steps * Math.max(1, longestText) ** cost.degree) / STEPS_PER_UNIT;
  return cost.degree > 1 && units > MAX_WORK_UNITS / 2 ? undefined : units;
}

function countEntries(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}
