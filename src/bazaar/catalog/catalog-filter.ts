// The filters of discovery as one SQL condition, applied before any paging. What concerns offers is asked of one and the
// same shown offer.

import type { ListingCondition } from "../search/search-port.ts";
import { SHOWN_OFFER } from "./shown-offers.ts";

export interface CatalogFilters {
  type?: string;
  /** Address as typed; EVM addresses match without regard to case. */
  payTo?: string;
  asset?: string;
  /** Either vocabulary: `exact`, `upto`, or a flattened method such as `eip3009`, `permit2-exact`. */
  scheme?: string;
  network?: string;
  /** An extension's key. */
  extensions?: string;
  tag?: string;
  /** Whole millionths of a dollar. */
  maxUsdMicros?: number;
  /** Only what has an offer at all: some listings are paid for in other ways. */
  hasOffer?: true;
}

/** Methods by the words that the enveloped face shows instead of the scheme. */
const FLATTENED: Record<string, { scheme: string; method: string }> = {
  eip3009: { scheme: "exact", method: "eip3009" },
  "permit2-exact": { scheme: "exact", method: "permit2" },
  permit2: { scheme: "exact", method: "permit2" },
  "spl-transfer": { scheme: "exact", method: "spl-transfer" },
};

/** How the enveloped face names an offer's scheme. */
export function flattenScheme(scheme: string, method: string): string {
  if (scheme !== "exact" || method === "") return scheme;
  return method === "permit2" ? "permit2-exact" : method;
}

/** A condition over `listings` as `l`; AND of all filters that are set. */
export function conditionOf(filters: CatalogFilters): ListingCondition {
  const listing = new Terms(["l.state = 'listed'"]);
  if (filters.type !== undefined) listing.add("l.type = ?", filters.type);
  if (filters.extensions !== undefined) {
    listing.add(
      "(? = 'bazaar' OR EXISTS (SELECT 1 FROM json_each(l.extensions) WHERE key = ?))",
      filters.extensions,
      filters.extensions,
    );
  }
  if (filters.tag !== undefined) {
    listing.add("EXISTS (SELECT 1 FROM json_each(l.tags) WHERE lower(value) = lower(?))", filters.tag);
  }
  const offer = offerTerms(filters);
  if (offer.count > 1 || filters.hasOffer) {
    listing.add(
      `EXISTS (SELECT 1 FROM offers AS o WHERE o.listing_id = l.id AND ${offer.sql})`,
      ...offer.params,
    );
  }
  // Says nothing new, but lets the index find one payTo's few listings among all.
  if (filters.payTo !== undefined) {
    listing.add("l.id IN (SELECT listing_id FROM offers WHERE pay_to = ?)", comparable(filters.payTo));
  }
  return { sql: listing.sql, params: listing.params };
}

function offerTerms({ payTo, asset, network, scheme, maxUsdMicros }: CatalogFilters): Terms {
  const terms = new Terms([SHOWN_OFFER]);
  if (payTo !== undefined) terms.add("o.pay_to = ?", comparable(payTo));
  if (asset !== undefined) terms.add("o.asset = ?", comparable(asset));
  if (network !== undefined) terms.add("o.network = ?", network);
  if (scheme !== undefined) {
    const flattened = Object.hasOwn(FLATTENED, scheme) ? FLATTENED[scheme] : undefined;
    if (flattened) terms.add("o.scheme = ? AND o.method = ?", flattened.scheme, flattened.method);
    else terms.add("o.scheme = ?", scheme);
  }
  // An offer without a price is NULL there and matches no ceiling.
  if (maxUsdMicros !== undefined) terms.add("o.usd_micros <= ?", maxUsdMicros);
  return terms;
}

/** The form in which offers hold addresses (`comparableAddress`), without knowing the network. */
function comparable(address: string): string {
  return /^0x[0-9a-fA-F]{40}$/.test(address) ? address.toLowerCase() : address;
}

class Terms {
  readonly params: (string | number)[] = [];
  readonly #terms: string[];

  constructor(terms: string[]) {
    this.#terms = terms;
  }

  add(term: string, ...params: (string | number)[]): void {
    this.#terms.push(term);
    this.params.push(...params);
  }

  get count(): number {
    return this.#terms.length;
  }

  get sql(): string {
    return this.#terms.join(" AND ");
  }
}
