// What the index stores of a listing: six fields, the vocabulary, and whether the text is stuffed.

import { describe, expect, it } from "vitest";
import { readLabelledSet } from "../../scripts/search/labelled-set.ts";
import { searchFields, vocabularyOf } from "../../src/bazaar/search/search-fields.ts";
import type { IndexedListing } from "../../src/bazaar/search/search-port.ts";
import { isStuffed } from "../../src/bazaar/search/search-stuffing.ts";
import { stemOf } from "../../src/bazaar/search/search-words.ts";

function aListing(changes: Partial<IndexedListing> = {}): IndexedListing {
  return {
    rowId: 1,
    type: "http",
    resource: "https://api.gatewise.example/v1/flights/LH454/status",
    host: "api.gatewise.example",
    routeTemplate: null,
    method: "GET",
    toolName: null,
    serviceName: null,
    tags: [],
    description: null,
    bazaar: {},
    ...changes,
  };
}

describe("fields", () => {
  it("hold name, tags, route, parameters, description and host, each in its stems", () => {
    const fields = searchFields(
      aListing({
        serviceName: "Gatewise",
        tags: ["aviation", "flight-status"],
        routeTemplate: "/v1/flights/:flightNumber/status",
        description: "Live status for a flight number.",
        bazaar: { info: { input: { type: "http", queryParams: { date: "2025-05-02" } } } },
      }),
    );
    expect(fields).toEqual({
      name: stemOf("gatewise"),
      tags: "aviat , flight status ; flightstatus",
      route: "v1 flight status",
      parameters: "flight numb date ; flightnumb",
      description: "live status flight numb",
      host: stemOf("gatewise"),
    });
  });

  it("hold a tool's name apart from its route, and the names in its schema", () => {
    const inputSchema = {
      type: "object",
      properties: { walletAddress: { type: "string" }, page: { type: "object", properties: { size: {} } } },
    };
    const fields = searchFields(
      aListing({
        type: "mcp",
        resource: "https://w.example/mcp",
        toolName: "getBalance",
        bazaar: { info: { input: { type: "mcp", description: "Native balances.", inputSchema } } },
      }),
    );
    expect(fields.route).toBe("get balanc , mcp ; getbalanc");
    expect(fields.parameters).toBe("wallet address page size ; walletaddress");
    expect(fields.description).toBe("nativ balanc");
  });

  it("are empty where there is nothing, whatever a stored block holds", () => {
    for (const bazaar of [
      null,
      7,
      [],
      { info: null },
      { info: { input: "x" } },
      { info: { input: { body: [1] } } },
    ]) {
      expect(searchFields(aListing({ resource: "mcp://x", host: "", bazaar }))).toEqual({
        name: "",
        tags: "",
        route: "",
        parameters: "",
        description: "",
        host: "",
      });
    }
  });

  it("are cut, so that one listing cannot fill the index", () => {
    const long = Array.from({ length: 5_000 }, (_, i) => `word${i}x`).join(" ");
    const fields = searchFields(aListing({ serviceName: long, description: long, tags: [long] }));
    for (const field of Object.values(fields)) expect(field.split(" ").length).toBeLessThan(600);
  });
});

it("the vocabulary has each word once, as written, without grammar, numbers and codes", () => {
  const words = vocabularyOf(
    aListing({ description: "Forecasts of the weather: weather for 7 days, H100, 天気" }),
  );
  expect(words.map(({ text }) => text).sort()).toEqual(["days", "flights", "forecasts", "status", "weather"]);
});

describe("stuffing", () => {
  it.each([
    [
      "a list of subjects",
      "weather crypto price news stock image translate ocr scraping flight hotel bitcoin odds",
    ],
    [
      "one word again and again",
      "best search search search web search google search search api search engine search tool",
    ],
  ])("is seen in %s", (_, description) => {
    expect(isStuffed({ tags: ["ai"], description })).toBe(true);
  });

  it.each([
    ["CPI, GDP, unemployment and 400k other official time series."],
    [
      "Title, price, stock, images and variants from any shop's product page, for agents that compare offers.",
    ],
    ["实时天气查询：输入城市名称，返回温度、湿度、风力和空气质量指数。实时天气查询：输入城市名称。"],
    [""],
  ])("is not seen in an honest text: %s", (description) => {
    expect(isStuffed({ tags: ["economy", "macro"], description })).toBe(false);
  });

  it("is rare in the labelled corpus, which has a handful of such listings", () => {
    const stuffed = readLabelledSet("test/fixtures/search").corpus.filter((listing) =>
      isStuffed({ tags: listing.tags ?? [], description: listing.description }),
    );
    expect(stuffed.length).toBeGreaterThan(2);
    expect(stuffed.length).toBeLessThan(10);
  });
});
