// A query's way to what is searched: its form, corrections, completions, synonyms, and match expressions.

import { describe, expect, it } from "vitest";
import { type Concept, MAX_RARITY, resolveQuery } from "../../src/bazaar/search/search-concepts.ts";
import { matchesOf } from "../../src/bazaar/search/search-match.ts";
import { readQuery, type Vocabulary, vocabularyQuestion } from "../../src/bazaar/search/search-query.ts";
import {
  correctionsOf,
  editsBetween,
  type KnownWord,
  trigramsOf,
} from "../../src/bazaar/search/search-spelling.ts";
import { readLines, synonyms } from "../../src/bazaar/search/search-synonyms.ts";
import { stemOf } from "../../src/bazaar/search/search-words.ts";

const known = (word: string, listings = 20): KnownWord => ({ word, stem: stemOf(word), listings });

/** A catalog of 1,000 listings whose words are `words`; it answers what it is asked, as D1 does. */
function aVocabulary(query: string, words: Record<string, number>): Vocabulary {
  const counts = new Map(Object.entries(words).map(([word, listings]) => [stemOf(word), listings]));
  const { own, others, spellings, halves, start } = vocabularyQuestion(readQuery(query));
  const all = Object.entries(words).map(([word, listings]) => known(word, listings));
  return {
    listings: 1_000,
    listingsWith: new Map([...own, ...others].map((stem) => [stem, counts.get(stem) ?? 0])),
    similar: new Map(spellings.map(({ word }) => [word, all])),
    halves: new Set(halves.flatMap(({ halves: of }) => of).filter((half) => half in words)),
    completions: start && !(start.text in words) ? all.filter(({ word }) => word.startsWith(start.text)) : [],
  };
}

const resolve = (query: string, words: Record<string, number>) =>
  resolveQuery(readQuery(query), aVocabulary(query, words));
const spellings = (concept: Concept | undefined) =>
  concept?.members.map(({ stems }) => stems.join(" ")) ?? [];

describe("the form of a query", () => {
  it.each([
    ["weather forecast", "words"],
    ["Strompreis heute", "words"],
    ["OFAC sanctions screening", "words"],
    ["getTokenPrice", "identifier"],
    ["pdf_to_markdown", "identifier"],
    ["forexly", "words"],
    ["QuantumLedger Pro", "name"],
    ["api.snapframe.example", "host"],
    ["https://api.snapframe.example/v1/x?y=1", "host"],
    ["天気.jp へ", "words"],
    ["who has it", "grammar"],
  ])("of %s is %s", (query, form) => {
    expect(readQuery(query).form).toBe(form);
  });

  it("keeps what was quoted word for word", () => {
    expect(readQuery('the "floor price" of "a" collection').quoted).toEqual([["floor", "pric"], ["a"]]);
    expect(readQuery('an open "quote').quoted).toEqual([]);
  });

  it("reads no more than the start of a pasted text", () => {
    expect(readQuery("word ".repeat(10_000)).words.length).toBeLessThanOrEqual(24);
  });
});

describe("spelling", () => {
  it.each([
    ["wether", "weather", 1],
    ["flihgt", "flight", 1],
    ["restaraunt", "restaurant", 2],
    ["same", "same", 0],
    ["", "abc", 3],
  ])("counts the edits from %s to %s", (left, right, edits) => {
    expect(editsBetween(left, right)).toBe(edits);
    expect(editsBetween(right, left)).toBe(edits);
  });

  it("marks the ends of a word, so that its first and last letters count", () => {
    expect(trigramsOf("price")).toEqual(["^pr", "pri", "ric", "ice", "ce$"]);
  });

  it("takes the nearest words, of like distance the commonest", () => {
    const near = correctionsOf("curency", [known("urgency"), known("currency"), known("currencies")], 3);
    expect(near.map(({ word }) => word)).toEqual(["currency"]);
    expect(correctionsOf("pirce", [known("pierce", 1), known("price", 90)], 1)[0]?.word).toBe("price");
  });

  it("makes no other word of a short one", () => {
    expect(correctionsOf("sink", [known("link"), known("wink")], 2)).toEqual([]);
    expect(correctionsOf("mial", [known("mail")], 2)[0]?.word).toBe("mail");
    expect(correctionsOf("stok", [known("stock")], 2)[0]?.word).toBe("stock");
  });

  it("corrects a word that no listing has, and lets its synonyms in", () => {
    const { concepts } = resolve("currancy converter", { currency: 30, converter: 20, forex: 5 });
    expect(spellings(concepts[0])).toEqual(expect.arrayContaining(["currenci", "forex"]));
  });

  it("leaves a word alone that is listed or that the synonym list knows", () => {
    expect(spellings(resolve("plane", { plan: 50, plane: 1 }).concepts[0])).not.toContain("plan");
    expect(spellings(resolve("wetter", { better: 50 }).concepts[0])).not.toContain("better");
  });

  it("also searches the commoner neighbour of a word that only a misspelt listing has", () => {
    const { concepts } = resolve("forcast", { forcast: 1, forecast: 40 });
    expect(spellings(concepts[0])).toEqual(expect.arrayContaining(["forcast", "forecast"]));
  });

  it("completes the last word while it is typed", () => {
    const words = { weather: 30, weaving: 2 };
    expect(spellings(resolve("tomorrow weath", words).concepts[1])).toContain("weath");
    expect(spellings(resolve("forec", { forecast: 9 }).concepts[0])).toContain("forecast");
    expect(spellings(resolve("forec tomorrow", { forecast: 9 }).concepts[0])).not.toContain("forecast");
  });

  it("finds two words written as one, and one written as two", () => {
    expect(spellings(resolve("screenshot", { screen: 5, shot: 5 }).concepts[0])).toContain("screen shot");
    expect(spellings(resolve("screen shot", { screenshot: 5 }).concepts[0])).toContain("screenshot");
  });
});

describe("synonyms", () => {
  it("go both ways on a line, and one way over a >", () => {
    const list = readLines("car, auto mobile\nvin > car\n# a comment, ignored");
    const of = (phrase: string[]) => list.of(phrase).map((synonym) => synonym.phrase.join(" "));
    expect(of(["car"])).toEqual(["auto mobil"]);
    expect(of(["auto", "mobil"])).toEqual(["car"]);
    expect(of(["vin"])).toEqual(["car"]);
    expect(list.of(["vin"])[0]?.isRelated).toBe(true);
    expect(of(["comment"])).toEqual([]);
    expect(list.longestFrom("auto")).toBe(2);
    expect(list.knows("mobil")).toBe(true);
  });

  it("know the field's abbreviations, tasks and languages", () => {
    const finds = (query: string) => synonyms().of(readQuery(query).words.map(({ stem }) => stem));
    const names = (query: string) => finds(query).map(({ phrase }) => phrase.join(" "));
    expect(names("tts")).toContain(`speech ${stemOf("synthesis")}`);
    expect(names("aml")).toContain(`money ${stemOf("laundering")}`);
    expect(names("wetter")).toContain("weath");
    expect(names("翻訳")).toContain(stemOf("translate"));
  });

  it("of a phrase stand for each of its words, and a lone half of it counts less", () => {
    const { concepts } = resolve("exchange rate", { exchange: 20, rate: 60, forex: 5 });
    for (const concept of concepts) {
      expect(spellings(concept)).toEqual(expect.arrayContaining(["exchang rate", "forex"]));
      expect(concept.members.find(({ stems }) => stems.join() === concept.stem)?.weight).toBeLessThan(1);
    }
  });

  it("read words out of a script without spaces, and drop the pairs that straddle them", () => {
    const { concepts } = resolve("天気予報", { 天気: 3, weather: 40, forecast: 20 });
    expect(concepts.map(({ stem }) => stem)).toEqual(["天気", "予報"]);
    expect(spellings(concepts[0])).toEqual(expect.arrayContaining(["天気", "weath"]));
    expect(spellings(concepts[1])).toContain("forecast");
  });

  it("that no listing has are not looked for", () => {
    expect(spellings(resolve("weather", { weather: 40 }).concepts[0])).toEqual(["weath"]);
  });
});

describe("importance and rarity", () => {
  it("small talk and unknown numbers are weak, a name amid a sentence is an argument", () => {
    const { concepts } = resolve("find the weather in Tokyo on 2031", { weather: 40 });
    expect(concepts.map(({ stem, importance }) => [stem, importance])).toEqual([
      ["find", "weak"],
      ["weath", "full"],
      ["tokyo", "argument"],
      ["2031", "weak"],
    ]);
  });

  it("what one does with anything is an action, a word at a sentence's start is no name", () => {
    const importances = (query: string) => resolve(query, {}).concepts.map(({ importance }) => importance);
    expect(importances("hire a zzplumber in Zztown")).toEqual(["action", "full", "argument"]);
    expect(importances("Zzplumber for hire")).toEqual(["full", "action"]);
    expect(importances("Zzheron Zzlabs")).toEqual(["argument", "argument"]);
  });

  it("does not correct a name amid a sentence", () => {
    const words = { leads: 40, plumber: 5 };
    expect(spellings(resolve("plumber in Leeds", words).concepts[1])).not.toContain("lead");
    expect(spellings(resolve("plumber in leeds", words).concepts[1])).toContain("lead");
  });

  it("rarer words tell more, within bounds, in catalogs of every size", () => {
    const rarity = (listings: number, count: number) =>
      resolveQuery(readQuery("weather"), {
        ...aVocabulary("weather", { weather: count }),
        listings,
      }).concepts[0]?.rarity ?? Number.NaN;
    for (const listings of [0, 3, 600, 25_000, 10_000_000]) {
      for (const count of [1, 3, 500, 25_000, 20_000_000]) {
        expect(rarity(listings, count)).toBeGreaterThanOrEqual(0);
        expect(rarity(listings, count)).toBeLessThanOrEqual(MAX_RARITY);
      }
      expect(rarity(listings, 2)).toBeGreaterThanOrEqual(rarity(listings, 200));
    }
  });
});

describe("match expressions", () => {
  const matches = (query: string, words: Record<string, number>) => matchesOf(resolve(query, words));

  it("ask for the name, and for each concept by any of its spellings, weighed by how much it tells", () => {
    const [named, ...concepts] = matches("currency weather", { currency: 10, forex: 4, weather: 90 });
    expect(named?.[0]).toBe('{name} : ^ "currenci weath"');
    expect(concepts.map(([match]) => match)).toEqual(['("currenci" OR "forex")', '("weath")']);
    const [name = 0, rare = 0, common = 0] = [named, ...concepts].map((match) => match?.[1]);
    expect(rare).toBeGreaterThan(common);
    expect(name).toBeGreaterThan(24 * rare);
  });

  it("leave common words out once rarer ones find enough", () => {
    const concepts = (words: Record<string, number>) => matches("zebra price", words).slice(1);
    expect(concepts({ zebra: 50, price: 5_000 }).map(([match]) => match)).toEqual(['("zebra")']);
    expect(concepts({ zebra: 2, price: 5_000 })).toHaveLength(2);
  });

  it("ask for every quoted phrase with each concept", () => {
    for (const [match] of matches('"floor price" nft', { floor: 5, price: 50, nft: 9 }).slice(1)) {
      expect(match).toMatch(/ AND \("floor pric"\)$/);
    }
  });
});
