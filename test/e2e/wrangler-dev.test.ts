// The path for writing code: one purchase through `wrangler dev`, whose runtime and proxy are not Miniflare's.

import { afterAll, beforeAll, expect, it } from "vitest";
import { makeBuyer, usdcOf } from "../../scripts/demo/buyer.ts";
import { WEATHER } from "../../scripts/demo/resources.ts";
import { type Seller, startSeller } from "../../scripts/demo/seller.ts";
import { BUYER, SELLER } from "../../scripts/local-variables.ts";
import { startWranglerDev } from "../../scripts/worker/wrangler-dev.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let seller: Seller;

beforeAll(async () => {
  world = await startTestWorld({ launch: startWranglerDev });
  seller = await startSeller({ facilitatorUrl: world.url, port: 0 });
});
afterAll(async () => {
  await seller?.stop();
  await world?.stop();
});

it("a published client pays a published server through wrangler dev", async () => {
  const before = await usdcOf(world.rpcUrl, SELLER.address);
  const purchase = await makeBuyer(BUYER, "eip3009").buy(seller.url, WEATHER);
  expect(purchase).toMatchObject({ status: 200, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(await usdcOf(world.rpcUrl, SELLER.address)).toBe(before + WEATHER.priceAtomic);
});
