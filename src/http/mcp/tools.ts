// What the tools of the MCP server do: parse arguments by the schemas that describe them, ask the catalog as the other
// faces do, answer views. A wrong argument is an answer that a model can read and correct, not a protocol error.

import { conditionOf } from "../../bazaar/catalog/catalog-filter.ts";
import { findListing, listListings } from "../../bazaar/catalog/catalog-read-store.ts";
import { searchCatalog } from "../../bazaar/search/search-catalog-store.ts";
import type { Call } from "../call.ts";
import { filtersOf } from "../discovery-query.ts";
import { findProblem, type JsonSchema } from "../json-schema.ts";
import { detailOf, fittingSummaries } from "./resource-views.ts";
import { DEFAULT_TOOL_LIMIT, GET_INPUT, LIST_INPUT, MAX_TOOL_LIMIT, SEARCH_INPUT } from "./tool-schemas.ts";

export type ToolAnswer =
  | { ok: true; value: Record<string, unknown> }
  /** `message` is ours and safe to show. */
  | { ok: false; message: string };

/** What the tools need of a call. */
export type ToolCall = Pick<Call, "env" | "config" | "clock">;

interface RunnableTool {
  input: JsonSchema;
  run(call: ToolCall, args: Call["query"]): Promise<ToolAnswer>;
}

const RUNNABLE: ReadonlyMap<string, RunnableTool> = new Map([
  ["search_resources", { input: SEARCH_INPUT, run: search }],
  ["list_resources", { input: LIST_INPUT, run: list }],
  ["get_resource", { input: GET_INPUT, run: get }],
]);

/** Runs a tool; undefined when there is none of that name. */
export async function runTool(call: ToolCall, name: string, args: unknown): Promise<ToolAnswer | undefined> {
  const tool = RUNNABLE.get(name);
  if (!tool) return undefined;
  const problem = findProblem(tool.input, args);
  if (problem) return { ok: false, message: `${problem.field} ${problem.message}` };
  return tool.run(call, args as Call["query"]);
}

async function search({ env, config, clock }: ToolCall, args: Call["query"]): Promise<ToolAnswer> {
  const page = await searchCatalog(env.DB, {
    query: String(args.query),
    filters: filtersOf(args),
    limit: limitOf(args),
    ...(args.cursor === undefined ? {} : { cursor: String(args.cursor) }),
    nowMs: clock.nowMs(),
  });
  if (!page.ok) return { ok: false, message: "cursor expired: search again without it" };
  const resources = fittingSummaries(page.listings, config.networks);
  const cursor = await page.nextCursor(page.listings[resources.length]);
  return { ok: true, value: { resources, cursor } };
}

async function list({ env, config }: ToolCall, args: Call["query"]): Promise<ToolAnswer> {
  const limit = limitOf(args);
  const offset = Math.min(Number(args.offset ?? 0), Number.MAX_SAFE_INTEGER - MAX_TOOL_LIMIT);
  const page = await listListings(env.DB, conditionOf(filtersOf(args)), { limit, offset });
  const resources = fittingSummaries(page.listings, config.networks);
  // After an early end the next page may repeat an item where a row could not be shown; it never leaves one out.
  const next = offset + (resources.length < page.listings.length ? resources.length : limit);
  return { ok: true, value: { resources, total: page.total, nextOffset: next < page.total ? next : null } };
}

async function get({ env, config }: ToolCall, args: Call["query"]): Promise<ToolAnswer> {
  const listing = await findListing(env.DB, String(args.id));
  if (!listing) return { ok: false, message: "no such resource, or it is no longer listed" };
  return { ok: true, value: detailOf(listing, config.networks) };
}

function limitOf(args: Call["query"]): number {
  return Math.min(Number(args.limit ?? DEFAULT_TOOL_LIMIT), MAX_TOOL_LIMIT);
}
