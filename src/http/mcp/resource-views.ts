// Listings as the MCP tools show them, small enough for a model's context. Bounded by construction: lists end before an
// item that does not fit, and one resource leaves out what does not fit and names it. Pure.

import { cutOnCodePoint } from "../../bazaar/block/service-metadata.ts";
import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import { inputSchemaOf, outputExampleOf } from "../../bazaar/catalog/declared-inputs.ts";
import { exampleRequest } from "../../bazaar/catalog/example-request.ts";
import type { Config } from "../../config.ts";
import { utf8 } from "../../platform/bytes.ts";
import { howToPay } from "../how-to-pay.ts";
import { cheapest, custodialPrice, dollarsText, minorText, pricedOffers } from "../listing-price.ts";

/**
 * JSON bytes of one answer: about 5,000 tokens. It is sent twice, structured and as text, because clients give a model
 * one of the two.
 */
export const MAX_ANSWER_BYTES = 16_384;
/** Of the same, for what stands around a list's items. */
const BYTES_AROUND_ITEMS = 4_096;

/** A sentence or two: enough to choose by. */
const MAX_SUMMARY_CHARACTERS = 280;
const MAX_SUMMARY_OFFERS = 3;
const MAX_DETAIL_OFFERS = 8;

type View = Record<string, unknown>;

/** One item of a list. */
export function summaryOf(listing: ShownListing, networks: Config["networks"]): View {
  return viewOf(listing, networks, MAX_SUMMARY_CHARACTERS, MAX_SUMMARY_OFFERS);
}

/** As many items, from the first, as fit into one answer; at least one, if there is one. */
export function fittingSummaries(listings: readonly ShownListing[], networks: Config["networks"]): View[] {
  const views: View[] = [];
  let bytes = 0;
  for (const listing of listings) {
    const view = summaryOf(listing, networks);
    bytes += bytesOf(view);
    if (views.length > 0 && bytes > MAX_ANSWER_BYTES - BYTES_AROUND_ITEMS) break;
    views.push(view);
  }
  return views;
}

/** All about one listing that fits, the most needed first. */
export function detailOf(listing: ShownListing, networks: Config["networks"]): View {
  const { resource } = listing;
  const { quality } = resource;
  const view: View = {
    ...viewOf(listing, networks, MAX_SUMMARY_CHARACTERS, MAX_DETAIL_OFFERS),
    howToPay: howToPay(resource),
    lastUpdated: resource.lastUpdated,
    ...(quality.lastCalledAt === undefined ? {} : { lastCalledAt: quality.lastCalledAt }),
    ...(quality.verifiedAt === undefined ? {} : { confirmedAt: quality.verifiedAt }),
  };
  const leftOut = resource.accepts.length > MAX_DETAIL_OFFERS ? ["offers"] : [];
  const wanted: [name: string, value: unknown][] = [
    ["inputSchema", inputSchemaOf(resource)],
    ["exampleRequest", exampleRequest(resource)],
    ["description", resource.description],
    ["outputExample", outputExampleOf(resource)],
  ];
  for (const [name, value] of wanted) {
    if (value === undefined) continue;
    const larger = { ...view, [name]: value, leftOut: [...leftOut, name] };
    if (bytesOf(larger) <= MAX_ANSWER_BYTES) view[name] = value;
    else leftOut.push(name);
  }
  return leftOut.length > 0 ? { ...view, leftOut } : view;
}

function viewOf(
  listing: ShownListing,
  networks: Config["networks"],
  maxCharacters: number,
  maxOffers: number,
): View {
  const { resource } = listing;
  const { serviceName, description, method, toolName, tags, quality } = resource;
  const offers = pricedOffers(listing, networks);
  return {
    id: resource.id,
    type: resource.type,
    resource: resource.resource,
    ...(method === undefined ? {} : { method }),
    ...(toolName === undefined ? {} : { toolName }),
    ...(serviceName === undefined ? {} : { name: serviceName }),
    ...(description === undefined ? {} : { description: shortened(description, maxCharacters) }),
    ...(tags === undefined ? {} : { tags }),
    priceUsd: priceUsd(listing, networks),
    offers: offers.slice(0, maxOffers).map(({ requirements, usdMicros }) => ({
      scheme: requirements.scheme,
      network: requirements.network,
      asset: requirements.asset,
      payTo: requirements.payTo,
      amount: requirements.amount,
      priceUsd: usdMicros === null ? null : dollarsText(usdMicros),
    })),
    confirmed: quality.verifiedAt !== undefined,
    health: quality.health,
    callsLast30Days: quality.l30DaysTotalCalls,
    payersLast30Days: quality.l30DaysUniquePayers,
  };
}

function priceUsd(listing: ShownListing, networks: Config["networks"]): string | null {
  const offer = cheapest(pricedOffers(listing, networks));
  if (offer) return dollarsText(offer.usdMicros);
  const custodial = custodialPrice(listing.resource);
  return custodial?.currency === "USD" ? minorText(custodial).replace(/ USD$/, "") : null;
}

function shortened(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${cutOnCodePoint(text, maxCharacters - 1)}…`;
}

function bytesOf(value: unknown): number {
  return utf8(JSON.stringify(value)).byteLength;
}
