// Reading what a client sent: the body within its limit, the query by the route's schema. Answers problems as values
// that name the field.

import { findProblem, type JsonSchema } from "./json-schema.ts";

/** A payment with a bazaar block of 64 KiB needs less than half of it; larger bodies are an attack or a mistake. */
export const MAX_BODY_BYTES = 256 * 1024;

export type BodyReading =
  | { ok: true; value: unknown }
  | { ok: false; reason: "too_large" }
  | { ok: false; reason: "invalid"; field: string; message: string };

/** Reads a JSON body of at most `MAX_BODY_BYTES`. */
export async function readJsonBody(request: Request): Promise<BodyReading> {
  const stated = Number(request.headers.get("content-length") ?? Number.NaN);
  if (stated > MAX_BODY_BYTES) return { ok: false, reason: "too_large" };
  // HTTP holds a sender to the length it stated; a body of none is counted while it comes.
  const bytes = Number.isNaN(stated) ? await readCounted(request) : await request.arrayBuffer();
  if (bytes === null || bytes.byteLength > MAX_BODY_BYTES) return { ok: false, reason: "too_large" };
  try {
    return {
      ok: true,
      value: JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes)),
    };
  } catch {
    return NOT_JSON;
  }
}

/** Null when it is too large. */
async function readCounted(request: Request): Promise<ArrayBuffer | null> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  // A loop that ended early would cancel the stream, and then discardBody could not read on.
  for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
    total += chunk.byteLength;
    if (total > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

const NOT_JSON: BodyReading = { ok: false, reason: "invalid", field: "body", message: "is not JSON" };

/** Beyond this a client that sends what nobody wants may lose its connection. */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/**
 * Reads away what is left of a body. Without it, workerd closes the connection of a client that was answered early
 * (401, 404, 413), and the client sees its answer, or its next request, end in a reset.
 */
export async function discardBody(request: Request): Promise<void> {
  if (request.body === null) return;
  let total = 0;
  try {
    for await (const chunk of request.body) {
      total += chunk.byteLength;
      if (total > MAX_DISCARDED_BYTES) return;
    }
  } catch {
    // The client went away, or the body was read to its end.
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
