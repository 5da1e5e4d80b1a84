// The discovery routes over a real catalog: honest filters, pages that lose nothing, rows that spoil nothing.

import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { listingIdOf } from "../../src/bazaar/catalog/listing-identity.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";
import { aBlock, aMessage, aToolBlock, type Json } from "../support/bazaar.ts";
import { anAddress, deliver, get, listedBy, paying } from "./catalog.ts";

const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const BSC_USDT = "0x55d398326f99059fF775485246999027B3197955";
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const SOLANA_SELLER = "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4";
const UNKNOWN_TOKEN = "0x0000000000000000000000000000000000000bad";

const seller = anAddress();
const other = anAddress();
const mixed = `0x${"ab".repeat(20)}`;

const base = (amount: string, changes: Json = {}) =>
  paying(seller, { network: "eip155:8453", asset: BASE_USDC, amount, ...changes });

/** One listing of each kind, with what each filter can tell apart. */
beforeAll(async () => {
  const catalog: [url: string, options: Json][] = [
    ["cent", { requirements: base("10000"), resource: { tags: ["Weather", "cheap"] } }],
    ["dollar", { requirements: base("1000000"), resource: { tags: ["weather"] } }],
    ["permit2", { requirements: base("20000", { extra: { assetTransferMethod: "permit2" } }) }],
    ["eip3009", { requirements: base("20000", { extra: { assetTransferMethod: "eip3009" } }) }],
    ["upto", { requirements: base("50000", { scheme: "upto" }) }],
    [
      "bsc",
      { requirements: paying(other, { network: "eip155:56", asset: BSC_USDT, amount: "10000000000000000" }) },
    ],
    [
      "unpriced",
      { requirements: paying(other, { network: "eip155:8453", asset: UNKNOWN_TOKEN, amount: "1" }) },
    ],
    [
      "solana",
      {
        requirements: paying(SOLANA_SELLER, { network: SOLANA, asset: SOLANA_USDC, amount: "30000" }),
        payer: "buyer",
      },
    ],
    ["tool", { requirements: base("40000"), block: aToolBlock() }],
    ["permit", { requirements: base("60000"), extensions: { "zanora.dev/x402": { a: 1 } } }],
    ["mixed", { requirements: paying(mixed) }],
  ];
  await deliver(
    catalog.map(([path, options], i) =>
      aMessage({
        url: `https://filters.shop.test/${path}`,
        settledAtMs: Date.UTC(2026, 0, 1) + i,
        ...options,
      }),
    ),
  );
  // Two offers of one listing: cheap on one network, dear on the other.
  const both = (requirements: Json, at: number) =>
    aMessage({ url: "https://filters.shop.test/both", settledAtMs: Date.UTC(2026, 0, 2) + at, requirements });
  await deliver([
    both(base("10000"), 0),
    both(base("9000000", { network: "eip155:56", asset: BSC_USDT, amount: "9000000000000000000" }), 1),
  ]);
});

async function paths(query: string): Promise<string[]> {
  const { status, body } = await get(`/discovery/resources?limit=100&${query}`);
  expect(status, query).toBe(200);
  expect(body.pagination.total).toBe(body.items.length);
  return body.items.map((item) => String(item.resource).replace("https://filters.shop.test/", "")).sort();
}

describe("C38: filters", () => {
  it.each([
    [`payTo=${seller}`, ["both", "cent", "dollar", "eip3009", "permit", "permit2", "tool", "upto"]],
    [`payTo=0x${mixed.slice(2).toUpperCase()}`, ["mixed"]],
    [`payTo=${SOLANA_SELLER}`, ["solana"]],
    [`payTo=${SOLANA_SELLER.toLowerCase()}`, []],
    ["payTo=0x0000000000000000000000000000000000000001", []],
    ["type=mcp", ["tool"]],
    ["type=grpc", []],
    [`type=http&payTo=${other}`, ["bsc", "unpriced"]],
    ["network=eip155:999999999", []],
    ["network=eip155:56", ["both", "bsc"]],
    [`network=${SOLANA}`, ["solana"]],
    ["scheme=upto", ["upto"]],
    ["scheme=permit2-exact", ["permit2"]],
    ["scheme=permit2", ["permit2"]],
    ["scheme=eip3009", ["eip3009"]],
    ["scheme=spl-transfer", []],
    [`scheme=exact&payTo=${seller}`, ["both", "cent", "dollar", "eip3009", "permit", "permit2", "tool"]],
    [`asset=${BSC_USDT.toLowerCase()}`, ["both", "bsc"]],
    [`asset=${SOLANA_USDC}`, ["solana"]],
    [`asset=${SOLANA_USDC.toLowerCase()}`, []],
    ["tag=WEATHER", ["cent", "dollar"]],
    ["tag=weat", []],
    ["extensions=zanora.dev/x402", ["permit"]],
    [`extensions=bazaar&payTo=${other}`, ["bsc", "unpriced"]],
    ["extensions=nothing", []],
    [`maxUsdPrice=0.01&payTo=${seller}`, ["both", "cent"]],
    [`maxUsdPrice=0.009999&payTo=${seller}`, []],
    [`maxUsdPrice=0.01&payTo=${other}`, ["bsc"]],
    [`maxUsdPrice=999999999&payTo=${other}`, ["bsc"]],
    ["maxUsdPrice=0", []],
    ["maxUsdPrice=0.03&scheme=permit2-exact&network=eip155:8453", ["permit2"]],
    ["maxUsdPrice=0.01&network=eip155:56", ["bsc"]],
    ["maxUsdPrice=9&network=eip155:56", ["both", "bsc"]],
    [`tag=weather&maxUsdPrice=0.5&payTo=${seller}`, ["cent"]],
  ])("%s lists exactly its resources", async (query, expected) => {
    expect(await paths(query)).toEqual(expected);
  });

  it("hold in search as in lists", async () => {
    const hits = async (query: string) =>
      (await get(`/discovery/search?query=filters.shop.test&limit=100&${query}`)).body.resources.map((row) =>
        String(row.resource).replace("https://filters.shop.test/", ""),
      );
    expect((await hits("maxUsdPrice=0.01&network=eip155:56")).sort()).toEqual(["bsc"]);
    expect(await hits("type=mcp")).toEqual(["tool"]);
    expect(await hits("network=eip155:999999999")).toEqual([]);
    expect((await hits("tag=weather")).sort()).toEqual(["cent", "dollar"]);
  });

  it.each([
    "network=!!!",
    "network=base",
    "network=EIP155:1",
    "network=",
    "payTo=0x123",
    "payTo=",
    "payTo=a%20b",
    "asset=USDC",
    "type=",
    "type=%00",
    "scheme=Exact",
    "tag=",
    `tag=${"x".repeat(33)}`,
    "extensions=",
    "extensions=a%20b",
    "maxUsdPrice=-1",
    "maxUsdPrice=",
    "maxUsdPrice=1e3",
    "maxUsdPrice=NaN",
    "maxUsdPrice=.5",
    "maxUsdPrice=1,5",
    "maxUsdPrice=%200.1",
    "limit=0",
    "limit=-1",
    "limit=1.5",
    "limit=abc",
    "limit=",
    "limit=10&limit=20",
    "offset=-1",
    "offset=x",
    "type=http&type=mcp",
  ])("%s is 400 with an error in a word", async (query) => {
    for (const route of ["resources?", "search?query=x&"]) {
      if (route.startsWith("search") && query.startsWith("offset")) continue;
      const { status, body } = await get(`/discovery/${route}${query}`);
      expect(status).toBe(400);
      expect(body).toEqual({ error: expect.stringContaining(query.split("=")[0] ?? "") });
    }
  });

  it("clamps and echoes a large limit, takes any offset, and names what it does not know", async () => {
    for (const limit of ["101", "99999", "9".repeat(30)]) {
      expect((await get(`/discovery/resources?limit=${limit}`)).body.pagination).toMatchObject({
        limit: 100,
      });
    }
    expect((await get("/discovery/resources")).body.pagination).toMatchObject({ limit: 20, offset: 0 });
    expect((await get(`/discovery/resources?offset=${"9".repeat(30)}`)).body.items).toEqual([]);
    const beyond = await get("/discovery/resources?offset=1000000000");
    expect(beyond.body).toMatchObject({ items: [], pagination: { offset: 1_000_000_000 } });
    expect(beyond.body.pagination.total).toBeGreaterThan(0);
    const unknown = await get("/discovery/resources?unknown=1&payto=x&unknown=2");
    expect(unknown.body.unappliedFilters).toEqual(["unknown", "payto"]);
    expect((await get("/discovery/search?query=x&offset=3")).body.unappliedFilters).toEqual(["offset"]);
    expect((await get("/discovery/resources")).body).not.toHaveProperty("unappliedFilters");
  });

  it("asks search for a query of 1 to 400 characters and merchant for a payTo", async () => {
    for (const path of [
      "search",
      "search?query=",
      `search?query=${"x".repeat(401)}`,
      "merchant",
      "merchant?payTo=me",
    ]) {
      expect((await get(`/discovery/${path}`)).status, path).toBe(400);
    }
    const nobody = await get(`/discovery/merchant?payTo=${anAddress()}`);
    expect(nobody).toMatchObject({
      status: 200,
      body: { x402Version: 2, resources: [], pagination: { total: 0 } },
    });
  });

  it("every returned item satisfies every filter, for generated combinations", async () => {
    const all = (await get("/discovery/resources?limit=100")).body.items;
    const optional = <T>(...values: T[]) => fc.constantFrom<T | undefined>(undefined, undefined, ...values);
    const filters = fc.record({
      type: optional("http", "mcp"),
      payTo: optional(seller, other, mixed),
      network: optional("eip155:8453", "eip155:56", SOLANA),
      scheme: optional("exact", "upto"),
      asset: optional(BASE_USDC, BSC_USDT),
      tag: optional("weather"),
    });
    await fc.assert(
      fc.asyncProperty(filters, async (chosen) => {
        const given = Object.entries(chosen).filter(
          (entry): entry is [string, string] => entry[1] !== undefined,
        );
        const same = (a: unknown, b: string | undefined) =>
          b === undefined || String(a).toLowerCase() === b.toLowerCase();
        const fits = (item: Json) =>
          same(item.type, chosen.type) &&
          (chosen.tag === undefined ||
            ((item.tags ?? []) as string[]).some((tag) => same(tag, chosen.tag))) &&
          (item.accepts as Json[]).some(
            (offer) =>
              same(offer.payTo, chosen.payTo) &&
              same(offer.network, chosen.network) &&
              same(offer.scheme, chosen.scheme) &&
              same(offer.asset, chosen.asset),
          );
        const { body } = await get(`/discovery/resources?limit=100&${new URLSearchParams(given)}`);
        expect(body.items).toEqual(all.filter(fits));
      }),
      { numRuns: 60 },
    );
  });
});

describe("C38: pages", () => {
  it("orders by first listing, newest first; a later settle moves nothing", async () => {
    const before = await paths(`payTo=${seller}`);
    const order = async () => (await listedBy(seller)).map(({ id }) => id);
    const ids = await order();
    await deliver([
      aMessage({
        url: "https://filters.shop.test/cent",
        requirements: base("10000"),
        resource: { tags: ["Weather", "cheap"] },
      }),
    ]);
    expect(await order()).toEqual(ids);
    expect(await paths(`payTo=${seller}`)).toEqual(before);
  });

  it("a walk by offset over 1,000 listings during inserts and refreshes loses none that existed at the start", async () => {
    const payTo = anAddress();
    const at = Date.UTC(2026, 2, 1);
    const listing = (path: number | string, settledAtMs: number) =>
      aMessage({ url: `https://walk.shop.test/${path}`, settledAtMs, requirements: paying(payTo) });
    await copyListings(listing(0, at), 1_000);
    const start = new Set(await idsOf("walk"));
    expect(start.size).toBe(1_000);
    const seen = new Set<unknown>();
    for (let offset = 0; ; offset += 100) {
      const { body } = await get(`/discovery/resources?payTo=${payTo}&limit=100&offset=${offset}`);
      for (const { id } of body.items) seen.add(id);
      if (body.items.length === 0) break;
      await deliver([listing(`new${offset}`, at + 1_000 + offset), listing(offset, at + 1_000)]);
    }
    expect([...start].filter((id) => !seen.has(id))).toEqual([]);
  });

  it("a walk by cursor loses and repeats none while listings come in, and ends", async () => {
    const payTo = anAddress();
    await deliver(
      Array.from({ length: 60 }, (_, i) =>
        aMessage({
          url: `https://cursor.shop.test/${i}`,
          resource: { description: "Quokka sightings by the hour" },
          requirements: paying(payTo),
        }),
      ),
    );
    const start = await idsOf("cursor");
    const seen: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; ; page++) {
      const next = cursor === undefined ? "" : `&cursor=${cursor}`;
      const { status, body } = await get(`/discovery/search?query=quokka+sightings&limit=7${next}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ searchMethod: "text", pagination: { limit: 7 } });
      seen.push(...body.resources.map(({ id }) => id));
      cursor = body.pagination.cursor;
      expect(body.partialResults).toBe(cursor !== null);
      if (cursor === null) break;
      await deliver([
        aMessage({
          url: `https://cursor.shop.test/new${page}`,
          resource: { description: "Quokka sightings, better" },
          requirements: paying(anAddress()),
        }),
      ]);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(start.filter((id) => !seen.includes(id))).toEqual([]);
  });

  it("refuses a cursor of another query, of other filters, and one that is none", async () => {
    const first = await get("/discovery/search?query=quokka&limit=5");
    const cursor = String(first.body.pagination.cursor);
    expect(cursor).toMatch(/^[\w-]+$/);
    for (const query of [
      `query=wombat&cursor=${cursor}`,
      `query=quokka&type=http&cursor=${cursor}`,
      "query=quokka&cursor=x",
      "query=quokka&cursor=",
    ]) {
      const { status, body } = await get(`/discovery/search?limit=5&${query}`);
      expect({ status, body }, query).toEqual({ status: 400, body: { error: "cursor expired" } });
    }
  });
});

describe("C40: shapes and bad rows", () => {
  it("a row that cannot be shown costs a page one item and shifts nothing", async () => {
    const payTo = anAddress();
    const path = (name: string) => `https://bad.shop.test/${name}`;
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    await deliver(
      names.map((name, i) =>
        aMessage({ url: path(name), settledAtMs: Date.UTC(2026, 3, 1) - i, requirements: paying(payTo) }),
      ),
    );
    const spoil = (sql: string, name: string) =>
      env.DB.prepare(
        sql.replace("WHERE", "WHERE listing_id = (SELECT id FROM listings WHERE resource = ?1) AND"),
      ).bind(path(name));
    await env.DB.batch([
      spoil("UPDATE offers SET requirements = json_remove(requirements, '$.asset') WHERE true", "b"),
      spoil('UPDATE offers SET requirements = \'{"maxAmountRequired":"1"}\' WHERE true', "c"),
      spoil("UPDATE offers SET requirements = 'not json' WHERE true", "d"),
      env.DB.prepare("UPDATE listings SET bazaar = '7' WHERE resource = ?1").bind(path("e")),
      env.DB.prepare("UPDATE listings SET last_updated_ms = 1e300 WHERE resource = ?1").bind(path("f")),
      env.DB.prepare("UPDATE listings SET description = NULL WHERE resource = ?1").bind(path("g")),
    ]);
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => get(`/discovery/resources?payTo=${payTo}&limit=2&offset=${offset}`)),
    );
    expect(pages.map(({ body }) => body.items.map(({ resource }) => resource))).toEqual([
      [path("a")],
      [],
      [],
      [path("g")],
    ]);
    expect(pages.every(({ body }) => body.pagination.total === 7)).toBe(true);
  });

  it("lists have what every published client reads", async () => {
    const { body } = await get(`/discovery/resources?payTo=${seller}&tag=cheap`);
    expect(body).toEqual({
      x402Version: 2,
      items: [
        {
          id: expect.stringMatching(/^lst_[0-9a-f]{32}$/),
          resource: "https://filters.shop.test/cent",
          type: "http",
          x402Version: 2,
          accepts: [base("10000")],
          lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          tags: ["Weather", "cheap"],
          extensions: { bazaar: JSON.parse(JSON.stringify(aBlock())) },
          method: "GET",
          quality: {
            l30DaysTotalCalls: expect.any(Number),
            l30DaysUniquePayers: 1,
            lastCalledAt: expect.any(String),
            health: "unprobed",
          },
        },
      ],
      pagination: { limit: 20, offset: 0, total: 1 },
    });
  });
});

async function idsOf(host: string): Promise<unknown[]> {
  const { results } = await env.DB.prepare("SELECT id FROM listings WHERE host = ?")
    .bind(`${host}.shop.test`)
    .all();
  return results.map(({ id }) => id);
}

/** The first listing, delivered, and copies of its rows under other paths: as if each had been delivered. */
async function copyListings(first: CatalogMessage, count: number): Promise<void> {
  await deliver([first]);
  const { observation } = first;
  const copies = await Promise.all(
    Array.from({ length: count - 1 }, async (_, i) => {
      const resource = observation.resource.replace(/\d+$/, `${i + 1}`);
      return { resource, id: await listingIdOf({ ...observation, resource }) };
    }),
  );
  const copy = (table: string, columns: string) =>
    env.DB.prepare(
      `INSERT INTO ${table} (${table === "listings" ? "id, resource" : "listing_id"}, ${columns})
       SELECT copied ->> 'id', ${table === "listings" ? "copied ->> 'resource'," : ""} ${columns}
       FROM (SELECT value AS copied FROM json_each(?2)), ${table} WHERE ${table === "listings" ? "id" : "listing_id"} = ?1`,
    ).bind(id, JSON.stringify(copies));
  const id = await listingIdOf(observation);
  await env.DB.batch([
    copy(
      "offers",
      "scheme, method, network, asset, pay_to, amount, requirements, updated_ms, updated_settlement",
    ),
    copy(
      "listing_texts",
      "pay_to, first_ms, first_settlement, newest_ms, newest_settlement, content, text_hash",
    ),
    copy(
      "listings",
      "type, host, method, x402_version, bazaar, text_hash, owner_pay_to, first_listed_ms, last_updated_ms",
    ),
  ]);
}
