// A price in dollars comes from the token table or not at all.

import { describe, expect, it } from "vitest";
import { priceInUsdMicros } from "../../src/payments/dollar-price.ts";

const none = new Map();
const price = (network: string, asset: string, amount: bigint) =>
  priceInUsdMicros(none, network, asset, amount);

describe("a price in millionths of a dollar", () => {
  it("knows the decimals of each network's token", () => {
    expect(price("eip155:8453", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 10_000n)).toBe(10_000);
    expect(price("eip155:56", "0x55d398326f99059ff775485246999027b3197955", 10_000_000_000_000_000n)).toBe(
      10_000,
    );
    expect(
      price(
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        10_000n,
      ),
    ).toBe(10_000);
  });

  it("rounds up, so that nothing looks cheaper than it is", () => {
    const usdt = "0x55d398326f99059fF775485246999027B3197955";
    expect(price("eip155:56", usdt, 1n)).toBe(1);
    expect(price("eip155:56", usdt, 1_000_000_000_000n)).toBe(1);
    expect(price("eip155:56", usdt, 1_000_000_000_001n)).toBe(2);
    expect(price("eip155:56", usdt, 0n)).toBe(0);
  });

  it("guesses nothing: another token, another network, another case of base58, a sum beyond exact numbers", () => {
    const usdc = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    expect(price("eip155:8453", "0x0000000000000000000000000000000000000001", 1n)).toBeNull();
    expect(price("eip155:1", usdc, 1n)).toBeNull();
    expect(
      price("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "epjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 1n),
    ).toBeNull();
    expect(price("eip155:8453", usdc, 2n ** 255n)).toBeNull();
  });

  it("believes the operator's token list before the described one", () => {
    const served = new Map([["eip155:8453", { tokens: [] }]]);
    expect(
      priceInUsdMicros(served, "eip155:8453", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 1n),
    ).toBeNull();
  });
});
