// Turns a stranger's JSON Schema (draft 2020-12) into one that is safe to interpret: a copy that holds only keywords
// that assert something, each with a value of the right shape, refers to nothing outside itself, runs no pattern whose
// cost is not proved, and counts its own evaluations. Runs after src/bazaar/block/block-limits.ts, so it may recurse.

import { type KeywordRule, ruleOfKeyword } from "./schema-keywords.ts";
import {
  type InstanceSize,
  MAX_WORK_UNITS,
  UNITS_PER_EVALUATION,
  workOfKeyword,
  workOfPattern,
} from "./schema-work.ts";

export type GuardedSchema = { ok: true; schema: GuardedNode } | { ok: false; reason: string };
export type GuardedNode = boolean | { [keyword: string]: unknown };

/** Thrown by a guarded schema while it is evaluated: the work it may cause is used up. */
export class SchemaTooCostly extends Error {}

/** Analysing and compiling a pattern costs time too; this much in one schema is no longer an interface description. */
const MAX_PATTERN_CHARACTERS_IN_ALL = 2_000;
/** The interpreter writes every node's path out; longer names are no field names. */
const MAX_KEY_CHARACTERS = 256;

/** Copies `schema` for an instance of that size, or says which place makes it unusable. */
export function guardSchema(schema: unknown, size: InstanceSize): GuardedSchema {
  try {
    return { ok: true, schema: new Guard(size).node(schema, "schema") };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

class Refusal extends Error {}

class Guard {
  readonly #size: InstanceSize;
  #workLeft = MAX_WORK_UNITS;
  #patternCharacters = 0;

  constructor(size: InstanceSize) {
    this.#size = size;
  }

  node(schema: unknown, place: string): GuardedNode {
    if (typeof schema === "boolean") return schema;
    const source = recordOf(schema) ?? refuse(place, "must be a schema");
    const copy: Record<string, unknown> = {};
    let work = UNITS_PER_EVALUATION;
    for (const [keyword, value] of Object.entries(source)) {
      const rule = ruleOfKeyword(keyword);
      const at = `${place}.${keyword}`;
      const kept = rule ? this.#keep(rule, value, at) : this.#keepUnknown(keyword, value, at);
      if (kept !== undefined && keyword !== "type") define(copy, keyword, kept);
      work += workOfKeyword(keyword, value, this.#size) + this.#patternWorkOf(keyword, value, at);
    }
    renameDynamic(copy);
    const type = Object.hasOwn(source, "type") ? source.type : undefined;
    // The interpreter reads `type` once each time it evaluates this node.
    Object.defineProperty(copy, "type", {
      enumerable: true,
      get: () => {
        this.#workLeft -= work;
        if (this.#workLeft < 0) throw new SchemaTooCostly();
        return type;
      },
    });
    return copy;
  }

  /** The value to keep in the copy; undefined leaves the keyword out. */
  #keep(rule: KeywordRule, value: unknown, place: string): unknown {
    switch (rule) {
      case "ignored":
        return undefined;
      case "schema":
        return this.node(value, place);
      case "schemas":
        return this.#nodes(value, place);
      case "schema or schemas":
        return Array.isArray(value) ? this.#nodes(value, place) : this.node(value, place);
      case "schema map":
        return mapRecord(value, place, (child, at) => this.node(child, at));
      case "pattern map":
        return mapRecord(value, place, (child, at) => this.node(child, at), MAX_PATTERN_CHARACTERS_IN_ALL);
      case "schema or names map":
        return mapRecord(value, place, (child, at) =>
          Array.isArray(child) ? namesOf(child, at) : this.node(child, at),
        );
      case "names":
        return namesOf(value, place);
      case "names map":
        return mapRecord(value, place, namesOf);
      case "type":
        return isType(value) ? value : refuse(place, "must name JSON types");
      case "count":
        return isCount(value) ? value : refuse(place, "must be a whole number");
      case "number":
        return typeof value === "number" ? value : refuse(place, "must be a number");
      case "boolean":
        return typeof value === "boolean" ? value : refuse(place, "must be true or false");
      case "values":
        return Array.isArray(value) ? value : refuse(place, "must be a list");
      case "value":
        return value;
      case "pattern":
        return typeof value === "string" ? value : refuse(place, "must be a string");
      case "anchor":
        return isAnchor(value) ? value : refuse(place, "must be a plain name");
      case "reference":
        return isLocal(value) ? value : refuse(place, "must point inside the document (#...)");
      case "dialect":
        if (!isLocal(value) && !isDialect(value)) refuse(place, "must name draft 2020-12");
        return undefined;
    }
  }

  #nodes(value: unknown, place: string): GuardedNode[] {
    if (!Array.isArray(value) || value.length === 0) return refuse(place, "must be a list of schemas");
    return value.map((child, i) => this.node(child, `${place}.${i}`));
  }

  /** Asserts nothing, but a local reference may point into it. What is no schema in there is left out. */
  #keepUnknown(keyword: string, value: unknown, place: string): unknown {
    refuseReferences(value, place);
    if (!recordOf(value) || keyword.length > MAX_KEY_CHARACTERS) return undefined;
    try {
      return this.node(value, place);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** Work of the keywords that run patterns; refuses a pattern that must not run. */
  #patternWorkOf(keyword: string, value: unknown, place: string): number {
    if (keyword === "pattern" && typeof value === "string") return this.#patternWork(value, place);
    if (keyword !== "patternProperties") return 0;
    return Object.keys(recordOf(value) ?? {}).reduce(
      (sum, pattern) => sum + this.#size.widestObject * this.#patternWork(pattern, `${place}.${pattern}`),
      0,
    );
  }

  #patternWork(pattern: string, place: string): number {
    this.#patternCharacters += pattern.length;
    if (this.#patternCharacters > MAX_PATTERN_CHARACTERS_IN_ALL) refuse(place, "makes the patterns too long");
    const work = workOfPattern(pattern, this.#size);
    if (work === undefined) return refuse(place, "may take more than linear time and is not run");
    if (!isPattern(pattern)) return refuse(place, "is not a regular expression");
    return work;
  }
}

/** Within one document that declares one resource, a dynamic reference is a reference to its anchor. */
function renameDynamic(copy: Record<string, unknown>): void {
  const { $dynamicRef: reference, $dynamicAnchor: anchor } = copy;
  delete copy.$dynamicRef;
  delete copy.$dynamicAnchor;
  if (anchor !== undefined && copy.$anchor === undefined) copy.$anchor = anchor;
  if (reference === undefined) return;
  const others = Array.isArray(copy.allOf) ? copy.allOf : [];
  copy.allOf = [...others, { $ref: reference }];
}

function refuse(place: string, problem: string): never {
  throw new Refusal(`${place} ${problem}`);
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : undefined;
}

function mapRecord(
  value: unknown,
  place: string,
  map: (child: unknown, at: string) => unknown,
  maxKey = MAX_KEY_CHARACTERS,
) {
  const source = recordOf(value) ?? refuse(place, "must be an object");
  const entries = Object.entries(source).map(([key, child]) => {
    if (key.length > maxKey) refuse(place, `has a name longer than ${maxKey} characters`);
    return [key, map(child, `${place}.${key}`)];
  });
  return Object.fromEntries(entries);
}

/** Refuses references out of the document wherever they stand in a keyword that this draft does not know. */
function refuseReferences(value: unknown, place: string): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (REFERENCES.has(key) && typeof child === "string" && !isLocal(child)) {
      refuse(`${place}.${key}`, "must point inside the document (#...)");
    }
    refuseReferences(child, `${place}.${key}`);
  }
}

const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$id"]);

/** Also where the key is `__proto__`, which an assignment would take for the prototype. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function namesOf(value: unknown, place: string): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  return refuse(place, "must be a list of names");
}

const TYPES: readonly unknown[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

function isType(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0 && value.every((t) => TYPES.includes(t))
    : TYPES.includes(value);
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function isAnchor(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z_][-A-Za-z0-9._]{0,63}$/.test(value);
}

function isLocal(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("#");
}

function isDialect(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(value);
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}
