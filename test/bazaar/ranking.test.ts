// The order of results: relevance times trust, exact names, stuffing, one payTo's many rows, and when nothing is found.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, rank, type TrustSignals, trustPermille } from "../../src/bazaar/search/ranking.ts";
import { resolveQuery } from "../../src/bazaar/search/search-concepts.ts";
import { searchFields } from "../../src/bazaar/search/search-fields.ts";
import { readQuery, vocabularyQuestion } from "../../src/bazaar/search/search-query.ts";
import { isStuffed } from "../../src/bazaar/search/search-stuffing.ts";

const NOW_MS = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;
const confirmed: TrustSignals = { isConfirmed: true, payers30d: 0, lastCalledMs: 0, health: "ok" };

interface Shop {
  name?: string;
  tags?: string[];
  description?: string;
  tool?: string;
  host?: string;
  payTo?: string;
  trust?: Partial<TrustSignals>;
}

function aRow(rowId: number, shop: Shop): Candidate {
  const { name = null, tags = [], description = null, tool = null, host = `h${rowId}.test` } = shop;
  const texts = { serviceName: name, tags, description, toolName: tool };
  return {
    rowId,
    fields: searchFields({
      ...texts,
      rowId,
      type: "http",
      resource: `https://${host}/`,
      host,
      routeTemplate: null,
      method: "GET",
      bazaar: {},
    }),
    ownerPayTo: shop.payTo ?? `payTo${rowId}`,
    host,
    isStuffed: isStuffed(texts),
    trust: { ...confirmed, ...shop.trust },
  };
}

/** Ranks shops for a query, in a catalog whose words are all equally rare. Gives their numbers, best first. */
function ranked(query: string, shops: readonly Shop[], changes: Partial<Parameters<typeof rank>[0]> = {}) {
  const rows = shops.map((shop, i) => aRow(i + 1, shop));
  const stems = new Set(
    rows.flatMap(({ fields }) => Object.values(fields).flatMap((field) => field.split(" "))),
  );
  const read = readQuery(query);
  const { own, others } = vocabularyQuestion(read);
  const listingsWith = new Map([...own, ...others].map((stem) => [stem, stems.has(stem) ? 5 : 0]));
  const none = { similar: new Map(), halves: new Set<string>(), completions: [] };
  const resolved = resolveQuery(read, { listings: 1_000, listingsWith, ...none });
  const request = { query: resolved, nowMs: NOW_MS, shownPerPayTo: new Map(), isFirstPage: true, ...changes };
  return rank(request, rows);
}

describe("relevance", () => {
  it("C40: a query equal to a name comes before a tag, a tag before a description", () => {
    const shops = [
      { name: "Almanac", description: "weather" },
      { name: "Almanac", tags: ["weather", "climate", "rain", "sun", "wind"] },
      { name: "Weather", description: "Something about the sky with many other words in the text" },
    ];
    expect(ranked("weather", shops)).toEqual([3, 2, 1]);
  });

  it("C40: a name of several words is equal in any spelling", () => {
    const shops = [
      { name: "Squirrel", description: "memory for a squirrel, memory squirrel" },
      { name: "Squirrel Memory" },
      { name: "Memory", tags: ["squirrel-memory"] },
    ];
    for (const query of ["Squirrel Memory", "squirrelMemory", "squirrel_memory"]) {
      expect(ranked(query, shops)[0], query).toBe(2);
    }
  });

  it("puts the listing of a host first when the query is that host", () => {
    const shops = [{ description: "api snapframe api snapframe" }, { host: "api.snapframe.test" }];
    expect(ranked("api.snapframe.test", shops)[0]).toBe(2);
  });

  it("puts all words before some, however often these are said", () => {
    const shops = [
      { tags: ["weather", "weather"], description: "weather weather weather weather" },
      { description: "A forecast of the weather." },
    ];
    expect(ranked("weather forecast", shops)).toEqual([2, 1]);
  });

  it("prefers words that stand together as in the query", () => {
    const shops = [
      { description: "price list of a vector gallery and its database" },
      { description: "gallery and its price list of a vector database" },
    ];
    expect(ranked("vector database", shops)).toEqual([2, 1]);
  });

  it("keyword stuffing does not win", () => {
    const shops = [
      {
        tags: ["weather", "forecast", "api"],
        description:
          "weather forecast weather api crypto price news stock image translate ocr scraping flight hotel",
      },
      { description: "Seven day outlook: a forecast of the weather for any place on earth." },
    ];
    expect(ranked("weather forecast", shops)).toEqual([2, 1]);
  });

  it("finds nothing where most of what was asked is nowhere", () => {
    const shops = [{ tags: ["rent"], description: "Rent a phone number" }, { description: "Health of pets" }];
    expect(ranked("rent a forklift in rotterdam", shops)).toEqual([]);
    expect(ranked("getHamsterHealth", shops)).toEqual([]);
    expect(ranked("Hamster Health", shops)).toEqual([]);
    expect(ranked("rent a phone number", shops)).toEqual([1]);
  });

  it("finds nothing by a stuffed listing alone", () => {
    const description =
      "weather crypto price news stock image translate ocr scraping flight hotel bitcoin odds forklift rent";
    expect(ranked("rent a forklift", [{ description }])).toEqual([]);
  });

  it("finds by grammar alone only what is named so", () => {
    expect(ranked("who has", [{ description: "who has it" }, { name: "Who Has" }])).toEqual([2]);
    expect(ranked("what is it", [{ description: "what is it" }])).toEqual([]);
  });
});

describe("trust", () => {
  const same = { tags: ["weather"], description: "Weather for any place" };

  it("ranks a listing nobody confirmed below every confirmed one of like relevance", () => {
    const shops = [
      { ...same, trust: { isConfirmed: false, payers30d: 100_000, lastCalledMs: NOW_MS } },
      { ...same, trust: { health: "failing" as const } },
      same,
    ];
    expect(ranked("weather", shops)).toEqual([3, 2, 1]);
  });

  it("ranks more payers, fresher calls and health higher", () => {
    const shops = [
      { ...same, trust: { health: "failing" as const } },
      same,
      { ...same, trust: { lastCalledMs: NOW_MS - DAY_MS } },
      { ...same, trust: { payers30d: 50, lastCalledMs: NOW_MS - DAY_MS } },
    ];
    expect(ranked("weather", shops)).toEqual([4, 3, 2, 1]);
  });

  it("does not lift what was not asked for", () => {
    const shops = [
      { tags: ["weather"] },
      { tags: ["news"], trust: { payers30d: 1_000_000, lastCalledMs: NOW_MS } },
    ];
    expect(ranked("weather news today", shops).length).toBe(2);
    expect(ranked("weather", shops)[0]).toBe(1);
  });

  it("is an integer within bounds, and never falls by one more payer", () => {
    const signals = fc.record({
      isConfirmed: fc.boolean(),
      payers30d: fc.nat(),
      lastCalledMs: fc.nat({ max: NOW_MS }),
      health: fc.constantFrom("ok" as const, "failing" as const, "unprobed" as const),
    });
    fc.assert(
      fc.property(signals, (trust) => {
        const permille = trustPermille(trust, NOW_MS);
        expect(Number.isInteger(permille)).toBe(true);
        expect(permille).toBeGreaterThanOrEqual(350);
        expect(permille).toBeLessThanOrEqual(1_300);
        expect(trustPermille({ ...trust, payers30d: trust.payers30d + 1 }, NOW_MS)).toBeGreaterThanOrEqual(
          permille,
        );
      }),
    );
  });
});

describe("one payTo's rows", () => {
  const rows = (payTo: string, count: number, trust = {}) =>
    Array.from({ length: count }, () => ({
      tags: ["weather"],
      description: "Weather for any place",
      payTo,
      trust,
    }));

  it("from the fourth on come later, none is left out", () => {
    const shops = [
      ...rows("big", 6, { payers30d: 500, lastCalledMs: NOW_MS }),
      ...rows("small", 1, { isConfirmed: false }),
    ];
    const order = ranked("weather", shops);
    expect(order).toHaveLength(7);
    expect(order.indexOf(7)).toBe(3);
  });

  it("count the rows of earlier pages", () => {
    const shops = [...rows("big", 2), ...rows("small", 2)];
    const order = ranked("weather", shops, { shownPerPayTo: new Map([["big", 3]]), isFirstPage: false });
    expect(order.slice(0, 2).sort()).toEqual([3, 4]);
  });

  it("keep their places when that payTo was asked for", () => {
    const shops = [...rows("big", 5), { tags: ["news"], description: "weather", payTo: "big" }];
    const order = ranked("weather", shops, { shownPerPayTo: null });
    expect(order.at(-1)).toBe(6);
  });

  it("are the same rows in the same order, whatever order they come in", () => {
    const shops = [...rows("a", 5), ...rows("b", 4), ...rows("c", 1)];
    expect(ranked("weather", shops)).toEqual(ranked("weather", shops));
    expect(new Set(ranked("weather", shops)).size).toBe(10);
  });
});
