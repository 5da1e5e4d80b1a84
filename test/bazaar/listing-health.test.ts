// C37: rank down and hide by dated rules, never by accident.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  afterProbe,
  GIVE_UP_AFTER_MS,
  HIDE_AFTER_MS,
  type ListingHealth,
  MISS_SPACING_MS,
  type ProbeFinding,
} from "../../src/bazaar/prober/listing-health.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 9, 1);

const NEW: ListingHealth = {
  state: "listed",
  hiddenReason: null,
  health: "unprobed",
  misses: 0,
  failingSinceMs: null,
  verifiedAtMs: null,
  lastProbeAtMs: null,
  nextProbeMs: 0,
};

/** The row after the same finding at each of these times. */
function repeated(row: ListingHealth, finding: ProbeFinding, ...timesMs: number[]): ListingHealth {
  return timesMs.reduce((before, nowMs) => afterProbe(before, finding, nowMs), row);
}

describe("C37: a listing's health", () => {
  it("is ok, verified and asked again after a day once its origin names an offer", () => {
    expect(afterProbe(NEW, "named", START_MS)).toEqual({
      state: "listed",
      hiddenReason: null,
      health: "ok",
      misses: 0,
      failingSinceMs: null,
      verifiedAtMs: START_MS,
      lastProbeAtMs: START_MS,
      nextProbeMs: START_MS + DAY_MS,
    });
  });

  it("fails from the third miss on, not before", () => {
    const two = repeated(NEW, "missed", START_MS, START_MS + HOUR_MS);
    expect(two).toMatchObject({ state: "listed", health: "unprobed", misses: 2, failingSinceMs: START_MS });
    const three = afterProbe(two, "missed", START_MS + 2 * HOUR_MS);
    expect(three).toMatchObject({ state: "listed", health: "failing", misses: 3, failingSinceMs: START_MS });
  });

  it("does not count misses that are one outage seen twice", () => {
    const row = repeated(NEW, "missed", START_MS, START_MS + 1_000, START_MS + MISS_SPACING_MS);
    expect(row).toMatchObject({ misses: 1, health: "unprobed" });
  });

  it("keeps the verified date through misses, and forgets them at the first proof of life", () => {
    const alive = afterProbe(NEW, "named", START_MS);
    const failing = repeated(
      alive,
      "missed",
      START_MS + DAY_MS,
      START_MS + 2 * DAY_MS,
      START_MS + 3 * DAY_MS,
    );
    expect(failing).toMatchObject({ health: "failing", verifiedAtMs: START_MS });
    expect(afterProbe(failing, "named", START_MS + 4 * DAY_MS)).toMatchObject({
      health: "ok",
      misses: 0,
      failingSinceMs: null,
      verifiedAtMs: START_MS + 4 * DAY_MS,
    });
  });

  it("is hidden as stale after thirty days without proof of life, not a moment earlier", () => {
    const failing = repeated(NEW, "missed", START_MS, START_MS + DAY_MS, START_MS + 2 * DAY_MS);
    const before = afterProbe(failing, "missed", START_MS + HIDE_AFTER_MS - 1);
    expect(before).toMatchObject({ state: "listed", health: "failing" });
    const hidden = afterProbe(before, "missed", START_MS + HIDE_AFTER_MS + MISS_SPACING_MS);
    expect(hidden).toMatchObject({ state: "hidden", hiddenReason: "stale" });
    expect(afterProbe(hidden, "named", START_MS + 40 * DAY_MS)).toMatchObject({
      state: "listed",
      hiddenReason: null,
      health: "ok",
    });
  });

  it("is not hidden by two misses a month apart: an outage is three", () => {
    expect(repeated(NEW, "missed", START_MS, START_MS + HIDE_AFTER_MS)).toMatchObject({
      state: "listed",
      misses: 2,
    });
  });

  it("is hidden at once when its origin denies it, and comes back when the origin names it again", () => {
    const alive = afterProbe(NEW, "named", START_MS);
    const hidden = afterProbe(alive, "denied", START_MS + DAY_MS);
    expect(hidden).toMatchObject({ state: "hidden", hiddenReason: "origin_mismatch" });
    expect(afterProbe(hidden, "missed", START_MS + 2 * DAY_MS)).toMatchObject({
      state: "hidden",
      hiddenReason: "origin_mismatch",
    });
    expect(afterProbe(hidden, "named", START_MS + 2 * DAY_MS)).toMatchObject({
      state: "listed",
      hiddenReason: null,
    });
  });

  it("is never asked again once nothing was alive for sixty days, nor where nothing may be asked", () => {
    const dead = repeated(NEW, "missed", START_MS, START_MS + DAY_MS, START_MS + 2 * DAY_MS);
    expect(afterProbe(dead, "missed", START_MS + GIVE_UP_AFTER_MS)).toMatchObject({ nextProbeMs: null });
    expect(afterProbe(NEW, "unprobeable", START_MS)).toMatchObject({
      state: "listed",
      health: "unprobed",
      nextProbeMs: null,
    });
  });

  it("whatever is found, an operator's decision stands", () => {
    const hidden: ListingHealth = { ...NEW, state: "hidden", hiddenReason: "operator" };
    for (const finding of ["named", "denied", "missed", "unprobeable"] as const) {
      expect(afterProbe(hidden, finding, START_MS)).toMatchObject({
        state: "hidden",
        hiddenReason: "operator",
      });
    }
  });

  it("holds its own rules for any order of findings", () => {
    const findings = fc.constantFrom<ProbeFinding>("named", "denied", "missed");
    const history = fc.array(fc.tuple(findings, fc.integer({ min: 1, max: 10 * DAY_MS })), { maxLength: 60 });
    fc.assert(
      fc.property(history, (steps) => {
        let row = NEW;
        let nowMs = START_MS;
        for (const [finding, waitMs] of steps) {
          nowMs += waitMs;
          row = afterProbe(row, finding, nowMs);
          expect(row.state === "hidden").toBe(row.hiddenReason !== null);
          if (finding === "named") expect(row).toMatchObject({ state: "listed", health: "ok", misses: 0 });
          if (row.health === "ok") expect(row.misses).toBeLessThan(3);
          if (row.nextProbeMs !== null) expect(row.nextProbeMs).toBeGreaterThan(nowMs);
          if (row.hiddenReason === "stale")
            expect(nowMs - (row.failingSinceMs ?? nowMs)).toBeGreaterThanOrEqual(HIDE_AFTER_MS);
        }
      }),
    );
  });
});
