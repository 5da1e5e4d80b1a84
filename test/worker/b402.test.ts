// The enveloped face: its shapes and error codes, and an agent that buys by what it answers.

import { beforeAll, describe, expect, it } from "vitest";
import { aMessage, aToolBlock, type Json } from "../support/bazaar.ts";
import { anAddress, deliver, get, paying } from "./catalog.ts";

const BSC_USDT = "0x55d398326f99059fF775485246999027B3197955";
const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const seller = anAddress();
const settledAtMs = Date.UTC(2026, 0, 1);

const bsc = (amount: string, changes: Json = {}) =>
  paying(seller, { network: "eip155:56", asset: BSC_USDT, amount, ...changes });

beforeAll(async () => {
  const catalog: [path: string, options: Json][] = [
    ["cent", { requirements: bsc("10000000000000000"), resource: { description: "Zebra headcount, cheap" } }],
    [
      "dollar",
      { requirements: bsc("1000000000000000000"), resource: { description: "Zebra headcount, dear" } },
    ],
    ["base", { requirements: bsc("10000", { network: "eip155:8453", asset: BASE_USDC }) }],
    ["permit2", { requirements: bsc("20000000000000000", { extra: { assetTransferMethod: "permit2" } }) }],
    ["eip3009", { requirements: bsc("20000000000000000", { extra: { assetTransferMethod: "eip3009" } }) }],
    ["unpriced", { requirements: bsc("1", { asset: "0x0000000000000000000000000000000000000bad" }) }],
    ["tool", { requirements: bsc("30000000000000000"), block: aToolBlock() }],
  ];
  await deliver(
    catalog.map(([path, options], i) =>
      aMessage({ url: `https://b402.shop.test/${path}`, settledAtMs: settledAtMs + i, ...options }),
    ),
  );
});

type Data = Json & { items: Json[]; resources: Json[]; pagination: Json };

async function data(path: string): Promise<Data> {
  const { status, body } = await get(`/bazaar/${path}`);
  expect(status, path).toBe(200);
  expect(body).toMatchObject({ code: "000000", message: null, messageDetail: null, success: true });
  return body.data as Data;
}

const names = (rows: readonly Json[]) => rows.map(({ resource }) => String(resource).split("/").at(-1));

describe("the enveloped face", () => {
  it("lists resources newest first, in its own words", async () => {
    const page = await data("resources");
    expect(page).toMatchObject({ x402Version: 2, pagination: { limit: 25, offset: 0, total: 7 } });
    expect(names(page.items)).toEqual(["tool", "unpriced", "eip3009", "permit2", "base", "dollar", "cent"]);
    expect(page.items.at(-1)).toEqual({
      resource: "https://b402.shop.test/cent",
      type: "http",
      x402Version: 2,
      description: "Zebra headcount, cheap",
      accepts: [
        {
          scheme: "exact",
          network: "eip155:56",
          asset: BSC_USDT,
          maxAmountRequired: "10000000000000000",
          payTo: seller,
        },
      ],
      lastUpdated: settledAtMs,
    });
    expect(page.items[0]).toMatchObject({ type: "mcp", description: "https://b402.shop.test/tool" });
    const schemes = page.items.map(({ accepts }) => (accepts as Json[])[0]?.scheme);
    expect(schemes).toEqual(["exact", "exact", "eip3009", "permit2-exact", "exact", "exact", "exact"]);
    const second = await data("resources?limit=2&offset=2");
    expect(names(second.items)).toEqual(["eip3009", "permit2"]);
    expect((await data("resources?limit=101")).pagination.limit).toBe(100);
  });

  it("lists one payTo's resources, and none for an unknown one", async () => {
    expect(names((await data(`merchant?payTo=${seller}&limit=2`)).resources)).toEqual(["tool", "unpriced"]);
    const nobody = await data(`merchant?payTo=${anAddress()}`);
    expect(nobody).toEqual({ resources: [], pagination: { limit: 25, offset: 0, total: 0 }, x402Version: 2 });
  });

  it("searches by words, filters without them, and never shows more than 20", async () => {
    const found = await data("search?query=zebra+headcount");
    expect(found).toMatchObject({ searchMethod: "keyword", partialResults: false, x402Version: 2 });
    expect(names(found.resources).sort()).toEqual(["cent", "dollar"]);
    expect(names((await data("search?scheme=permit2-exact")).resources)).toEqual(["permit2"]);
    expect(names((await data("search?scheme=eip3009&query=")).resources)).toEqual(["eip3009"]);
    expect(await data("search?limit=3")).toMatchObject({ partialResults: true });
    expect(names((await data("search?limit=3")).resources)).toEqual(["tool", "unpriced", "eip3009"]);
  });

  it("has a maxUsdPrice that works: by each token's decimals, on one and the same offer, never guessed", async () => {
    expect(names((await data("search?maxUsdPrice=0.01")).resources)).toEqual(["base", "cent"]);
    expect(names((await data("search?maxUsdPrice=0.01&network=eip155:56")).resources)).toEqual(["cent"]);
    expect(names((await data("search?maxUsdPrice=0.0099")).resources)).toEqual([]);
    expect(names((await data("search?maxUsdPrice=1000000")).resources)).not.toContain("unpriced");
    expect(names((await data("search?query=zebra&maxUsdPrice=0.5")).resources)).toEqual(["cent"]);
  });

  it.each([
    ["resources?limit=0", "limit"],
    ["resources?limit=x", "limit"],
    ["resources?limit=1&limit=2", "limit"],
    ["resources?offset=-1", "offset"],
    ["merchant", "payTo"],
    ["merchant?payTo=me", "payTo"],
    ["search?network=bsc", "network"],
    ["search?asset=USDT", "asset"],
    ["search?scheme=EXACT", "scheme"],
    ["search?maxUsdPrice=cheap", "maxUsdPrice"],
    ["search?limit=1.5", "limit"],
    [`search?query=${"x".repeat(401)}`, "query"],
  ])("%s is HTTP 200 with code 000002 that names %s", async (path, parameter) => {
    expect(await get(`/bazaar/${path}`)).toEqual({
      status: 200,
      body: {
        code: "000002",
        message: "illegal parameter",
        messageDetail: expect.stringContaining(parameter),
        data: null,
        success: false,
      },
    });
  });
});

describe("an agent that buys by the enveloped face", () => {
  /** Decimals of tokens that it has seen carrying a price; what is not here it does not buy. */
  const DECIMALS: Record<string, number> = { [BSC_USDT.toLowerCase()]: 18, [BASE_USDC.toLowerCase()]: 6 };
  const PAYABLE_NETWORKS = ["eip155:56", "eip155:8453"];
  const PAYABLE_SCHEMES = ["exact", "eip3009", "permit2-exact", "permit2", "spl-transfer"];

  async function ask(path: string): Promise<Data> {
    const { status, body } = await get(path);
    if (status !== 200) throw new Error(`HTTP_${status}`);
    if (body.code !== "000000") throw new Error(`${body.code} ${body.message}`);
    return body.data as Data;
  }

  /** Price in micro-dollars of the cheapest option it can sign, in whole-number arithmetic; null: not for it. */
  function priceOf(resource: Json): bigint | null {
    if (resource.x402Version !== 2) return null;
    const prices = (resource.accepts as Json[])
      .filter(
        ({ network, scheme }) =>
          PAYABLE_NETWORKS.includes(`${network}`) && PAYABLE_SCHEMES.includes(`${scheme}`),
      )
      .flatMap(({ asset, maxAmountRequired }) => {
        const decimals = DECIMALS[`${asset}`.toLowerCase()];
        return decimals === undefined
          ? []
          : [(BigInt(`${maxAmountRequired}`) * 10n ** 6n) / 10n ** BigInt(decimals)];
      });
    return prices.reduce<bigint | null>(
      (least, price) => (least === null || price < least ? price : least),
      null,
    );
  }

  it("walks the whole catalogue page by page and prices every resource but the one in an unknown token", async () => {
    const all: Json[] = [];
    for (let offset = 0; ; offset += 3) {
      const page = await ask(`/bazaar/resources?limit=3&offset=${offset}`);
      all.push(...page.items);
      if (offset + 3 >= Number(page.pagination.total)) break;
    }
    const prices = Object.fromEntries(all.map((row) => [names([row])[0], priceOf(row)]));
    expect(prices).toEqual({
      tool: 30_000n,
      unpriced: null,
      eip3009: 20_000n,
      permit2: 20_000n,
      base: 10_000n,
      dollar: 1_000_000n,
      cent: 10_000n,
    });
  });

  it("finds with maxUsdPrice what it would have kept by its own filter", async () => {
    const everything = await ask("/bazaar/search?network=eip155:56");
    const own = everything.resources.filter((row) => (priceOf(row) ?? 10n ** 9n) <= 30_000n);
    const filtered = await ask("/bazaar/search?network=eip155:56&maxUsdPrice=0.03");
    expect(filtered.resources).toEqual(own);
    expect(own.length).toBe(4);
  });

  it("meets its own error on a parameter it got wrong", async () => {
    await expect(ask("/bazaar/search?maxUsdPrice=cheap")).rejects.toThrow("000002 illegal parameter");
  });
});
