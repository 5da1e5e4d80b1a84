// Canonical JSON (RFC 8785): the one text that challenges, proofs, receipts and claims are signed over, so that key
// order, white space and number spelling of what was sent mean nothing.

import { assert } from "./assert.ts";
import { utf8 } from "./bytes.ts";

/** Deeper values are a mistake or an attack on the stack; nothing that is signed here comes near it. */
const MAX_DEPTH = 256;

/**
 * The canonical text of a JSON value: keys sorted by UTF-16 code units at every level, no white space, numbers and
 * strings as ECMAScript writes them. Throws on what JSON cannot hold (undefined in an array, non-finite numbers,
 * bigint, functions, class instances, lone surrogates): whoever signs such a thing has a bug.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  assert(depth <= MAX_DEPTH, "canonical JSON is too deep");
  switch (typeof value) {
    case "string":
      return canonicalText(value);
    case "number":
      assert(Number.isFinite(value), "canonical JSON holds finite numbers only");
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : canonicalComposite(value, depth);
    default:
      throw new Error(`assertion failed: canonical JSON cannot hold a ${typeof value}`);
  }
}

/**
 * The bytes a signature covers: the canonical JSON of a challenge, proof or receipt without `signature` and
 * `signingKeyId`. Those two are left out at the top level only; inside they are data.
 */
export function signedBytes(signable: object): Uint8Array<ArrayBuffer> {
  const {
    signature: _signature,
    signingKeyId: _signingKeyId,
    ...signed
  } = signable as Record<string, unknown>;
  return utf8(canonicalJson(signed));
}

function canonicalComposite(value: object, depth: number): string {
  if (Array.isArray(value)) {
    // Array.from visits holes too, which `map` would skip into text that is no JSON.
    return `[${Array.from(value, (element) => canonicalJson(element, depth + 1)).join(",")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  assert(prototype === Object.prototype || prototype === null, "canonical JSON holds plain objects only");
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    // As JSON.stringify does: a member without a value is no member.
    if (member !== undefined) members.push(`${canonicalText(key)}:${canonicalJson(member, depth + 1)}`);
  }
  return `{${members.join(",")}}`;
}

function canonicalText(text: string): string {
  assert(text.isWellFormed(), "canonical JSON holds well-formed text only");
  return JSON.stringify(text);
}
