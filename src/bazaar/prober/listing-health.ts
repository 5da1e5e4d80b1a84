// What one probe does to a listing's health and visibility, by dates. A pure function of what stands in the row, what
// the probe found and the time: nothing happens by accident, and the same row and finding always end the same way.

/**
 * - `named`: the origin's 402 names at least one of the listing's offers.
 * - `denied`: its 402 can be read and names none of them.
 * - `missed`: no readable 402: unreachable, slow, another status, a redirect elsewhere.
 * - `unprobeable`: the target or its method is never asked.
 */
export type ProbeFinding = "named" | "denied" | "missed" | "unprobeable";

export type HiddenReason = "origin_mismatch" | "stale" | "delisted" | "operator";

/** The columns of `listings` that a probe decides. */
export interface ListingHealth {
  state: "listed" | "hidden";
  hiddenReason: HiddenReason | null;
  health: "ok" | "failing" | "unprobed";
  /** Consecutive misses that counted. */
  misses: number;
  /** Since when no probe found the listing alive. */
  failingSinceMs: number | null;
  /** When the origin last named an offer of this listing. */
  verifiedAtMs: number | null;
  lastProbeAtMs: number | null;
  /** null: not before something changes. */
  nextProbeMs: number | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Ranked down from the third miss on: one restart or deploy of a seller's server must not cost a place. */
export const MISSES_TO_FAIL = 3;
/** Misses closer together than this are one outage seen twice. */
export const MISS_SPACING_MS = HOUR_MS / 2;
/** Hidden once nothing was alive for this long. */
export const HIDE_AFTER_MS = 30 * DAY_MS;
/** Asked no more after this long; a payment, a claim or an operator starts it again. */
export const GIVE_UP_AFTER_MS = 60 * DAY_MS;

const AGAIN_WHEN_ALIVE_MS = DAY_MS;
/** While it is open whether an outage is one. */
const AGAIN_AFTER_MISS_MS = HOUR_MS;
const AGAIN_WHEN_FAILING_MS = 6 * HOUR_MS;
const AGAIN_WHEN_HIDDEN_MS = DAY_MS;

/** The row after a probe that ended at `nowMs`. An operator's decision is never undone here. */
export function afterProbe(before: ListingHealth, finding: ProbeFinding, nowMs: number): ListingHealth {
  const probed = { ...before, lastProbeAtMs: nowMs };
  const after = decide(probed, before.lastProbeAtMs, finding, nowMs);
  return before.hiddenReason === "operator"
    ? { ...after, state: "hidden", hiddenReason: "operator", nextProbeMs: null }
    : after;
}

function decide(
  row: ListingHealth,
  previousProbeMs: number | null,
  finding: ProbeFinding,
  nowMs: number,
): ListingHealth {
  switch (finding) {
    case "named":
      return {
        ...row,
        state: "listed",
        hiddenReason: null,
        health: "ok",
        misses: 0,
        failingSinceMs: null,
        verifiedAtMs: nowMs,
        nextProbeMs: nowMs + AGAIN_WHEN_ALIVE_MS,
      };
    case "denied": {
      const failingSinceMs = row.failingSinceMs ?? nowMs;
      return {
        ...row,
        state: "hidden",
        hiddenReason: row.hiddenReason === "delisted" ? "delisted" : "origin_mismatch",
        health: "failing",
        misses: 0,
        failingSinceMs,
        nextProbeMs: unlessGivenUp(failingSinceMs, nowMs, AGAIN_WHEN_HIDDEN_MS),
      };
    }
    case "missed":
      return afterMiss(row, previousProbeMs, nowMs);
    case "unprobeable":
      return { ...row, nextProbeMs: null };
  }
}

function afterMiss(row: ListingHealth, previousProbeMs: number | null, nowMs: number): ListingHealth {
  const counts = row.misses === 0 || previousProbeMs === null || nowMs - previousProbeMs >= MISS_SPACING_MS;
  const misses = row.misses + (counts ? 1 : 0);
  const failingSinceMs = row.failingSinceMs ?? nowMs;
  const isFailing = row.health === "failing" || misses >= MISSES_TO_FAIL;
  const isStale = isFailing && nowMs - failingSinceMs >= HIDE_AFTER_MS;
  const hides = isStale && row.state === "listed";
  const state = hides ? "hidden" : row.state;
  const againMs =
    state === "hidden" ? AGAIN_WHEN_HIDDEN_MS : isFailing ? AGAIN_WHEN_FAILING_MS : AGAIN_AFTER_MISS_MS;
  return {
    ...row,
    state,
    hiddenReason: hides ? "stale" : row.hiddenReason,
    health: isFailing ? "failing" : row.health,
    misses,
    failingSinceMs,
    nextProbeMs: unlessGivenUp(failingSinceMs, nowMs, againMs),
  };
}

function unlessGivenUp(failingSinceMs: number, nowMs: number, againMs: number): number | null {
  return nowMs - failingSinceMs >= GIVE_UP_AFTER_MS ? null : nowMs + againMs;
}
