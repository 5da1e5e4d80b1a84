// Words: what is written of a listing must be found by what people type, in whatever spelling and script.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GRAMMAR_WORDS, tellingWordsOf, WEAK_WORDS } from "../../src/bazaar/search/search-common-words.ts";
import { stemOf, wordsOf } from "../../src/bazaar/search/search-words.ts";

const texts = (text: string) => wordsOf(text).map((word) => word.text);
const wholes = (text: string) => [...new Set(wordsOf(text).map((word) => word.whole))];

describe("splitting", () => {
  it.each([
    ["getTokenPrice", ["get", "token", "price"]],
    ["pdf_to_markdown", ["pdf", "to", "markdown"]],
    ["HTTPServer", ["http", "server"]],
    ["pdf2text", ["pdf", "2", "text"]],
    ["rent H100 GPUs", ["rent", "h100", "gpus"]],
    ["/v1/airports/:iata/board", ["v1", "airports", "iata", "board"]],
    ["fn-weather-9a2.fnhost.test", ["fn", "weather", "9a2", "fnhost", "test"]],
    ["Übersetzung, naïve café", ["ubersetzung", "naive", "cafe"]],
    ["e-mail and 8-K filings", ["email", "and", "8k", "filings"]],
    ["株価をリアルタイム", ["株価", "価を", "をリ", "リア", "アル", "ルタ", "タイ", "イム"]],
    ["날씨 예보", ["날씨", "예보"]],
    ["A股quote", ["a", "股", "quote"]],
    ["मौसम", ["मौसम"]],
    ["!?, …", []],
  ])("splits %s", (text, words) => {
    expect(texts(text)).toEqual(words);
  });

  it("keeps the longer spelling that a word is part of", () => {
    expect(wholes("getTokenPrice")).toEqual([stemOf("gettokenprice")]);
    expect(wholes("real-time")).toEqual([stemOf("realtime")]);
    expect(wholes("text-to-speech")).toEqual([undefined]);
    expect(wholes("weather")).toEqual([undefined]);
  });

  it("gives the same words for a name however its parts are joined", () => {
    const stems = (text: string) => wordsOf(text).map((word) => word.stem);
    for (const spelling of [
      "token price lookup",
      "token_price_lookup",
      "token-price-lookup",
      "TokenPriceLookup",
    ]) {
      expect(stems(spelling)).toEqual(stems("token price lookup"));
    }
  });

  it("never fails, and never makes a word that a space or quote is part of", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const { text: word, stem } of wordsOf(text)) {
          expect(word).toMatch(/^[\p{L}\p{N}\p{M}ー]{1,40}$/u);
          expect(stem).toMatch(/^[\p{L}\p{N}\p{M}ー]{1,40}$/u);
        }
      }),
    );
  });
});

describe("stems", () => {
  it.each([
    ["translate translates translation translator translating translated"],
    ["convert converts converter converting"],
    ["generate generation generator generating"],
    ["recommend recommends recommendation"],
    ["document documents documentation"],
    ["locate location locator"],
    ["verify verifies verified verification verifier"],
    ["currency currencies"],
    ["scrape scraper scraping scraped"],
    ["route routes router routing"],
    ["code codes coding"],
    ["map maps mapping mapped"],
    ["analyze analyse analysis analyzer"],
    ["organise organize organisation organization"],
    ["available availability"],
    ["sanction sanctions sanctioned"],
    ["валюта валюты валют валютой"],
  ])("are one for %s", (family) => {
    expect(new Set(wordsOf(family).map((word) => word.stem)).size).toBe(1);
  });

  it.each([
    ["plan", "plane"],
    ["form", "format"],
    ["general", "generate"],
    ["car", "care"],
    ["new", "news"],
    ["us", "use"],
    ["h100", "h10"],
  ])("keep %s and %s apart", (left, right) => {
    expect(stemOf(left)).not.toBe(stemOf(right));
  });
});

describe("grammar", () => {
  it("is left out of what a text tells, unless there is nothing else", () => {
    expect(tellingWordsOf("what is the price of a token").map((word) => word.text)).toEqual([
      "price",
      "token",
    ]);
    expect(tellingWordsOf("Who Has").map((word) => word.text)).toEqual(["who", "has"]);
    expect(tellingWordsOf("WhoHas it").map((word) => word.text)).toEqual(["who", "has"]);
  });

  it("and small talk are written as words are read, and no word is both", () => {
    for (const word of [...GRAMMAR_WORDS, ...WEAK_WORDS]) {
      expect(texts(word).join(""), word).toBe(word);
      expect(GRAMMAR_WORDS.has(word) && WEAK_WORDS.has(word), word).toBe(false);
    }
  });
});
