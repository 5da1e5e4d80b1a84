// The parameters of discovery: one schema that parses them, describes them in the OpenAPI document, and is strict, so
// that a filter that cannot be applied is never silently left out.

import type { CatalogFilters } from "../bazaar/catalog/catalog-filter.ts";
import type { Call } from "./call.ts";
import type { JsonSchema } from "./json-schema.ts";

/** An EVM address, or another chain's account: base58 and its kin. */
const ADDRESS = "^(0x[0-9a-fA-F]{40}|[1-9A-Za-z][0-9A-Za-z]{19,127})$";

export const ADDRESS_SCHEMA: JsonSchema = {
  type: "string",
  pattern: ADDRESS,
  description: "EVM addresses match without regard to case, all others exactly",
};

export const MAX_QUERY_CHARACTERS = 400;

export const FILTER_SCHEMAS: Record<string, JsonSchema> = {
  type: { type: "string", pattern: "^[a-z][a-z0-9-]{0,31}$", description: "`http` or `mcp`" },
  payTo: ADDRESS_SCHEMA,
  scheme: {
    type: "string",
    pattern: "^[a-z][a-z0-9-]{0,31}$",
    description: "`exact`, `upto`, or a transfer method: `eip3009`, `permit2-exact`, `spl-transfer`",
  },
  network: { type: "string", pattern: "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$", description: "CAIP-2" },
  extensions: { type: "string", pattern: "^[\\x21-\\x7e]{1,128}$", description: "Key of an extension" },
  asset: ADDRESS_SCHEMA,
  maxUsdPrice: {
    type: "string",
    pattern: "^[0-9]{1,9}(\\.[0-9]{1,18})?$",
    description: "Dollars, e.g. `0.05`; offers in tokens without a known price never match",
  },
  tag: { type: "string", pattern: "^[\\x20-\\x7e]{1,32}$", description: "Without regard to case" },
};

export const LIMIT_SCHEMA: JsonSchema = {
  type: "integer",
  minimum: 1,
  description: "Default 20; above 100 counts as 100",
};
export const OFFSET_SCHEMA: JsonSchema = { type: "integer", minimum: 0 };

export function objectOf(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: "object", properties, required };
}

/** The filters in a parsed query. */
export function filtersOf(query: Call["query"]): CatalogFilters {
  const { type, payTo, scheme, network, extensions, asset, maxUsdPrice, tag } = query;
  const texts = { type, payTo, scheme, network, extensions, asset, tag };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  const ceiling = maxUsdPrice === undefined ? {} : { maxUsdMicros: wholeMicros(String(maxUsdPrice)) };
  return { ...Object.fromEntries(given), ...ceiling };
}

/** Whole millionths of a dollar in a decimal: digit by digit, because a float cannot hold a cent. */
export function wholeMicros(dollars: string): number {
  const [whole = "0", fraction = ""] = dollars.split(".");
  return Number(BigInt(whole) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, "0")));
}

const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;

/** The effective limit and offset: what is beyond the most is the most, and is echoed so. */
export function pagingOf(query: Call["query"]): { limit: number; offset: number } {
  return {
    limit: Math.min(Number(query.limit ?? DEFAULT_LIMIT), MAX_LIMIT),
    offset: Math.min(Number(query.offset ?? 0), Number.MAX_SAFE_INTEGER),
  };
}
