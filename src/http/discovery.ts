// The discovery face: lists, search, one payTo's resources, and how an observation ended. Public; reads the catalog and
// changes nothing. Unknown parameters are named in the answer, so that nobody believes a filter that was not applied.

import { conditionOf } from "../bazaar/catalog/catalog-filter.ts";
import { listListings } from "../bazaar/catalog/catalog-read-store.ts";
import { readObservationId } from "../bazaar/catalog/observation-id.ts";
import { findObservation } from "../bazaar/catalog/observation-store.ts";
import { searchCatalog } from "../bazaar/search/search-catalog-store.ts";
import { failureAnswer, json } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import {
  ADDRESS_SCHEMA,
  FILTER_SCHEMAS,
  filtersOf,
  LIMIT_SCHEMA,
  MAX_QUERY_CHARACTERS,
  OFFSET_SCHEMA,
  objectOf,
  pagingOf,
} from "./discovery-query.ts";
import {
  ERROR,
  LIST_ANSWER,
  MERCHANT_ANSWER,
  OBSERVATION_ANSWER,
  SEARCH_ANSWER,
} from "./discovery-schemas.ts";

async function list(call: Call): Promise<Response> {
  const paging = pagingOf(call.query);
  const page = await listListings(call.env.DB, conditionOf(filtersOf(call.query)), paging);
  return json({
    x402Version: 2,
    items: page.listings.map(({ resource }) => resource),
    pagination: { ...paging, total: page.total },
    ...unapplied(call),
  });
}

async function merchant(call: Call): Promise<Response> {
  const payTo = String(call.query.payTo);
  const paging = pagingOf(call.query);
  const page = await listListings(call.env.DB, conditionOf({ payTo }), paging);
  return json({
    x402Version: 2,
    payTo,
    resources: page.listings.map(({ resource }) => resource),
    pagination: { ...paging, total: page.total },
    ...unapplied(call),
  });
}

async function search(call: Call): Promise<Response> {
  const { env, clock } = call;
  const { limit } = pagingOf(call.query);
  const page = await searchCatalog(env.DB, {
    query: String(call.query.query),
    filters: filtersOf(call.query),
    limit,
    ...(call.query.cursor === undefined ? {} : { cursor: String(call.query.cursor) }),
    nowMs: clock.nowMs(),
  });
  if (!page.ok) return badRequest("cursor expired");
  return json({
    x402Version: 2,
    resources: page.listings.map(({ resource }) => resource),
    partialResults: page.hasMore,
    searchMethod: "text",
    pagination: { limit, cursor: await page.nextCursor() },
    ...unapplied(call),
  });
}

async function observation(call: Call): Promise<Response> {
  const { config, env, clock } = call;
  const id = call.params.id ?? "";
  const genuine = await readObservationId(id, config.macKeys);
  const state = genuine && (await findObservation(env.DB, genuine, clock.nowMs()));
  if (!state) {
    return failureAnswer("discovery", {
      status: 404,
      code: "NOT_FOUND",
      message: "no such observation",
      reason: "not_found",
    });
  }
  const { status, rejectedReason, resource, toolName, updatedMs } = state;
  return json({
    id,
    status,
    ...(rejectedReason === null ? {} : { rejectedReason }),
    resource,
    ...(toolName === null ? {} : { toolName }),
    updatedAt: new Date(updatedMs).toISOString(),
  });
}

function unapplied({ unknownParameters }: Call): { unappliedFilters?: string[] } {
  return unknownParameters.length > 0 ? { unappliedFilters: unknownParameters } : {};
}

function badRequest(message: string): Response {
  return failureAnswer("discovery", {
    status: 400,
    code: "INVALID_REQUEST",
    message,
    reason: "invalid_payload",
  });
}

const common = { method: "GET", face: "discovery", credential: { kind: "none" } } as const;

export const discoveryRoutes: readonly Route[] = [
  {
    ...common,
    path: "/discovery/resources",
    summary: "What can be paid for, newest listing first",
    query: objectOf({ ...FILTER_SCHEMAS, limit: LIMIT_SCHEMA, offset: OFFSET_SCHEMA }),
    answers: { 200: LIST_ANSWER, 400: ERROR },
    handle: list,
  },
  {
    ...common,
    path: "/discovery/search",
    summary: "Find resources by words, best first",
    query: objectOf(
      {
        query: { type: "string", minLength: 1, maxLength: MAX_QUERY_CHARACTERS },
        ...FILTER_SCHEMAS,
        limit: LIMIT_SCHEMA,
        cursor: { type: "string", description: "`pagination.cursor` of the page before" },
      },
      ["query"],
    ),
    answers: { 200: SEARCH_ANSWER, 400: ERROR },
    handle: search,
  },
  {
    ...common,
    path: "/discovery/merchant",
    summary: "What one payTo offers, newest listing first",
    query: objectOf({ payTo: ADDRESS_SCHEMA, limit: LIMIT_SCHEMA, offset: OFFSET_SCHEMA }, ["payTo"]),
    answers: { 200: MERCHANT_ANSWER, 400: ERROR },
    handle: merchant,
  },
  {
    ...common,
    path: "/discovery/observations/:id",
    summary: "How a bazaar block's `processing` ended",
    answers: { 200: OBSERVATION_ANSWER },
    handle: observation,
  },
];
