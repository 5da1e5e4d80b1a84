// A listing's text -> what the index stores of it: six fields of stems, the strongest first. Runs in the cataloger when
// a listing's text changes; search-store.ts writes the result. Pure.

import { tellingWordsOf } from "./search-common-words.ts";
import type { IndexedListing } from "./search-port.ts";
import { isVocabulary } from "./search-spelling.ts";
import type { Word } from "./search-words.ts";

/**
 * Stems joined by spaces; the empty string where there are none. Parts that are compared as a whole (one tag, the
 * tool's name) are set apart by `PART_END`; longer spellings of which the stems are parts follow after `WHOLES`.
 */
export interface SearchFields {
  name: string;
  tags: string;
  /** The tool's name, then the route without its parameters. */
  route: string;
  parameters: string;
  description: string;
  host: string;
}

/** In the order of their weight. */
export const FIELD_NAMES = ["name", "tags", "route", "parameters", "description", "host"] as const;
export const PART_END = ",";
export const WHOLES = ";";

/**
 * Stems per field. Honest listings stay far below; a longer text is stuffing or noise, and every stem costs index rows
 * for all readers.
 */
const MAX_STEMS: Readonly<Record<keyof SearchFields, number>> = {
  name: 16,
  tags: 32,
  route: 32,
  parameters: 48,
  description: 240,
  host: 12,
};

/** Labels that hosts carry for technical reasons: they would make half of the catalog match "api" or "com". */
const PLAIN_LABELS = new Set(
  "www api app com net org io dev xyz co ai example test info cloud site online tech v1 v2 v3".split(" "),
);

export function searchFields(listing: IndexedListing): SearchFields {
  const { tool, route, parameters, name, tags, description } = textsOf(listing);
  const labels = listing.host.replace(/:\d+$/, "").split(".");
  return {
    name: field("name", [name]),
    tags: field("tags", tags),
    route: field("route", [tool, route]),
    parameters: field("parameters", [parameters]),
    description: field("description", [description]),
    host: field("host", [labels.filter((label) => !PLAIN_LABELS.has(label)).join(" . ")]),
  };
}

/** The words of a listing that queries are completed and corrected to, as the seller wrote them; each once. */
export function vocabularyOf(listing: IndexedListing): Word[] {
  const { tool, route, parameters, name, tags, description } = textsOf(listing);
  const words = [name, ...tags, tool, route, parameters, description]
    .flatMap((text) => tellingWordsOf(text).slice(0, MAX_STEMS.description))
    .filter(({ text }) => isVocabulary(text));
  return [...new Map(words.map((word) => [word.text, word])).values()];
}

function textsOf(listing: IndexedListing) {
  const input = object(object(object(listing.bazaar).info).input);
  const path = listing.routeTemplate ?? pathOf(listing.resource);
  const routeParameters = [...path.matchAll(/:([A-Za-z0-9_]+)/g)].map(([, name = ""]) => name);
  const described = typeof input.description === "string" ? input.description : "";
  return {
    name: listing.serviceName ?? "",
    tags: listing.tags,
    tool: listing.toolName ?? "",
    route: path.replaceAll(/:[A-Za-z0-9_]+/g, " "),
    parameters: [...routeParameters, ...parameterNames(input)].join(" , "),
    description: `${listing.description ?? ""} ${described}`,
  };
}

function field(name: keyof SearchFields, parts: readonly string[]): string {
  const stems: string[] = [];
  const wholes = new Set<string>();
  for (const part of parts) {
    const words = tellingWordsOf(part).slice(0, MAX_STEMS[name]);
    if (words.length === 0) continue;
    if (stems.length > 0) stems.push(PART_END);
    for (const { stem, whole } of words) {
      stems.push(stem);
      if (whole !== undefined) wholes.add(whole);
    }
  }
  const kept = stems.slice(0, MAX_STEMS[name]);
  return (wholes.size === 0 ? kept : [...kept, WHOLES, ...[...wholes].slice(0, MAX_STEMS[name])]).join(" ");
}

/** The path of a resource URL, its escapes blanked: an example value is nothing to be found by. */
function pathOf(resource: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)/i.exec(resource)?.[1] ?? "";
  return path.replaceAll(/%[0-9a-f]{2}/gi, " ");
}

type JsonObject = Record<string, unknown>;

/** Names from query, path and body of an HTTP input, and from an MCP tool's schema; those inside them too. */
function parameterNames(input: JsonObject): string[] {
  const values = [input.queryParams, input.pathParams, input.body].map(object);
  const schema = propertiesOf(input.inputSchema);
  const inner = [
    ...values.flatMap((names) => Object.values(names).map(object)),
    ...Object.values(schema).map(propertiesOf),
  ];
  return [...values, schema, ...inner].flatMap(Object.keys);
}

function propertiesOf(schema: unknown): JsonObject {
  return object(object(schema).properties);
}

function object(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
