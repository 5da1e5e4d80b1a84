// Prices as they are shown: exact, in dollars where the token is known, and never guessed.

import { describe, expect, it } from "vitest";
import type { ShownListing } from "../../src/bazaar/catalog/catalog-read-store.ts";
import {
  cheapest,
  custodialPrice,
  dollarsText,
  minorText,
  pricedOffers,
} from "../../src/http/listing-price.ts";
import { USDC } from "../support/bazaar.ts";

function aListing(
  offers: { amount?: string; network?: string; asset?: string; scheme?: string; usd: number | null }[],
) {
  const requirements = offers.map(
    ({ amount = "10000", network = "eip155:84532", asset = USDC, scheme = "exact" }) => ({
      ...{ amount, network, asset, scheme, payTo: "0x1", extra: {} },
    }),
  );
  return {
    resource: { accepts: requirements },
    offers: offers.map(({ usd }) => ({ usd_micros: usd })),
  } as unknown as ShownListing;
}

it("writes dollars with at least cents and at most millionths", () => {
  const texts = [0, 1, 9_999, 10_000, 12_500, 1_000_000, 1_500_000, 1_234_567_890_123].map(dollarsText);
  expect(texts).toEqual(["0.00", "0.000001", "0.009999", "0.01", "0.0125", "1.00", "1.50", "1234567.890123"]);
});

describe("offers", () => {
  it("shows the amount of a known token in its unit, of any other in atomic units, and of nonsense nothing", () => {
    const bsc = { network: "eip155:56", asset: "0x55d398326f99059fF775485246999027B3197955" };
    const listing = aListing([
      { amount: "10000", usd: 10_000 },
      { ...bsc, amount: "10000000000000000", usd: 10_000 },
      { asset: "0x2", amount: "5", usd: null },
      { amount: "1e3", usd: null },
    ]);
    const offers = pricedOffers(listing, new Map());
    expect(offers.map(({ amountText }) => amountText)).toEqual([
      "0.01 USDC",
      "0.01 USDT",
      "5 atomic units",
      "unknown amount",
    ]);
    expect(offers.map(({ networkName }) => networkName).slice(0, 2)).toEqual([
      "Base Sepolia",
      "BNB Smart Chain",
    ]);
  });

  it("takes the cheapest in dollars, not the smallest amount, and none where nothing has a price", () => {
    const offers = pricedOffers(
      aListing([{ usd: null, amount: "1" }, { usd: 30_000 }, { usd: 20_000, scheme: "upto" }]),
      new Map(),
    );
    expect(cheapest(offers)).toMatchObject({ usdMicros: 20_000, isCeiling: true });
    expect(cheapest(offers.slice(0, 1))).toBeUndefined();
  });
});

it("reads a capability's price from its extension, and nothing from one that is not whole", () => {
  const whole = {
    capabilityId: "cap_1",
    amountMinor: "25",
    currency: "USD",
    challengeUrl: "https://a.test/c",
  };
  const of = (value: unknown) => custodialPrice({ extensions: { "zanora.dev/x402": value } } as never);
  const price = of(whole);
  expect(price && minorText(price)).toBe("0.25 USD");
  for (const broken of [null, [], "x", {}, { ...whole, amountMinor: "1.5" }, { ...whole, challengeUrl: 1 }]) {
    expect(of(broken)).toBeUndefined();
  }
});
