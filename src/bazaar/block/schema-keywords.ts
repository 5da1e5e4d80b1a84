// The keywords of JSON Schema draft 2020-12 and what each one's value must be. Those of earlier drafts that the
// interpreter would obey are here too, to be left out or held to their shape.

export type KeywordRule =
  | "ignored"
  | "schema"
  | "schemas"
  | "schema or schemas"
  | "schema map"
  | "pattern map"
  | "schema or names map"
  | "names"
  | "names map"
  | "type"
  | "count"
  | "number"
  | "boolean"
  | "values"
  | "value"
  | "pattern"
  | "anchor"
  | "reference"
  | "dialect";

/**
 * Draft 2020-12's keywords, and those of earlier drafts that the interpreter would obey. `format` annotates in this
 * draft, and like every annotation it is ignored; `default`, `examples` and `example` hold plain data.
 */
const KEYWORDS: Record<string, KeywordRule> = {
  $schema: "dialect",
  $ref: "reference",
  $dynamicRef: "reference",
  $id: "reference",
  id: "ignored",
  $anchor: "anchor",
  $dynamicAnchor: "anchor",
  $recursiveRef: "ignored",
  $recursiveAnchor: "ignored",
  $vocabulary: "ignored",
  $comment: "ignored",
  title: "ignored",
  description: "ignored",
  default: "ignored",
  examples: "ignored",
  example: "ignored",
  format: "ignored",
  $defs: "schema map",
  definitions: "schema map",
  properties: "schema map",
  patternProperties: "pattern map",
  dependentSchemas: "schema map",
  dependencies: "schema or names map",
  dependentRequired: "names map",
  required: "names",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  prefixItems: "schemas",
  items: "schema or schemas",
  additionalItems: "schema",
  unevaluatedItems: "schema",
  contains: "schema",
  additionalProperties: "schema",
  unevaluatedProperties: "schema",
  propertyNames: "schema",
  not: "schema",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in a table that nobody awaits.
  then: "schema",
  else: "schema",
  type: "type",
  const: "value",
  enum: "values",
  pattern: "pattern",
  minLength: "count",
  maxLength: "count",
  minItems: "count",
  maxItems: "count",
  minProperties: "count",
  maxProperties: "count",
  minContains: "count",
  maxContains: "count",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
  uniqueItems: "boolean",
};

/** Undefined for a keyword that this draft does not know. */
export function ruleOfKeyword(keyword: string): KeywordRule | undefined {
  return Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
}
