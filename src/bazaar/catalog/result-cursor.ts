// A search cursor carries what the next page must leave out, so that listings that come or go in between neither repeat
// nor lose a result. It belongs to one query with its filters and to one generation of the index.
//
//   base64url( version | generation | first 8 bytes of the query's hash | row ids, sorted, as differences )
//
// Numbers are varints: 1,000 ids make about 2 KB of URL.

import { fromBase64Url, sha256, toBase64Url, utf8 } from "../../platform/bytes.ts";

/** Deeper than anyone reads; beyond it the URL would grow past what proxies take. */
export const MAX_SEARCH_DEPTH = 1_000;

const VERSION = 1;
const HASH_BYTES = 8;

export interface CursorScope {
  /** Query and filters, spelled the same way for the same search. */
  search: string;
  generation: number;
}

export async function writeCursor(scope: CursorScope, rowIds: readonly number[]): Promise<string> {
  const bytes: number[] = [VERSION];
  writeVarint(bytes, scope.generation);
  bytes.push(...(await hashOf(scope.search)));
  let previous = 0;
  for (const rowId of rowIds.toSorted((a, b) => a - b)) {
    writeVarint(bytes, rowId - previous);
    previous = rowId;
  }
  return toBase64Url(Uint8Array.from(bytes));
}

/** The row ids, or undefined when the cursor cannot be read or belongs to another search or generation. */
export async function readCursor(scope: CursorScope, cursor: string): Promise<number[] | undefined> {
  const bytes = fromBase64Url(cursor);
  if (bytes?.[0] !== VERSION) return undefined;
  const reader = { bytes, at: 1 };
  if (readVarint(reader) !== scope.generation) return undefined;
  const hash = await hashOf(scope.search);
  if (!hash.every((byte, i) => bytes[reader.at + i] === byte)) return undefined;
  reader.at += HASH_BYTES;
  const rowIds: number[] = [];
  let previous = 0;
  while (reader.at < bytes.length) {
    const difference = readVarint(reader);
    if (difference === undefined || difference === 0 || rowIds.length === MAX_SEARCH_DEPTH) return undefined;
    previous += difference;
    rowIds.push(previous);
  }
  return Number.isSafeInteger(previous) ? rowIds : undefined;
}

async function hashOf(search: string): Promise<Uint8Array> {
  return (await sha256(utf8(search))).slice(0, HASH_BYTES);
}

function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

/** Seven bytes hold every safe integer that a row id can be. */
const MAX_VARINT_BYTES = 7;

function readVarint(reader: { bytes: Uint8Array; at: number }): number | undefined {
  let value = 0;
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return value;
  }
  return undefined;
}
