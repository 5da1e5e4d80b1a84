// Reading what a client sent: the body within its limit, the query by the route's schema. Answers problems as values
// that name the field.

import { readBounded } from "../platform/bounded-body.ts";
import { findProblem, type JsonSchema } from "./json-schema.ts";

/** A payment with a bazaar block of 64 KiB needs less than half of it; larger bodies are an attack or a mistake. */
export const MAX_BODY_BYTES = 256 * 1024;

export type BodyReading =
  | { ok: true; value: unknown }
  | { ok: false; reason: "too_large" }
  | { ok: false; reason: "invalid"; field: string; message: string };

/** Beyond this a client that sends what nobody wants may lose its connection. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/** Reads a JSON body of at most `MAX_BODY_BYTES`. */
export async function readJsonBody(request: Request): Promise<BodyReading> {
  const bytes = await readBounded(request, MAX_BODY_BYTES, MAX_DISCARDED_BYTES);
  if (bytes === null) return { ok: false, reason: "too_large" };
  try {
    return {
      ok: true,
      value: JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes)),
    };
  } catch {
    return NOT_JSON;
  }
}

const NOT_JSON: BodyReading = { ok: false, reason: "invalid", field: "body", message: "is not JSON" };

/**
 * Reads away a body that nobody looked at. Without it, workerd closes the connection of a client that was answered early
 * (401, 404), and the client sees its answer, or its next request, end in a reset.
 */
export async function discardBody(request: Request): Promise<void> {
  if (request.bodyUsed) return;
  try {
    await readBounded(request, 0, MAX_DISCARDED_BYTES);
  } catch {
    // The client went away.
  }
}

export type QueryReading =
  | { ok: true; query: Record<string, string | number>; unknown: string[] }
  | { ok: false; field: string; message: string };

/**
 * Reads the query string by an object schema. A property of type integer takes only a plain decimal; a repeated
 * parameter is refused, because which of the two counts would be a guess.
 */
export function readQuery(schema: JsonSchema | undefined, url: URL): QueryReading {
  const properties = schema?.properties ?? {};
  const query: Record<string, string | number> = {};
  const unknown: string[] = [];
  for (const [name, value] of url.searchParams) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property) {
      if (!unknown.includes(name)) unknown.push(name);
      continue;
    }
    if (Object.hasOwn(query, name)) return { ok: false, field: name, message: "is given twice" };
    const isInteger = property.type === "integer" && /^-?\d+$/.test(value);
    query[name] = isInteger ? Number(value) : value;
  }
  const problem = schema && findProblem(schema, query);
  return problem ? { ok: false, ...problem } : { ok: true, query, unknown };
}
