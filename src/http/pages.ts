// The bazaar for people: pages rendered here, readable without JavaScript, and the few files that they load.

import { conditionOf } from "../bazaar/catalog/catalog-filter.ts";
import { findListing, listListings } from "../bazaar/catalog/catalog-read-store.ts";
import { searchCatalog } from "../bazaar/search/search-catalog-store.ts";
import { failureAnswer, page } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { ADDRESS_SCHEMA, OFFSET_SCHEMA, objectOf } from "./discovery-query.ts";
import { findProblem, type JsonSchema } from "./json-schema.ts";
import { offsetLinks } from "./page/cards.ts";
import { listingPage } from "./page/listing-page.ts";
import { problemPage } from "./page/problem-page.ts";
import { providerPage } from "./page/provider-page.ts";
import { type Results, resultsPage, wrongFormPage } from "./page/results-page.ts";
import { type Asked, addressOf, askedOf, readForm } from "./page/search-form.ts";

const PAGE_SIZE = 20;

async function front(call: Call): Promise<Response> {
  const { url, config } = call;
  const asked = askedOf(call.query);
  const reading = readForm(asked);
  if (!reading.ok) return page(wrongFormPage(asked, reading), 400);
  const results =
    reading.query === ""
      ? await listed(call, asked, reading.filters)
      : await found(call, asked, reading.query, reading.filters);
  if (!results) {
    const message = "this page of results has expired; search again from the start";
    return failureAnswer("page", { status: 400, code: "INVALID_REQUEST", message, reason: "expired" });
  }
  const isLaterPage = call.query.cursor !== undefined || offsetOf(call) > 0;
  const origin = config.publicOrigin ?? url.origin;
  return page(resultsPage({ asked, isLaterPage, origin, results, ...contextOf(call) }));
}

type Filters = Parameters<typeof conditionOf>[0];

async function listed(call: Call, asked: Asked, filters: Filters): Promise<Results> {
  const paging = { limit: PAGE_SIZE, offset: offsetOf(call) };
  const { listings, total } = await listListings(call.env.DB, conditionOf(filters), paging);
  const hrefOf = (offset: number) => addressOf(asked, offset > 0 ? { offset: String(offset) } : {});
  return { listings, total, links: offsetLinks({ ...paging, total }, hrefOf) };
}

/** Undefined when the cursor has expired. */
async function found(
  { env, clock, query: { cursor } }: Call,
  asked: Asked,
  query: string,
  filters: Filters,
): Promise<Results | undefined> {
  const result = await searchCatalog(env.DB, {
    query,
    filters,
    limit: PAGE_SIZE,
    ...(cursor === undefined ? {} : { cursor: String(cursor) }),
    nowMs: clock.nowMs(),
  });
  if (!result.ok) return undefined;
  const next = await result.nextCursor();
  return {
    listings: result.listings,
    links: {
      ...(cursor === undefined
        ? {}
        : { previous: { href: addressOf(asked), label: "Back to the best matches" } }),
      ...(next === null ? {} : { next: { href: addressOf(asked, { cursor: next }), label: "More results" } }),
    },
  };
}

async function listing(call: Call): Promise<Response> {
  const shown = await findListing(call.env.DB, call.params.id ?? "");
  if (!shown) return notHere("there is no such listing, or it is no longer shown");
  return page(listingPage(shown, contextOf(call)));
}

async function provider(call: Call): Promise<Response> {
  const payTo = call.params.payTo ?? "";
  if (findProblem(ADDRESS_SCHEMA, payTo)) return notHere("that is not an address");
  const paging = { limit: PAGE_SIZE, offset: offsetOf(call) };
  const { listings, total } = await listListings(call.env.DB, conditionOf({ payTo }), paging);
  return page(providerPage({ payTo, listings, paging: { ...paging, total }, ...contextOf(call) }));
}

/** Without the router's JSON: whoever follows a link is a person. */
function notHere(message: string): Response {
  return page(problemPage({ status: 404, message }), 404);
}

function contextOf({ config, clock }: Call) {
  return { networks: config.networks, nowMs: clock.nowMs() };
}

function offsetOf({ query }: Call): number {
  return Math.min(Number(query.offset ?? 0), Number.MAX_SAFE_INTEGER);
}

const common = { method: "GET", face: "page", credential: { kind: "none" } } as const;
const text: JsonSchema = { type: "string" };
const html = { mediaType: "text/html", answers: { 200: text } };

/** The files of public/ that pages load. */
const FILES: [path: string, mediaType: string, summary: string][] = [
  ["/style.css", "text/css", "How the pages look"],
  ["/copy.js", "text/javascript", "The copy buttons of the pages"],
  ["/icon.svg", "image/svg+xml", "The icon of the pages"],
];

export const pageRoutes: readonly Route[] = [
  {
    ...common,
    ...html,
    path: "/",
    summary: "The bazaar for people: search and newest listings",
    query: objectOf({
      ...{ query: text, type: text, network: text, maxUsdPrice: text, tag: text },
      cursor: { type: "string", description: "Of the page of results before" },
      offset: OFFSET_SCHEMA,
    }),
    handle: front,
  },
  { ...common, ...html, path: "/listings/:id", summary: "One listing, for people", handle: listing },
  {
    ...common,
    ...html,
    path: "/providers/:payTo",
    summary: "What one payTo offers, for people",
    query: objectOf({ offset: OFFSET_SCHEMA }),
    handle: provider,
  },
  ...FILES.map(
    ([path, mediaType, summary]): Route => ({
      ...common,
      path,
      mediaType,
      summary,
      answers: { 200: text },
      handle: ({ env, request }) => env.ASSETS.fetch(request),
    }),
  ),
];
