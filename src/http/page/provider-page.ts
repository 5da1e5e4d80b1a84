// Everything that one payTo offers.

import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import { type CardContext, cardList, offsetLinks, pageLinks } from "./cards.ts";
import { copyBox } from "./copy-box.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { countOf, shortAddress } from "./listing-words.ts";

export interface ProviderPage extends CardContext {
  payTo: string;
  listings: readonly ShownListing[];
  paging: { offset: number; limit: number; total: number };
}

export function providerPage({ payTo, listings, paging, ...context }: ProviderPage): Html {
  const links = offsetLinks(
    paging,
    (offset) => `/providers/${payTo}${offset > 0 ? `?offset=${offset}` : ""}`,
  );
  return layout({
    title: `Paid to ${shortAddress(payTo)}`,
    main: html`<section class="provider">
<p class="kicker">Provider</p>
<h1>Paid to ${shortAddress(payTo)}</h1>
<p class="quiet">An address is all that a payment proves of a seller. Whoever holds its key receives what these listings cost.</p>
${copyBox("pay-to", "Address", payTo)}
</section>
<section aria-labelledby="results">
<div class="heading"><h2 id="results">Offers</h2><p class="quiet">${countOf(paging.total, "listing")}</p></div>
${
  listings.length > 0
    ? cardList(listings, context)
    : html`<div class="nothing"><p><strong>Nothing is listed for this address.</strong></p><p><a href="/">All listings</a></p></div>`
}
${pageLinks(links)}
</section>`,
  });
}
