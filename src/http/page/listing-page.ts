// One listing: what it costs, what it takes, how to call it, and what proves that it lives.

import { cutOnCodePoint } from "../../bazaar/block/service-metadata.ts";
import type { ShownListing } from "../../bazaar/catalog/catalog-read-store.ts";
import { declaredInputs, type InputField, outputExampleOf } from "../../bazaar/catalog/declared-inputs.ts";
import { exampleRequest, isHttpUrl } from "../../bazaar/catalog/example-request.ts";
import type { Resource } from "../../bazaar/catalog/resource.ts";
import { howToPay } from "../how-to-pay.ts";
import { dollarsText, type PricedOffer, pricedOffers } from "../listing-price.ts";
import { type CardContext, tagList } from "./cards.ts";
import { copyBox } from "./copy-box.ts";
import { breakable, externalLink, type Fragment, type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import {
  hostOf,
  isConfirmed,
  shortAddress,
  signsOf,
  tileOf,
  timeAgo,
  titleOf,
  whereOf,
} from "./listing-words.ts";
import { priceTag } from "./price-tag.ts";
import { curlCommand } from "./shell-text.ts";

const MAX_OUTPUT_CHARACTERS = 2_000;

export function listingPage(listing: ShownListing, { networks, nowMs }: CardContext): Html {
  const { resource } = listing;
  return layout({
    title: titleOf(resource),
    main: html`<article class="listing">
<header class="listing-head">
${tileOf(resource)}
<div>
<h1>${breakable(titleOf(resource))}</h1>
<p class="where">${whereOf(resource)}</p>
${signsOf(resource, nowMs)}
</div>
${priceTag(listing, networks)}
</header>
${doubt(resource)}
${words(resource)}
${section("offers", "Offers", offersTable(pricedOffers(listing, networks)))}
${section("inputs", "Inputs", inputsTable(resource))}
${section("request", "Try it", requestBox(resource))}
${section("pay", "How to pay", html`<ol class="steps">${howToPay(resource).steps.map((step) => html`<li>${withCode(step)}</li>`)}</ol>`)}
${section("life", "Proof of life", proofOfLife(resource, nowMs))}
</article>`,
  });
}

function section(id: string, title: string, content: Fragment): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>`;
}

/** Our own sentences mark what is code by backquotes. */
function withCode(sentence: string): Html {
  return html`${sentence.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function doubt(resource: Resource): Fragment {
  if (isConfirmed(resource)) return undefined;
  return html`<p class="notice"><strong>Nobody has confirmed this listing.</strong> It is known from a payment alone: the server at ${hostOf(resource)} has not been seen asking for it. Look at price and recipient yourself before you pay.</p>`;
}

function words(resource: Resource): Fragment {
  const { description, serviceName, tags } = resource;
  const calls =
    !isConfirmed(resource) && serviceName !== undefined && html`<p>Calls itself <q>${serviceName}</q>.</p>`;
  if (description === undefined && !calls && tags === undefined) return undefined;
  return html`<section aria-labelledby="about">
<h2 id="about">In the seller’s words</h2>
${calls}
${description !== undefined && html`<p class="description" dir="auto">${description}</p>`}
${tagList(tags ?? [])}
</section>`;
}

function offersTable(offers: readonly PricedOffer[]): Html {
  if (offers.length === 0) return html`<p>No offer on a chain; it is paid from a balance.</p>`;
  return html`<div class="table" role="region" aria-labelledby="offers" tabindex="0"><table>
<thead><tr><th scope="col">Per call</th><th scope="col">In the token</th><th scope="col">Network</th><th scope="col">Scheme</th><th scope="col">Paid to</th></tr></thead>
<tbody>${offers.map(offerRow)}</tbody>
</table></div>`;
}

function offerRow({ requirements, usdMicros, amountText, networkName, isCeiling }: PricedOffer): Html {
  const { payTo, scheme, extra } = requirements;
  const method = typeof extra.assetTransferMethod === "string" ? extra.assetTransferMethod : undefined;
  const price =
    usdMicros === null ? html`<span class="quiet">no price</span>` : html`$${dollarsText(usdMicros)}`;
  return html`<tr>
<td class="amount">${isCeiling && "up to "}${price}</td><td>${amountText}</td><td>${networkName}</td>
<td>${scheme}${method !== undefined && html` <span class="quiet">${method}</span>`}</td>
<td><a href="/providers/${encodeURIComponent(payTo)}" title="${payTo}"><code class="whole">${shortAddress(payTo)}</code></a></td>
</tr>`;
}

function inputsTable(resource: Resource): Html {
  const { fields, leftOut } = declaredInputs(resource);
  if (fields.length === 0) return html`<p>It takes no input.</p>`;
  return html`<div class="table" role="region" aria-labelledby="inputs" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Example</th></tr></thead>
<tbody>${fields.map(inputRow)}</tbody>
</table></div>
${leftOut > 0 && html`<p class="quiet">And ${leftOut} more.</p>`}`;
}

function inputRow({ name, place, type, isRequired, description, example }: InputField): Html {
  return html`<tr>
<td><code>${name === "" ? "(whole body)" : name}</code>${isRequired && html` <span class="required">required</span>`}${
    description !== "" && html`<p class="field-words">${description}</p>`
  }</td><td>${place}</td><td>${type}</td><td><code>${example}</code></td>
</tr>`;
}

function requestBox(resource: Resource): Html {
  const request = exampleRequest(resource);
  const output = outputExampleOf(resource);
  const target = resource.exampleUrl ?? resource.resource;
  return html`${
    request
      ? html`<p>${WITHOUT_PAYMENT[resource.type]}</p>
${copyBox("command", "Request", curlCommand(request))}
${request.body.kind === "left_out" && html`<p class="quiet">The seller’s example body is too large to show here.</p>`}`
      : html`<p>This tool is reached by an MCP client, not by one HTTP request.</p>`
  }
${isHttpUrl(target) && html`<p>${externalLink(target, "Open its address")} <span class="quiet">(leaves this site)</span></p>`}
${
  output !== undefined &&
  html`<h3>An answer, as the seller shows it</h3>
<pre role="region" aria-label="Example answer" tabindex="0"><code>${outputText(output)}</code></pre>`
}`;
}

const WITHOUT_PAYMENT: Record<Resource["type"], Html> = {
  http: html`Sent as it is, this is answered with <code>402</code> and the price. Nothing is paid.`,
  mcp: html`Sent as it is, this is answered with the price. Nothing is paid. A server that keeps sessions wants an MCP client instead.`,
};

function outputText(output: unknown): string {
  const text = typeof output === "string" ? output : JSON.stringify(output, null, 2);
  return text.length > MAX_OUTPUT_CHARACTERS ? `${cutOnCodePoint(text, MAX_OUTPUT_CHARACTERS)}\n…` : text;
}

function proofOfLife({ quality, lastUpdated, id, mimeType }: Resource, nowMs: number): Html {
  const { verifiedAt, lastCalledAt, health, l30DaysTotalCalls, l30DaysUniquePayers } = quality;
  const rows: [term: string, value: Fragment][] = [
    ["Confirmed by its own server", verifiedAt === undefined ? "never" : timeAgo(verifiedAt, nowMs)],
    ["Health", HEALTH_WORDS[health]],
    ["Last paid call", lastCalledAt === undefined ? "unknown" : timeAgo(lastCalledAt, nowMs)],
    ["Paid calls in 30 days", l30DaysTotalCalls],
    ["Different payers in 30 days", l30DaysUniquePayers],
    ["Listing last changed", timeAgo(lastUpdated, nowMs)],
    ["Answers with", mimeType ?? "not said"],
    ["Listing id", html`<code>${id}</code>`],
  ];
  return html`<dl class="facts">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

const HEALTH_WORDS: Record<Resource["quality"]["health"], string> = {
  ok: "its server answers and asks for payment",
  failing: "its server has not asked for payment lately",
  unprobed: "not asked yet",
};
