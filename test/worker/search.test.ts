// Search against a real D1, through the cataloger's write path and the search route. Storage is shared by the tests of
// this file, so each uses words of its own.

import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { conditionOf } from "../../src/bazaar/catalog/catalog-filter.ts";
import { indexLeftBehind } from "../../src/bazaar/catalog/index-listing-store.ts";
import { indexGeneration, rebuildIndex, searchListings } from "../../src/bazaar/search/search-store.ts";
import { aMessage, type Json } from "../support/bazaar.ts";
import { anAddress, deliver, get, paying } from "./catalog.ts";

interface Shop {
  host: string;
  path?: string;
  name?: string;
  tags?: string[];
  description?: string;
  payTo?: string;
}

function messageOf({ host, path = "/", name, tags, description, payTo = anAddress() }: Shop) {
  const resource: Json = { description, serviceName: name, tags };
  return aMessage({ url: `https://${host}${path}`, resource, requirements: paying(payTo) });
}

/** Lists shops as settled payments do. */
async function list(...shops: Shop[]): Promise<void> {
  await deliver(shops.map(messageOf));
}

/** The hosts that a query finds, best first. */
async function find(query: string, more = ""): Promise<string[]> {
  const { status, body } = await get(`/discovery/search?query=${encodeURIComponent(query)}&limit=100${more}`);
  expect(status).toBe(200);
  return body.resources.map(({ resource }) => new URL(String(resource)).host);
}

async function rowCounts(): Promise<Record<string, unknown> | null> {
  return env.DB.prepare(
    `SELECT (SELECT count(*) FROM listings) AS listings, (SELECT count(*) FROM listing_search) AS entries,
      (SELECT count(*) FROM search_words) AS words`,
  ).first();
}

describe("finding", () => {
  beforeAll(() =>
    list(
      {
        host: "fx.shop.test",
        name: "Guilderly",
        tags: ["forex"],
        description: "Mid-market rates, refreshed each minute",
      },
      { host: "ocr.shop.test", description: "Reads text out of photographed receipts" },
      {
        host: "tts.shop.test",
        path: "/v1/synthesizeSpeech",
        description: "Sixty natural voices, MP3 or WAV",
      },
      { host: "tenki.shop.test", description: "東京の天気予報をお届けします" },
      { host: "param.shop.test", path: "/q", description: "Point lookups" },
      {
        host: "aviary.shop.test",
        tags: ["birds"],
        description: "Identifies kingfishers and other birds by their song",
      },
    ),
  );

  it.each([
    ["another word for it", "currency exchange", "fx.shop.test"],
    ["the abbreviation", "TTS", "tts.shop.test"],
    ["a misspelling", "kingfihser", "aviary.shop.test"],
    ["an unfinished word", "kingfis", "aviary.shop.test"],
    ["a word's other form", "identifying kingfisher", "aviary.shop.test"],
    ["camelCase in a route", "synthesize speech", "tts.shop.test"],
    ["two characters of a script without spaces", "天気", "tenki.shop.test"],
    ["another language", "Wettervorhersage", "tenki.shop.test"],
    ["a question", "which bird sings like a kingfisher?", "aviary.shop.test"],
    ["the service's name", "guilderly", "fx.shop.test"],
    ["the host", "ocr.shop.test", "ocr.shop.test"],
    ["a quoted phrase", '"mid-market rates"', "fx.shop.test"],
  ])("finds by %s: %s", async (_, query, host) => {
    expect((await find(query))[0]).toBe(host);
  });

  it("C40: a query equal to a service name comes first, then a tag, then a description", async () => {
    await list(
      { host: "text.shop.test", description: "A quagga registry, with every quagga in it" },
      { host: "tag.shop.test", tags: ["quagga"], description: "Registry of animals" },
      { host: "name.shop.test", name: "Quagga", description: "Something else altogether" },
    );
    expect(await find("quagga")).toEqual(["name.shop.test", "tag.shop.test", "text.shop.test"]);
  });

  it.each([
    "forklift rental Rotterdam",
    "what is it",
    "getHamsterHealth",
    "asdfghjkl qwertz",
    "潜水装备租赁",
  ])("answers %s, which nobody sells, with an empty page", async (query) => {
    const { status, body } = await get(`/discovery/search?query=${encodeURIComponent(query)}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ resources: [], partialResults: false, pagination: { cursor: null } });
  });

  it("a quoted phrase is found word for word only", async () => {
    await list(
      { host: "apart.shop.test", description: "Ocelot facts, and a census of cats" },
      { host: "together.shop.test", description: "The ocelot census" },
    );
    expect(await find('"ocelot census"')).toEqual(["together.shop.test"]);
    expect((await find("ocelot census")).length).toBe(2);
  });
});

describe("a match expression", () => {
  beforeAll(() => list({ host: "any.shop.test", description: "Wallets, colours and words of all kinds" }));

  const ask = (query: string) =>
    searchListings(env.DB, {
      query,
      condition: conditionOf({}),
      forOnePayTo: false,
      shownRowIds: [],
      limit: 5,
      nowMs: Date.now(),
    });

  it("is never a syntax error, whatever is typed", async () => {
    const word = fc.constantFrom(
      "weather",
      "getWallet",
      "天気",
      "NEAR",
      "OR",
      "NOT",
      "name:",
      '"',
      "*",
      "^",
      "(",
      "-",
      "'",
    );
    const typed = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.array(word, { maxLength: 12 }).map((words) => words.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(typed, async (query) => {
        const { rowIds } = await ask(query);
        expect(rowIds.every(Number.isSafeInteger)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    "",
    "   ",
    '"',
    '""',
    '"""weather"""',
    "weather\0wallets",
    "name : weather",
    "{name tags} : weather",
    "weather AND",
    "NEAR(weather wallets, 2)",
    "^weather*",
    "weather' OR 1=1 --",
    "a".repeat(400),
    "image generation web search vector database sanctions screening smart contract audit ".repeat(4),
    "\ud800 lone surrogate",
    "मौसम จอห์น 天気予報 날씨",
  ])("is valid for %j", async (query) => {
    expect((await ask(query)).rowIds.length).toBeLessThanOrEqual(5);
  });
});

describe("ranking", () => {
  it("a payTo's fourth row comes later, is not left out, and stays in place where that payTo was asked for", async () => {
    const payTo = anAddress();
    const description = "Okapi sightings by the hour";
    const many = Array.from({ length: 6 }, (_, i) => ({ host: `okapi${i}.shop.test`, description, payTo }));
    await list(...many, {
      host: "other-okapi.shop.test",
      description: `${description}, with a few words more`,
    });
    const found = await find("okapi sightings");
    expect(found).toHaveLength(7);
    expect(found.indexOf("other-okapi.shop.test")).toBe(3);
    expect(await find("okapi sightings", `&payTo=${payTo}`)).toHaveLength(6);
  });

  it("one payTo's hundreds of rows do not keep others from being found", async () => {
    const payTo = anAddress();
    const crowd = Array.from({ length: 130 }, (_, i) => ({
      host: `tapir${i}.shop.test`,
      tags: ["tapir"],
      payTo,
    }));
    await list(...crowd, {
      host: "lone-tapir.shop.test",
      description: "Among many other animals of the forest, the tapir",
    });
    const { body } = await get("/discovery/search?query=tapir&limit=4");
    const hosts = body.resources.map(({ resource }) => new URL(String(resource)).host);
    expect(hosts).toContain("lone-tapir.shop.test");
    expect(body.partialResults).toBe(true);
  });

  it("a listing nobody confirmed ranks below a confirmed one of like relevance", async () => {
    await list(
      { host: "sure-dugong.shop.test", description: "Dugong migration routes" },
      { host: "new-dugong.shop.test", description: "Dugong migration routes" },
    );
    const confirm =
      "UPDATE listings SET verified_at_ms = ?1, health = 'ok' WHERE host = 'sure-dugong.shop.test'";
    await env.DB.prepare(confirm).bind(Date.now()).run();
    expect(await find("dugong migration")).toEqual(["sure-dugong.shop.test", "new-dugong.shop.test"]);
  });
});

describe("the index", () => {
  it("follows a listing's text, in one entry", async () => {
    const payTo = anAddress();
    const shop = { host: "moves.shop.test", payTo };
    await deliver([{ ...messageOf({ ...shop, description: "Numbats" }), settledAtMs: 1_000 }]);
    await deliver([{ ...messageOf({ ...shop, description: "Wombats" }), settledAtMs: 2_000 }]);
    expect(await find("numbats")).not.toContain("moves.shop.test");
    expect(await find("wombats")).toEqual(["moves.shop.test"]);
    const { listings, entries } = (await rowCounts()) ?? {};
    expect(entries).toBe(listings);
  });

  it("forgets a listing that is deleted", async () => {
    await list({ host: "gone.shop.test", description: "Thylacines" });
    expect(await find("thylacines")).toEqual(["gone.shop.test"]);
    await env.DB.prepare("DELETE FROM listings WHERE host = 'gone.shop.test'").run();
    const { listings, entries } = (await rowCounts()) ?? {};
    expect(entries).toBe(listings);
  });

  it("learns a word once", async () => {
    const count = async () => (await rowCounts())?.words;
    const known = { tags: ["gharial"], description: "Gharial census by river" };
    await list({ host: "gharial1.shop.test", ...known });
    const before = await count();
    await list({ host: "gharial2.shop.test", ...known });
    expect(await count()).toBe(before);
    expect((await find("gharail census")).slice(0, 2).sort()).toEqual([
      "gharial1.shop.test",
      "gharial2.shop.test",
    ]);
  });

  it("is the same after a rebuild, which expires cursors", async () => {
    const description = "Pangolin scales under the microscope";
    await list({ host: "pangolin1.shop.test", description }, { host: "pangolin2.shop.test", description });
    const before = await find("pangolin scales");
    const generation = await indexGeneration(env.DB);
    const first = await get("/discovery/search?query=pangolin&limit=1");
    const cursor = String(first.body.pagination.cursor);

    await rebuildIndex(env.DB);
    expect(await find("pangolin scales")).toEqual(before);
    for (let left = 1; left > 0; ) left = await indexLeftBehind(env.DB, 100);

    expect(await find("pangolin scales")).toEqual(before);
    expect(await find("pangoiln")).toEqual(before);
    expect(await indexGeneration(env.DB)).toBe(generation + 1);
    const expired = await get(`/discovery/search?query=pangolin&limit=1&cursor=${cursor}`);
    expect(expired).toMatchObject({ status: 400, body: { error: "cursor expired" } });
  });

  it("drops what is in no listing when it is rebuilt", async () => {
    await env.DB.prepare(
      "INSERT INTO listing_search (rowid, name, tags) VALUES (999999, 'ghost', 'ghost')",
    ).run();
    await rebuildIndex(env.DB);
    for (let left = 1; left > 0; ) left = await indexLeftBehind(env.DB, 100);
    const { listings, entries } = (await rowCounts()) ?? {};
    expect(entries).toBe(listings);
  });
});
