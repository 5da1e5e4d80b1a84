// JSON in base64, as the headers of x402 and of the paid-call protocol carry it.

import { fromBase64, toBase64, utf8 } from "./bytes.ts";

/** Padded base64 of the UTF-8 of a value's JSON. */
export function encodeJson(value: unknown): string {
  return toBase64(utf8(JSON.stringify(value)));
}

/** The value in such a text; undefined when it is none. */
export function decodeJson(text: string): unknown {
  const bytes = fromBase64(text.trim());
  if (!bytes) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return undefined;
  }
}
