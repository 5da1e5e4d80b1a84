// JSON Schema as routes use it: one schema parses the request and describes it in the OpenAPI document. The validator
// interprets (Workers forbid generated code) and is made once per schema.

import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";

export type JsonSchema = Schema & {
  properties?: Record<string, JsonSchema>;
  [keyword: string]: unknown;
};

export interface SchemaProblem {
  /** Dotted path of the offending field, e.g. `paymentPayload.accepted.amount`; `body` for the whole. */
  field: string;
  message: string;
}

const validators = new WeakMap<object, Validator>();

function validatorOf(schema: JsonSchema): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    validator = new Validator(schema, "2020-12", true);
    validators.set(schema, validator);
  }
  return validator;
}

/** The first problem of `value` against `schema`, or undefined when it fits. */
export function findProblem(schema: JsonSchema, value: unknown): SchemaProblem | undefined {
  const result = validatorOf(schema).validate(value);
  if (result.valid) return undefined;
  const deepest = result.errors.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a));
  const missing = /required property "([^"]+)"/.exec(deepest.error)?.[1];
  const path = deepest.instanceLocation.split("/").slice(1).map(decodePointer);
  if (missing !== undefined) path.push(missing);
  return {
    field: path.join(".") || "body",
    message: missing === undefined ? describe(deepest) : "is missing",
  };
}

function depthOf(unit: OutputUnit): number {
  return unit.instanceLocation.split("/").length;
}

/** The validator's sentence repeats the offending value; the client gets the rule, not the value. */
function describe(unit: OutputUnit): string {
  return `does not fit the schema (${unit.keyword})`;
}

function decodePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
