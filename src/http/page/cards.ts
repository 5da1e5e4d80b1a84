// Listings as cards, and the links from one page of them to the next.

import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import type { Config } from "../../config.ts";
import { breakable, type Fragment, type Html, html } from "./html.ts";
import { signsOf, tileOf, titleOf, whereOf } from "./listing-words.ts";
import { priceTag } from "./price-tag.ts";

export interface CardContext {
  networks: Config["networks"];
  nowMs: number;
}

export function cardList(listings: readonly ShownListing[], context: CardContext): Html {
  return html`<ol class="cards">
${listings.map((listing) => html`<li>${card(listing, context)}</li>\n`)}</ol>`;
}

function card(listing: ShownListing, { networks, nowMs }: CardContext): Html {
  const { resource } = listing;
  const { description, tags } = resource;
  return html`<article class="card">
${tileOf(resource)}
<div class="card-text">
<h3><a class="card-link" href="/listings/${resource.id}">${breakable(titleOf(resource))}</a></h3>
<p class="where">${whereOf(resource)}</p>
${description !== undefined && html`<p class="about" dir="auto">${description}</p>`}
${signsOf(resource, nowMs)}
${tagList(tags ?? [])}
</div>
${priceTag(listing, networks)}
</article>`;
}

export function tagList(tags: readonly string[]): Fragment {
  if (tags.length === 0) return undefined;
  return html`<ul class="tags" aria-label="Tags">${tags.map(
    (tag) => html`<li><a href="/?${new URLSearchParams({ tag }).toString()}">${tag}</a></li>`,
  )}</ul>`;
}

export interface PageLinks {
  previous?: { href: string; label: string };
  next?: { href: string; label: string };
}

export function pageLinks({ previous, next }: PageLinks): Fragment {
  if (!previous && !next) return undefined;
  return html`<nav class="pages" aria-label="Pages">
${previous && html`<a rel="prev" href="${previous.href}">${previous.label}</a>`}
${next && html`<a rel="next" href="${next.href}">${next.label}</a>`}
</nav>`;
}

/** Links between pages of a list by offset; `hrefOf` keeps the rest of the address. */
export function offsetLinks(
  { offset, limit, total }: { offset: number; limit: number; total: number },
  hrefOf: (offset: number) => string,
): PageLinks {
  return {
    ...(offset > 0
      ? { previous: { href: hrefOf(Math.max(0, offset - limit)), label: "Newer listings" } }
      : {}),
    ...(offset + limit < total ? { next: { href: hrefOf(offset + limit), label: "Older listings" } } : {}),
  };
}
