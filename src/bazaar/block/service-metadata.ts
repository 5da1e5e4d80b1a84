// What a seller says about itself on `resource`: name, tags, icon, description, media type. The buyer echoes it, so each
// field is checked alone and a field that breaks its rule is dropped, never the listing (Bazaar specification, "Service
// Metadata on resource"). Text is data: nothing here is markup.

import { findNameProblem } from "../catalog/host-rules.ts";

export interface ServiceMetadata {
  serviceName: string | null;
  tags: string[];
  iconUrl: string | null;
  description: string | null;
  mimeType: string | null;
}

const MAX_NAME_CHARACTERS = 32;
const MAX_TAG_CHARACTERS = 32;
const MAX_TAGS = 5;
const MAX_ICON_URL_CHARACTERS = 2_048;
/** A page of text; a search result shows less. */
export const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_MIME_TYPE_CHARACTERS = 127;

/** Reads `resource` of a payment payload. Never fails: what is not usable is left out. */
export function readServiceMetadata(resource: unknown): ServiceMetadata {
  const fields =
    typeof resource === "object" && resource !== null ? (resource as Record<string, unknown>) : {};
  return {
    serviceName: readServiceName(fields.serviceName),
    tags: readTags(fields.tags),
    iconUrl: readIconUrl(fields.iconUrl),
    description: readDescription(fields.description),
    mimeType: readMimeType(fields.mimeType),
  };
}

export function readServiceName(value: unknown): string | null {
  return isPrintableAscii(value, MAX_NAME_CHARACTERS) ? value : null;
}

/** The first five valid tags, unique without regard to case; the first spelling stays. */
export function readTags(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const tags = new Map<string, string>();
  for (const entry of value) {
    if (tags.size === MAX_TAGS) break;
    if (!isPrintableAscii(entry, MAX_TAG_CHARACTERS)) continue;
    const key = entry.toLowerCase();
    if (!tags.has(key)) tags.set(key, entry);
  }
  return [...tags.values()];
}

/**
 * An http(s) URL on a public name. Stricter than the published helper, which lets pass trailing dots, single labels and
 * private suffixes: an icon is loaded by whoever looks at the listing.
 */
export function readIconUrl(value: unknown): string | null {
  if (typeof value !== "string" || value === "" || value.length > MAX_ICON_URL_CHARACTERS) return null;
  if (/\p{Cc}/u.test(value) || !URL.canParse(value)) return null;
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (url.username !== "" || url.password !== "") return null;
  if (findNameProblem(url.hostname) !== undefined || /%/.test(url.hostname)) return null;
  return value;
}

/** Without control, bidi and zero-width characters, on one line, cut on a code point. Null when nothing is left. */
export function readDescription(value: unknown): string | null {
  if (typeof value !== "string") return null;
  // A first cut keeps the work bounded: a body may hold 256 KiB of them.
  const start = value.slice(0, 4 * MAX_DESCRIPTION_CHARACTERS).toWellFormed();
  const plain = start.replaceAll(LINE_BREAKS, " ").replaceAll(INVISIBLE, "");
  return cutOnCodePoint(plain, MAX_DESCRIPTION_CHARACTERS).trim() || null;
}

const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Control and format characters (bidi, zero-width, tags), and the fillers that show as nothing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

export function readMimeType(value: unknown): string | null {
  if (!isPrintableAscii(value, MAX_MIME_TYPE_CHARACTERS)) return null;
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+ *(;.*)?$/i.test(value) ? value : null;
}

/** At most `max` UTF-16 units, without half a surrogate pair at the end. */
export function cutOnCodePoint(text: string, max: number): string {
  if (text.length <= max) return text;
  const lastUnit = text.charCodeAt(max - 1);
  return text.slice(0, lastUnit >= 0xd800 && lastUnit <= 0xdbff ? max - 1 : max);
}

function isPrintableAscii(value: unknown, max: number): value is string {
  return typeof value === "string" && value.length <= max && /^[\x20-\x7e]+$/.test(value);
}
