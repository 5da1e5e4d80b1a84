// The search form: what a person asked for, read strictly by the filters of discovery, and shown again with what is wrong
// beside the field it is wrong in.

import type { CatalogFilters } from "../../bazaar/catalog/catalog-filter.ts";
import { FILTER_SCHEMAS, filtersOf, MAX_QUERY_CHARACTERS, objectOf } from "../discovery-query.ts";
import { findProblem } from "../json-schema.ts";
import { namedNetworks } from "../listing-price.ts";
import { type Fragment, type Html, html } from "./html.ts";

/** The fields of the form, by their names in the address. Empty: not asked for. */
export interface Asked {
  query: string;
  type: string;
  network: string;
  maxUsdPrice: string;
  tag: string;
}

export type FieldName = keyof Asked;
export const FIELD_NAMES: readonly FieldName[] = ["query", "type", "network", "maxUsdPrice", "tag"];

export type FormReading =
  | { ok: true; query: string; filters: CatalogFilters }
  | { ok: false; field: FieldName; message: string };

const SCHEMA = objectOf({
  query: { type: "string", maxLength: MAX_QUERY_CHARACTERS },
  ...Object.fromEntries(
    Object.entries(FILTER_SCHEMAS).filter(([name]) => FIELD_NAMES.includes(name as FieldName)),
  ),
});

const MESSAGES: Record<FieldName, string> = {
  query: `At most ${MAX_QUERY_CHARACTERS} characters.`,
  type: "Choose one from the list.",
  network: "Choose one from the list.",
  maxUsdPrice: "Dollars as a number, for example 0.05.",
  tag: "At most 32 plain characters.",
};

/** A form sends every field, filled or not; people write `$0.05`. */
export function askedOf(query: Record<string, string | number>): Asked {
  const text = (name: FieldName) => String(query[name] ?? "").trim();
  return {
    query: text("query"),
    type: text("type"),
    network: text("network"),
    maxUsdPrice: text("maxUsdPrice").replace(/^\$ */, ""),
    tag: text("tag"),
  };
}

export function readForm(asked: Asked): FormReading {
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ""));
  const problem = findProblem(SCHEMA, given);
  if (problem) {
    const field = FIELD_NAMES.find((name) => name === problem.field) ?? "query";
    return { ok: false, field, message: MESSAGES[field] };
  }
  return { ok: true, query: asked.query, filters: filtersOf(given) };
}

/** The address of a page for this question; `more` adds where in the results. */
export function addressOf(asked: Asked, more: Record<string, string> = {}): string {
  const given = FIELD_NAMES.flatMap((name) => (asked[name] === "" ? [] : [[name, asked[name]]]));
  const params = new URLSearchParams([...given, ...Object.entries(more)]).toString();
  return params === "" ? "/" : `/?${params}`;
}

export function searchForm(asked: Asked, problem?: { field: FieldName; message: string }): Html {
  const wrong = (field: FieldName) => problem?.field === field && problem;
  return html`<form class="search" role="search" action="/">
<div class="field query">
<label for="query">What do you need?</label>
<div class="joined">
<input id="query" name="query" type="search" maxlength="${MAX_QUERY_CHARACTERS}" value="${asked.query}" placeholder="weather forecast"${marked("query", wrong("query"))}>
<button>Search</button>
</div>
${note("query", wrong("query"))}
</div>
<fieldset class="filters">
<legend class="unseen">Filters</legend>
<div class="field">
<label for="type">Kind</label>
${select("type", asked.type, KINDS, wrong("type"))}
</div>
<div class="field">
<label for="network">Network</label>
${select("network", asked.network, [["", "Any network"], ...namedNetworks()], wrong("network"))}
</div>
<div class="field">
<label for="maxUsdPrice">At most, in dollars</label>
<input id="maxUsdPrice" name="maxUsdPrice" inputmode="decimal" autocomplete="off" maxlength="30" value="${asked.maxUsdPrice}" placeholder="0.05"${marked("maxUsdPrice", wrong("maxUsdPrice"))}>
${note("maxUsdPrice", wrong("maxUsdPrice"))}
</div>
<div class="field">
<label for="tag">Tag</label>
<input id="tag" name="tag" autocomplete="off" maxlength="32" value="${asked.tag}" placeholder="weather"${marked("tag", wrong("tag"))}>
${note("tag", wrong("tag"))}
</div>
</fieldset>
</form>`;
}

type Choices = readonly (readonly [value: string, label: string])[];
type Wrong = { message: string } | false | undefined;

const KINDS: Choices = [
  ["", "APIs and tools"],
  ["http", "HTTP APIs"],
  ["mcp", "MCP tools"],
];

function select(name: FieldName, chosen: string, choices: Choices, wrong: Wrong): Fragment {
  const isKnown = choices.some(([value]) => value === chosen);
  const all: Choices = isKnown ? choices : [...choices, [chosen, chosen]];
  return html`<select id="${name}" name="${name}"${marked(name, wrong)}>${all.map(
    ([value, label]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  )}</select>${note(name, wrong)}`;
}

function marked(name: FieldName, wrong: Wrong): Fragment {
  return wrong && html` aria-invalid="true" aria-describedby="${name}-problem"`;
}

function note(name: FieldName, wrong: Wrong): Fragment {
  return wrong && html`<p class="field-problem" id="${name}-problem">${wrong.message}</p>`;
}
