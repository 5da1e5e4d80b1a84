// The enveloped face of the bazaar, for clients of Binance's B402 (CONTRACT.md section 2): the same catalog and the same
// search in other words. Errors are HTTP 200 with a code, because these clients read the code only there.

import { type CatalogFilters, conditionOf, flattenScheme } from "../bazaar/catalog/catalog-filter.ts";
import { type ListPage, listListings, type ShownListing } from "../bazaar/catalog/catalog-read-store.ts";
import { searchCatalog } from "../bazaar/search/search-catalog-store.ts";
import { json } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import {
  ADDRESS_SCHEMA,
  FILTER_SCHEMAS,
  filtersOf,
  MAX_QUERY_CHARACTERS,
  OFFSET_SCHEMA,
  objectOf,
} from "./discovery-query.ts";
import type { JsonSchema } from "./json-schema.ts";

const DEFAULT_LIST_LIMIT = 25;
const MAX_LIST_LIMIT = 100;
/** Default and most: these clients always ask for 20 and trim. */
const MAX_SEARCH_LIMIT = 20;

async function resources(call: Call): Promise<Response> {
  const paging = pagingOf(call.query);
  const page = await list(call, {}, paging);
  return envelope({ items: page.listings.map(b402Resource), ...pagination(page, paging), x402Version: 2 });
}

async function merchant(call: Call): Promise<Response> {
  const paging = pagingOf(call.query);
  const page = await list(call, { payTo: String(call.query.payTo) }, paging);
  return envelope({
    resources: page.listings.map(b402Resource),
    ...pagination(page, paging),
    x402Version: 2,
  });
}

async function search(call: Call): Promise<Response> {
  const limit = Math.min(Number(call.query.limit ?? MAX_SEARCH_LIMIT), MAX_SEARCH_LIMIT);
  const query = String(call.query.query ?? "").trim();
  const { listings, hasMore } = query === "" ? await newest(call, limit) : await find(call, query, limit);
  return envelope({
    resources: listings.map(b402Resource),
    searchMethod: "keyword",
    partialResults: hasMore,
    x402Version: 2,
  });
}

/** Without words a search only filters. */
async function newest(call: Call, limit: number) {
  const page = await list(call, filtersOf(call.query), { limit, offset: 0 });
  return { listings: page.listings, hasMore: page.total > limit };
}

async function find(call: Call, query: string, limit: number) {
  const filters: CatalogFilters = { ...filtersOf(call.query), hasOffer: true };
  const page = await searchCatalog(call.env.DB, { query, filters, limit, nowMs: call.clock.nowMs() });
  return page.ok ? page : { listings: [], hasMore: false };
}

interface Paging {
  limit: number;
  offset: number;
}

function list(call: Call, filters: CatalogFilters, paging: Paging): Promise<ListPage> {
  return listListings(call.env.DB, conditionOf({ ...filters, hasOffer: true }), paging);
}

function pagingOf(query: Call["query"]): Paging {
  return {
    limit: Math.min(Number(query.limit ?? DEFAULT_LIST_LIMIT), MAX_LIST_LIMIT),
    offset: Math.min(Number(query.offset ?? 0), Number.MAX_SAFE_INTEGER),
  };
}

function pagination(page: ListPage, paging: Paging): { pagination: Paging & { total: number } } {
  return { pagination: { ...paging, total: page.total } };
}

function b402Resource({ resource, offers, lastUpdatedMs }: ShownListing) {
  return {
    resource: resource.resource,
    type: resource.type,
    x402Version: resource.x402Version,
    description: resource.description ?? resource.resource,
    accepts: resource.accepts.map(({ scheme, network, asset, amount, payTo }, i) => ({
      scheme: flattenScheme(scheme, offers[i]?.method ?? ""),
      network,
      asset,
      maxAmountRequired: amount,
      payTo,
    })),
    lastUpdated: lastUpdatedMs,
  };
}

function envelope(data: unknown): Response {
  return json({ code: "000000", message: null, messageDetail: null, data, success: true });
}

const text: JsonSchema = { type: "string" };
const number: JsonSchema = { type: "integer", minimum: 0 };

const B402_RESOURCE: JsonSchema = {
  type: "object",
  required: ["resource", "type", "x402Version", "description", "accepts", "lastUpdated"],
  properties: {
    resource: text,
    type: { enum: ["http", "mcp"] },
    x402Version: number,
    description: text,
    accepts: {
      type: "array",
      items: {
        type: "object",
        properties: { scheme: text, network: text, asset: text, maxAmountRequired: text, payTo: text },
      },
    },
    lastUpdated: { type: "integer", description: "Milliseconds since the epoch" },
  },
};
const B402_RESOURCES: JsonSchema = { type: "array", items: B402_RESOURCE };
const PAGINATION: JsonSchema = {
  type: "object",
  properties: { limit: number, offset: number, total: number },
};

function enveloped(data: Record<string, JsonSchema>): JsonSchema {
  return {
    type: "object",
    required: ["code", "message", "messageDetail", "data", "success"],
    properties: {
      code: { enum: ["000000", "000002"], description: "`000002`: a parameter is wrong" },
      message: { type: ["string", "null"] },
      messageDetail: { type: ["string", "null"], description: "Which parameter, and why" },
      data: { type: ["object", "null"], properties: { ...data, x402Version: { const: 2 } } },
      success: { type: "boolean" },
    },
  };
}

const LIMIT: JsonSchema = { type: "integer", minimum: 1 };
const { network = {}, asset = {}, scheme = {}, payTo = {}, maxUsdPrice = {} } = FILTER_SCHEMAS;
const common = { method: "GET", face: "b402", credential: { kind: "none" } } as const;

export const b402Routes: readonly Route[] = [
  {
    ...common,
    path: "/bazaar/resources",
    summary: "B402: what can be paid for, newest listing first",
    query: objectOf({ limit: LIMIT, offset: OFFSET_SCHEMA }),
    answers: { 200: enveloped({ items: B402_RESOURCES, pagination: PAGINATION }) },
    handle: resources,
  },
  {
    ...common,
    path: "/bazaar/merchant",
    summary: "B402: what one payTo offers",
    query: objectOf({ payTo: ADDRESS_SCHEMA, limit: LIMIT, offset: OFFSET_SCHEMA }, ["payTo"]),
    answers: { 200: enveloped({ resources: B402_RESOURCES, pagination: PAGINATION }) },
    handle: merchant,
  },
  {
    ...common,
    path: "/bazaar/search",
    summary: "B402: find resources by words, at most 20",
    query: objectOf({
      query: { type: "string", maxLength: MAX_QUERY_CHARACTERS },
      network,
      asset,
      scheme,
      payTo,
      maxUsdPrice,
      limit: LIMIT,
    }),
    answers: {
      200: enveloped({
        resources: B402_RESOURCES,
        searchMethod: { const: "keyword" },
        partialResults: { type: "boolean" },
      }),
    },
    handle: search,
  },
];
