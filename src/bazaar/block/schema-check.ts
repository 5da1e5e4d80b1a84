// Does `info` fit the sender's own schema? Interpreted, because Workers forbid generated code, and only after
// src/bazaar/block/schema-guard.ts has made the schema safe. Never throws, never fetches.

import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { guardSchema, SchemaTooCostly } from "./schema-guard.ts";
import type { InstanceSize } from "./schema-work.ts";

/** Why `info` does not fit `schema`, or why the schema cannot be used; undefined when it fits. */
export function findSchemaProblem(info: unknown, schema: unknown): string | undefined {
  const guarded = guardSchema(schema, sizeOf(info));
  if (!guarded.ok) return guarded.reason;
  try {
    const result = new Validator(guarded.schema as Schema, "2020-12", true).validate(info);
    return result.valid ? undefined : describeMisfit(result.errors);
  } catch (error) {
    return describeFailure(error);
  }
}

function sizeOf(value: unknown): InstanceSize {
  const size: InstanceSize = { longestArray: 0, widestObject: 0, longestKeys: 0, longestText: 0 };
  measure(size, value);
  return size;
}

function measure(size: InstanceSize, value: unknown): void {
  if (typeof value === "string") size.longestText = Math.max(size.longestText, value.length);
  if (Array.isArray(value)) {
    size.longestArray = Math.max(size.longestArray, value.length);
    for (const item of value) measure(size, item);
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    size.widestObject = Math.max(size.widestObject, entries.length);
    size.longestKeys = Math.max(
      size.longestKeys,
      entries.reduce((sum, [key]) => sum + key.length, 0),
    );
    for (const [key, child] of entries) {
      size.longestText = Math.max(size.longestText, key.length);
      measure(size, child);
    }
  }
}

/** Names the deepest field that does not fit and the innermost rule it breaks, never its value. */
function describeMisfit(errors: readonly OutputUnit[]): string {
  const [first, ...others] = errors;
  if (!first) return "info does not fit the schema";
  const deepest = others.reduce((a, b) => (depthOf(b) >= depthOf(a) ? b : a), first);
  const missing = /required property "([^"]+)"/.exec(deepest.error)?.[1];
  const path = deepest.instanceLocation.split("/").slice(1).map(decodePointer);
  const field = ["info", ...path, ...(missing === undefined ? [] : [missing])].join(".");
  return missing === undefined
    ? `${field} does not fit the schema (${ruleOf(deepest)})`
    : `${field} is missing`;
}

function depthOf(unit: OutputUnit): number {
  return unit.instanceLocation.split("/").length;
}

/** A `false` schema reports the keyword `false`: it came from a field that is not allowed. */
function ruleOf(unit: OutputUnit): string {
  return unit.keyword === "false" ? "not allowed" : unit.keyword;
}

function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return token;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof SchemaTooCostly) return "schema takes too much work to evaluate";
  // A chain of references that never comes to an end; the engine reports the full stack as a RangeError.
  if (error instanceof RangeError) return "schema refers to itself without end";
  const unresolved =
    error instanceof Error ? /^Unresolved \$ref "([^"]*)"/.exec(error.message)?.[1] : undefined;
  if (unresolved !== undefined) return `schema has a $ref to nothing: ${unresolved}`;
  return "schema cannot be evaluated";
}
