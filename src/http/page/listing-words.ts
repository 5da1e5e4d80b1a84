// How a listing is called on the pages, where it is, and what is known of it. A seller's chosen name is shown as a title
// only once the seller's own server has confirmed the listing; until then its host is, which nobody can borrow.

import { isHttpUrl } from "../../bazaar/catalog/example-request.ts";
import type { Resource } from "../../bazaar/catalog/resource.ts";
import { breakable, type Html, html } from "./html.ts";

export function isConfirmed({ quality }: Resource): boolean {
  return quality.verifiedAt !== undefined;
}

export function titleOf(resource: Resource): string {
  return (isConfirmed(resource) ? resource.serviceName : undefined) ?? hostOf(resource);
}

/** Host and port. What an `mcp:` URL names is no host that anyone could ask, so it is shown whole. */
export function hostOf({ resource }: Resource): string {
  return isHttpUrl(resource) ? new URL(resource).host : resource;
}

/** `GET api.shop.test/weather`, or the tool and its server. */
export function whereOf(resource: Resource): Html {
  const { type, method, toolName } = resource;
  const place = resource.resource.replace(/^https:\/\//, "");
  return type === "mcp"
    ? html`<span class="verb">tool</span> <code>${toolName ?? "unnamed"}</code> <span class="quiet">at</span> <code>${breakable(place)}</code>`
    : html`<span class="verb">${method ?? "GET"}</span> <code>${breakable(place)}</code>`;
}

const TILE_HUES = 6;

/** Stands where an icon would: icons are other hosts' pictures and are never loaded. */
export function tileOf(resource: Resource): Html {
  const host = hostOf(resource);
  const hue = [...host].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % TILE_HUES;
  return html`<span class="tile hue-${hue}" aria-hidden="true">${initialsOf(titleOf(resource))}</span>`;
}

/** The first letters of the first two words; of a host, of its most telling label. */
function initialsOf(title: string): string {
  const words =
    (title.includes(" ") ? title : title.replace(/^\w+:\/\/|^(www|api|mcp)\./, "")).match(
      /[\p{L}\p{N}]+/gu,
    ) ?? [];
  const [first = "?", second] = words;
  const letters =
    title.includes(" ") && second !== undefined ? first.charAt(0) + second.charAt(0) : first.slice(0, 2);
  return letters.toUpperCase();
}

/** What is known of a listing, in a line. */
export function signsOf(resource: Resource, nowMs: number): Html {
  const { verifiedAt, health, l30DaysTotalCalls: calls, l30DaysUniquePayers: payers } = resource.quality;
  const proof =
    verifiedAt === undefined
      ? html`<li class="sign doubt">Unconfirmed</li>`
      : health === "failing"
        ? html`<li class="sign doubt">Not answering lately</li>`
        : html`<li class="sign good">Confirmed ${timeAgo(verifiedAt, nowMs)}</li>`;
  return html`<ul class="signs">${proof}<li class="sign">${countOf(calls, "call")} by ${countOf(payers, "payer")} in 30 days</li></ul>`;
}

export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const UNITS: [name: string, ms: number][] = [
  ["year", 31_557_600_000],
  ["month", 2_629_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** `3 hours ago`, with the exact time for whoever wants it. */
export function timeAgo(iso: string, nowMs: number): Html {
  const ageMs = nowMs - Date.parse(iso);
  const [name, ms] = UNITS.find(([, unitMs]) => ageMs >= unitMs) ?? [];
  const words =
    name === undefined || ms === undefined ? "just now" : `${countOf(Math.floor(ageMs / ms), name)} ago`;
  return html`<time datetime="${iso}" title="${iso}">${words}</time>`;
}

/** `0x7099…79C8`: enough to recognise, never enough to pay by. */
export function shortAddress(address: string): string {
  return address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
}
