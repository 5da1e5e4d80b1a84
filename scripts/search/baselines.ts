// What Souk's search is compared with: FTS5's bm25 over the listings' text, any quoted word, and the substring of the
// whole query in the listing's JSON, which is what the reference facilitator does. Filters are applied to both.

import type { D1Database } from "@cloudflare/workers-types";
import { priceInUsdMicros } from "../../src/payments/dollar-price.ts";
import type { LabelledFilters, LabelledListing, LabelledQuery } from "./labelled-set.ts";

export type Search = (query: LabelledQuery) => Promise<string[]>;

export function substringSearch(corpus: readonly LabelledListing[]): Search {
  const texts = corpus.map((listing) => ({ listing, text: JSON.stringify(listing).toLowerCase() }));
  return async ({ query, filters }) =>
    texts
      .filter(({ listing, text }) => text.includes(query.toLowerCase()) && passes(listing, filters))
      .map(({ listing }) => listing.id);
}

/** `db` is a database of its own: the table is made here. */
export async function bm25Search(db: D1Database, corpus: readonly LabelledListing[]): Promise<Search> {
  await db.prepare("CREATE VIRTUAL TABLE plain USING fts5 (text)").run();
  const insert = db.prepare("INSERT INTO plain (rowid, text) VALUES (?1, ?2)");
  await db.batch(corpus.map((listing, index) => insert.bind(index, plainText(listing))));
  const search = db.prepare("SELECT rowid FROM plain WHERE plain MATCH ?1 ORDER BY rank");
  return async ({ query, filters }) => {
    const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (words.length === 0) return [];
    const { results } = await search
      .bind(words.map((word) => `"${word}"`).join(" OR "))
      .all<{ rowid: number }>();
    return results
      .flatMap(({ rowid }) => corpus[rowid] ?? [])
      .filter((listing) => passes(listing, filters))
      .map(({ id }) => id);
  };
}

function plainText(listing: LabelledListing): string {
  const { serviceName = "", tags = [], toolName = "", resource, description, input } = listing;
  const schema = input.inputSchema as { properties?: object } | undefined;
  const { queryParams, pathParams, body } = input as Record<string, object | undefined>;
  const parameters = Object.keys(schema?.properties ?? { ...queryParams, ...pathParams, ...body });
  return [serviceName, ...tags, toolName, resource, ...parameters, description].join(" ");
}

/** Whether one and the same offer meets all that concerns offers; one in an unknown token never meets a price. */
export function passes(listing: LabelledListing, filters: LabelledFilters): boolean {
  const { type, tag, network, scheme, payTo, asset, maxUsdPrice } = filters;
  const is = (wanted: string | undefined, value: string) =>
    wanted === undefined || wanted.toLowerCase() === value.toLowerCase();
  if (!is(type, listing.type) || !(tag === undefined || listing.tags?.some((own) => is(tag, own))))
    return false;
  return listing.accepts.some((offer) => {
    if (!is(network, offer.network) || !is(scheme, offer.scheme)) return false;
    if (!is(payTo, offer.payTo) || !is(asset, offer.asset)) return false;
    if (maxUsdPrice === undefined) return true;
    const micros = priceInUsdMicros(new Map(), offer.network, offer.asset, BigInt(offer.amount));
    return micros !== null && micros <= maxUsdPrice * 1_000_000;
  });
}
