// The price of a listing as its tag: the cheapest offer in dollars, or the token's own amount where nobody can say what
// it is worth.

import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import type { Config } from "../../config.ts";
import { cheapest, custodialPrice, dollarsText, minorText, pricedOffers } from "../listing-price.ts";
import { type Html, html } from "./html.ts";

const MAX_NETWORKS = 2;

export function priceTag(listing: ShownListing, networks: Config["networks"]): Html {
  const offers = pricedOffers(listing, networks);
  const best = cheapest(offers);
  const custodial = custodialPrice(listing.resource);
  if (best) {
    const prices = new Set(offers.map(({ usdMicros }) => usdMicros));
    const before = best.isCeiling ? "up to" : prices.size > 1 ? "from" : "";
    return tag(
      before,
      `$${dollarsText(best.usdMicros)}`,
      networksOf(offers.map((offer) => offer.networkName)),
    );
  }
  if (offers[0]) {
    return tag("", offers[0].amountText, `no dollar price · ${offers[0].networkName}`);
  }
  return custodial ? tag("", minorText(custodial), "from a balance") : tag("", "No offer", "");
}

function tag(before: string, amount: string, on: string): Html {
  return html`<p class="price">${before !== "" && html`<span class="before">${before}</span> `}<strong>${amount}</strong> <span class="unit">per call</span>${on !== "" && html` <span class="on">${on}</span>`}</p>`;
}

function networksOf(names: string[]): string {
  const unique = [...new Set(names)];
  const shown = unique.slice(0, MAX_NETWORKS).join(" · ");
  return unique.length > MAX_NETWORKS ? `${shown} · +${unique.length - MAX_NETWORKS}` : shown;
}
