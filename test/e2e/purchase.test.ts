// The whole path with published clients: `@x402/fetch` pays `@x402/express`, which asks the built bundle to verify and
// settle on a real chain; then `withBazaar` finds what was paid for.

import { HTTPFacilitatorClient } from "@x402/core/http";
import { type DiscoveryResource, withBazaar } from "@x402/extensions/bazaar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allowPermit2, makeBuyer, usdcOf } from "../../scripts/demo/buyer.ts";
import {
  AIR_QUALITY,
  CONVERSION,
  DEMO_RESOURCES,
  type DemoResource,
  type PaymentMethod,
  TRANSLATION,
  UNIT_TOOL,
  WEATHER,
} from "../../scripts/demo/resources.ts";
import { type ListingStatus, type Seller, type SellerEvent, startSeller } from "../../scripts/demo/seller.ts";
import { BUYER, SELLER } from "../../scripts/local-variables.ts";
import { receiptOf } from "../support/chain.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let seller: Seller;
let events: SellerEvent[];

beforeAll(async () => {
  world = await startTestWorld();
  seller = await startSeller({
    facilitatorUrl: world.url,
    port: 0,
    onEvent: (event) => events.push(event),
  });
  await allowPermit2(world.rpcUrl, BUYER);
});
afterAll(async () => {
  await seller?.stop();
  await world?.stop();
});

const PURCHASES = DEMO_RESOURCES.flatMap((resource) =>
  (["eip3009", "permit2"] as const).map((method) => ({ resource, method, route: resource.route })),
);

describe("a purchase", () => {
  it.each(PURCHASES)(
    "of $route by $method moves exactly the price to the seller",
    async ({ resource, method }) => {
      const before = await usdcOf(world.rpcUrl, SELLER.address);
      const { purchase, listing } = await buy(resource, method);
      expect(purchase.status).toBe(200);
      expect(await usdcOf(world.rpcUrl, SELLER.address)).toBe(before + resource.priceAtomic);
      expect((await receiptOf(world.rpcUrl, purchase.transaction as `0x${string}`)).status).toBe("0x1");
      expect(["processing", "success"]).toContain(listing?.status);
    },
  );

  it("answers what was bought", async () => {
    expect((await buy(WEATHER, "eip3009")).purchase.body).toEqual({ city: "Oslo", celsius: 7 });
    expect((await buy(TRANSLATION, "permit2")).purchase.body).toEqual({ text: "god morgen" });
    expect((await buy(AIR_QUALITY, "eip3009")).purchase.body).toEqual({ city: "bergen", index: 18 });
    expect((await buy(CONVERSION, "permit2")).purchase.body).toMatchObject({
      result: { content: [{ type: "text", text: expect.stringMatching(/^1\.86/) }] },
    });
  });
});

describe("the listing", () => {
  it("is processing after a resource's first settle and success after a later one", async () => {
    // A seller whom nobody has paid yet: another port is another resource.
    const newcomer = await startSeller({
      facilitatorUrl: world.url,
      port: 0,
      onEvent: (event) => events.push(event),
    });
    try {
      const first = await buy(WEATHER, "eip3009", newcomer);
      expect(first.listing).toMatchObject({ status: "processing", id: expect.any(String) });
      expect(await endOfObservation(first.listing?.id ?? "")).toMatchObject({
        status: "success",
        resource: `${newcomer.url}/weather`,
      });
      const later = await buy(WEATHER, "eip3009", newcomer);
      expect(later.listing).toEqual({ status: "success" });
    } finally {
      await newcomer.stop();
    }
  });

  it("is found by listResources, four resources separate", async () => {
    await Promise.all(DEMO_RESOURCES.map((resource) => findBySearch(resource)));
    const { items, pagination } = await bazaar().listResources({ payTo: SELLER.address, limit: 100 });
    const ours = items.filter(({ resource }) => resource.startsWith(seller.url));
    expect(pagination.total).toBe(items.length);
    expect(ours.map(identity).sort()).toEqual(
      [
        `http GET ${seller.url}/cities/:city/air-quality`,
        `http GET ${seller.url}/weather`,
        `http POST ${seller.url}/translations`,
        `mcp ${UNIT_TOOL.name} ${seller.url}/mcp`,
      ].sort(),
    );
    for (const item of ours) expect(amounts(item)).toEqual([priceOf(item)]);
  });

  it.each(DEMO_RESOURCES)("of $route is found by search", async (resource) => {
    const found = await findBySearch(resource);
    expect(found.description).toBe(resource.listing.description);
    expect(found.serviceName).toBe(resource.listing.serviceName);
    expect(found.tags).toEqual(resource.listing.tags);
    expect(found.extensions?.bazaar).toMatchObject({ info: { input: expect.any(Object) } });
  });
});

/** Buys once, and answers what buyer and seller were told. */
async function buy(resource: DemoResource, method: PaymentMethod, from: Seller = seller) {
  events = [];
  const purchase = await makeBuyer(BUYER, method).buy(from.url, resource);
  const settled = events.find((event) => event.kind === "settled");
  expect(
    events.map((event) => event.kind),
    JSON.stringify(events),
  ).toEqual(["verified", "settled"]);
  return { purchase, listing: settled?.listing as ListingStatus | undefined };
}

function bazaar() {
  return withBazaar(new HTTPFacilitatorClient({ url: world.url })).extensions.bazaar;
}

const LISTING_TIMEOUT_MS = 20_000;

async function findBySearch(resource: DemoResource): Promise<DiscoveryResource> {
  return eventually(async () => {
    const { resources } = await bazaar().search({ query: resource.searchFor });
    return resources.find(
      (found) => found.resource.startsWith(seller.url) && found.description === resource.listing.description,
    );
  });
}

/** Every `processing` ends in a state that anyone can look up. */
async function endOfObservation(id: string): Promise<unknown> {
  return eventually(async () => {
    const response = await fetch(`${world.url}/discovery/observations/${id}`);
    const observation = (await response.json()) as { status: string };
    return response.status === 200 && observation.status !== "processing" ? observation : undefined;
  });
}

async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  const deadline = Date.now() + LISTING_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing within ${LISTING_TIMEOUT_MS} ms`);
}

interface Listed extends DiscoveryResource {
  method?: string;
  toolName?: string;
}

function identity(item: Listed): string {
  return `${item.type} ${item.toolName ?? item.method} ${item.resource}`;
}

function amounts(item: Listed): string[] {
  return [...new Set(item.accepts.map(({ amount }) => amount))];
}

function priceOf(item: Listed): string | undefined {
  return DEMO_RESOURCES.find(
    ({ listing }) => listing.description === item.description,
  )?.priceAtomic.toString();
}
