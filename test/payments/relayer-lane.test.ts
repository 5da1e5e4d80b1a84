// The rules of a relayer's lane: nonces never fall back, fees only rise and within bounds, receipts count from 1.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  areCredible,
  costGwei,
  depthOf,
  feesFor,
  finalHeight,
  gapBelow,
  gasLimitFor,
  isAffordable,
  isOutbid,
  isStuck,
  nextNonce,
  raiseFees,
  retryDelayMs,
} from "../../src/payments/evm/relayer/relayer-lane.ts";

const wei = (max: bigint) => fc.bigInt({ min: 0n, max });
const gwei = 10n ** 9n;

describe("fees", () => {
  it("offers twice the base fee and the tip", () => {
    expect(feesFor(5n * gwei, gwei)).toEqual({ maxFeePerGas: 11n * gwei, maxPriorityFeePerGas: gwei });
  });

  it("raises both fees by an eighth at least, to what is offered now at least, and never past ten times that", () => {
    const fees = fc.tuple(wei(10n ** 13n), wei(10n ** 12n)).map(([base, tip]) => feesFor(base, tip));
    fc.assert(
      fc.property(fees, fees, (previous, suggested) => {
        const raised = raiseFees(previous, suggested);
        const ceiling = 10n * (suggested.maxFeePerGas > 1n ? suggested.maxFeePerGas : 1n);
        if (raised === null) {
          expect(previous.maxFeePerGas * 9n + 8n).toBeGreaterThan(ceiling * 8n - 8n);
          return;
        }
        expect(raised.maxFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxFeePerGas * 9n);
        expect(raised.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxPriorityFeePerGas * 9n);
        expect(raised.maxFeePerGas).toBeGreaterThanOrEqual(suggested.maxFeePerGas);
        expect(raised.maxFeePerGas).toBeLessThanOrEqual(ceiling);
        expect(raised.maxFeePerGas).toBeGreaterThanOrEqual(raised.maxPriorityFeePerGas);
      }),
    );
  });

  it("calls a transaction outbid once it offers less than half of a new one", () => {
    const suggested = feesFor(100n, 0n);
    expect(isOutbid({ maxFeePerGas: 99n, maxPriorityFeePerGas: 0n }, suggested)).toBe(true);
    expect(isOutbid({ maxFeePerGas: 100n, maxPriorityFeePerGas: 0n }, suggested)).toBe(false);
  });
});

describe("gas", () => {
  it("adds a fifth to the estimate, stops at the cap, and refuses what the cap cannot hold", () => {
    expect(gasLimitFor(100_000n, 200_000n)).toBe(120_000n);
    expect(gasLimitFor(190_000n, 200_000n)).toBe(200_000n);
    expect(gasLimitFor(200_000n, 200_000n)).toBe(200_000n);
    expect(gasLimitFor(200_001n, 200_000n)).toBeNull();
  });

  it("counts what a transaction may cost in gwei, rounded up", () => {
    expect(costGwei(100_000n, feesFor(gwei / 2n, 0n))).toBe(100_000);
    expect(costGwei(1n, { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n })).toBe(1);
  });

  it("affords what the balance carries on top of what is promised, to the gwei", () => {
    expect(isAffordable(30n * gwei, 20, 10)).toBe(true);
    expect(isAffordable(30n * gwei - 1n, 20, 10)).toBe(false);
    expect(isAffordable(0n, 0, 1)).toBe(false);
  });
});

describe("nonces", () => {
  it("never gives a nonce twice and never one that the chain or its pool holds", () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, (stored, mined, pending) => {
        const nonce = nextNonce(stored, { mined, pending });
        expect(nonce).toBeGreaterThanOrEqual(stored);
        expect(nonce).toBeGreaterThanOrEqual(mined);
        expect(nonce).toBeGreaterThanOrEqual(pending);
        expect([stored, mined, pending]).toContain(nonce);
      }),
    );
  });

  it("does not believe a pool with ten thousand strangers in front of us", () => {
    expect(areCredible({ mined: 7, pending: 7 })).toBe(true);
    expect(areCredible({ mined: 7, pending: 10_007 })).toBe(true);
    expect(areCredible({ mined: 7, pending: 10_008 })).toBe(false);
  });

  it("mends a gap from its lowest nonce, sixteen at a time, and sees none where there is none", () => {
    expect(gapBelow(7, 5)).toEqual([5, 6]);
    expect(gapBelow(100, 5)).toEqual(Array.from({ length: 16 }, (_, index) => 5 + index));
    expect(gapBelow(5, 5)).toEqual([]);
    expect(gapBelow(5, 9)).toEqual([]);
  });
});

describe("waiting", () => {
  it("tries again after 0.5, 1, 2, 4, 8 and then always 8 seconds", () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(retryDelayMs)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  });

  it("calls a transaction stuck only when time and blocks have passed", () => {
    const slot = { nonce: 1, acceptedAtMs: 1_000, acceptedHeight: 10 };
    expect(isStuck(slot, 13, 31_000)).toBe(true);
    expect(isStuck(slot, 13, 30_999)).toBe(false);
    expect(isStuck(slot, 12, 3_600_000)).toBe(false);
  });
});

describe("depth and finality", () => {
  it("counts the receipt's own block, and a receipt younger than the known head as mined", () => {
    expect(depthOf(10, 10)).toBe(1);
    expect(depthOf(10, 12)).toBe(3);
    expect(depthOf(11, 10)).toBe(1);
    expect(depthOf(10, null)).toBe(1);
  });

  it("takes the network's distance where it states one, else the node's finalized block", () => {
    expect(finalHeight(0, 100, null)).toBe(100);
    expect(finalHeight(30, 100, 99)).toBe(70);
    expect(finalHeight(null, 100, 64)).toBe(64);
    expect(finalHeight(null, 100, null)).toBeNull();
  });
});
