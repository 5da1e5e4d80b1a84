// The front page: the search form, and under it what was found, or everything, newest first.

import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import { networkName } from "../listing-price.ts";
import { type CardContext, cardList, type PageLinks, pageLinks } from "./cards.ts";
import { copyBox } from "./copy-box.ts";
import { type Fragment, type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { countOf } from "./listing-words.ts";
import { type Asked, addressOf, FIELD_NAMES, type FieldName, searchForm } from "./search-form.ts";

export interface Results {
  listings: readonly ShownListing[];
  /** Of a list; a search does not count. */
  total?: number;
  links: PageLinks;
}

export interface ResultsPage extends CardContext {
  asked: Asked;
  /** Beyond the first page of them. */
  isLaterPage: boolean;
  origin: string;
  results: Results;
}

export function resultsPage({ asked, isLaterPage, origin, results, ...context }: ResultsPage): Html {
  const isFront = !isLaterPage && FIELD_NAMES.every((name) => asked[name] === "");
  return layout({
    title: isFront ? "Pay-per-call APIs and tools" : headingOf(asked),
    hasSearch: true,
    main: html`${intro(isFront)}
${searchForm(asked)}
${narrowing(asked)}
<section aria-labelledby="results">
<div class="heading"><h2 id="results">${headingOf(asked)}</h2>${summaryOf(results)}</div>
${results.listings.length > 0 ? cardList(results.listings, context) : nothing(asked)}
${pageLinks(results.links)}
</section>
${isFront && forPrograms(origin)}`,
  });
}

/** The form again, with what is wrong in it. */
export function wrongFormPage(asked: Asked, problem: { field: FieldName; message: string }): Html {
  return layout({
    title: "Check the form",
    hasSearch: true,
    main: html`${intro(false)}
<p class="notice" role="alert">Nothing was searched: one field needs another look.</p>
${searchForm(asked, problem)}`,
  });
}

function intro(isFront: boolean): Html {
  if (!isFront) return html`<h1 class="unseen">Search the bazaar</h1>`;
  return html`<section class="intro">
<h1>APIs and tools, paid by the call</h1>
<p>For agents and for people. Listings come from settled payments, and each says whether its own server has confirmed it.</p>
</section>`;
}

function headingOf({ query, tag }: Asked): string {
  if (query !== "") return `Results for “${query}”`;
  return tag === "" ? "Newest listings" : `Tagged “${tag}”`;
}

function summaryOf({ total, listings }: Results): Html {
  const text = total === undefined ? "best match first" : countOf(total, "listing");
  return html`<p class="quiet">${listings.length > 0 && text}</p>`;
}

/** What narrows the results, each with a link that lifts it. */
function narrowing(asked: Asked): Fragment {
  const active = FIELD_NAMES.filter((name) => name !== "query" && asked[name] !== "");
  if (active.length === 0) return undefined;
  return html`<ul class="narrowing" aria-label="Active filters">${active.map((name) => {
    const words = wordsOf(name, asked[name]);
    return html`<li><a href="${addressOf({ ...asked, [name]: "" })}"><span class="unseen">Remove filter </span>${words} <span aria-hidden="true">×</span></a></li>`;
  })}</ul>`;
}

function wordsOf(name: FieldName, value: string): string {
  if (name === "network") return networkName(value);
  if (name === "maxUsdPrice") return `at most $${value}`;
  return name === "type" ? (KIND_WORDS[value] ?? value) : `tag ${value}`;
}

const KIND_WORDS: Record<string, string> = { http: "HTTP APIs", mcp: "MCP tools" };

function nothing(asked: Asked): Html {
  const isFiltered = FIELD_NAMES.some((name) => name !== "query" && asked[name] !== "");
  return html`<div class="nothing">
<p><strong>Nothing here fits${asked.query !== "" && " well enough"}.</strong> ${
    asked.query === ""
      ? isFiltered && "No listing passes all the filters."
      : "A bad match is not shown rather than shown as a good one. Try other words, or fewer."
  }</p>
<p>${isFiltered && html`<a href="${addressOf({ ...EMPTY, query: asked.query })}">Without the filters</a> · `}<a href="/">All listings</a></p>
</div>`;
}

const EMPTY: Asked = { query: "", type: "", network: "", maxUsdPrice: "", tag: "" };

function forPrograms(origin: string): Html {
  return html`<section class="programs" aria-labelledby="programs">
<h2 id="programs">For agents</h2>
<div>
<h3>Search over MCP</h3>
<p>Add this server to an agent. It finds, reads and prices what is listed here.</p>
${copyBox("mcp-url", "Address of the MCP server", `${origin}/mcp`)}
</div>
<div>
<h3>Search over HTTP</h3>
<p>No key needed. Every filter of this page works there too.</p>
${copyBox("search-url", "Address of the search", `${origin}/discovery/search?query=weather`)}
</div>
</section>`;
}
