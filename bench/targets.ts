// What the figures of one run say about the targets, and the ratios that the last line of `--json` holds. Pure.

import type { SearchableFigures } from "./searchable.ts";
import type { SettleFigures } from "./settle.ts";
import type { VerifyFigures, VerifyReport } from "./verify.ts";

export interface VerifyRatios {
  /** Souk's verifies per second over the reference's; no delay, 32 callers. */
  throughputRatio: number;
  /** The same of CPU time per verify: what is left of the ratio on a machine that others use, too. */
  cpuRatio: number;
  /** The reference's p50 over Souk's; 20 ms delay, one caller. */
  p50RatioAt20ms: number;
  /** Souk's verifies per second without a bazaar block over those with one; no delay, 32 callers. */
  bazaarCost: number;
  /** HTTP requests to the node for one verify, of the way to pay that needs most. */
  rpcRoundTrips: number;
}

export function ratiosOf({ figures, souksRoundTrips }: VerifyReport): VerifyRatios {
  const souk = (delayMs: number, callers: number, withBlock = false) =>
    find(figures, "souk", delayMs, callers, withBlock);
  const reference = (delayMs: number, callers: number) => find(figures, "reference", delayMs, callers, false);
  return {
    throughputRatio: ratio(souk(0, 32)?.perSecond, reference(0, 32)?.perSecond),
    cpuRatio: ratio(reference(0, 32)?.cpuMsPerVerify, souk(0, 32)?.cpuMsPerVerify),
    p50RatioAt20ms: ratio(reference(20, 1)?.ms.p50, souk(20, 1)?.ms.p50),
    bazaarCost: ratio(souk(0, 32)?.perSecond, souk(0, 32, true)?.perSecond),
    rpcRoundTrips: Math.max(...Object.values(souksRoundTrips)),
  };
}

export function find(
  figures: readonly VerifyFigures[],
  contestant: string,
  delayMs: number,
  callers: number,
  withBlock: boolean,
): VerifyFigures | undefined {
  return figures.find(
    (row) =>
      row.contestant === contestant &&
      row.delayMs === delayMs &&
      row.callers === callers &&
      row.withBlock === withBlock,
  );
}

export interface Target {
  what: string;
  target: string;
  measured: number;
  isMet: boolean;
}

export function verifyTargets(report: VerifyReport): Target[] {
  const { throughputRatio, p50RatioAt20ms, bazaarCost, rpcRoundTrips } = ratiosOf(report);
  const p50 = (callers: number) => find(report.figures, "souk", 20, callers, false)?.ms.p50 ?? Number.NaN;
  return [
    atMost("verify: round trips, every way to pay", rpcRoundTrips, 1),
    atMost("verify: p50 at 20 ms delay, 1 caller, ms", p50(1), 26),
    atMost("verify: p50 at 20 ms delay, 4 callers, ms", p50(4), 26),
    atLeast("verify: times faster than the reference at 20 ms", p50RatioAt20ms, 2.5),
    atLeast("verify: times the reference's throughput", throughputRatio, 5),
    atMost("verify: times the cost with a bazaar block", bazaarCost, 1.2),
  ];
}

/** The relayer's one loop asks this often while anyone waits. */
const POLLS_PER_SECOND = 4;

/** Times are whole blocks, so that fewer settles say nothing about a rate. */
const SETTLES_FOR_A_RATE = 1_000;

export function settleTargets(figures: readonly SettleFigures[]): Target[] {
  const souks = figures.filter(({ contestant }) => contestant === "souk");
  return souks.flatMap((row): Target[] => {
    const { settles, concurrency, blockTimeSeconds, succeeded, perSecond, ms, seconds } = row;
    const name = nameOf(row);
    if (row.isOnePayment) {
      return [
        atMost(`${name}: transactions`, row.transactions, 1),
        atMost(`${name}: reverted`, row.reverted, 0),
        atMost(`${name}: successes`, succeeded, 1),
      ];
    }
    const failed = atMost(`${name}: failed`, settles - succeeded, 0);
    if (blockTimeSeconds === null) return [failed];
    if (concurrency <= 20) return [failed, atMost(`${name}: p50, s`, ms.p50 / 1_000, blockTimeSeconds + 0.3)];
    if (settles < SETTLES_FOR_A_RATE) return [failed];
    const withoutPolls = row.rpcRequestsPerSettle - (POLLS_PER_SECOND * seconds) / settles;
    return [
      failed,
      atLeast(`${name}: per second`, perSecond, 80),
      atMost(`${name}: p99, blocks`, ms.p99 / 1_000 / blockTimeSeconds, 1.3),
      atMost(`${name}: RPC requests each, without the shared poll`, withoutPolls, 1.5),
    ];
  });
}

/** What bench/search.ts and bench/gateway.ts say in their last lines, as far as targets need it. */
export interface SearchFigures {
  listings: number;
  ms: { p95InWorker: number };
}

export interface GatewayFigures {
  paidCallsPerSecond: number;
  challengesPerSecond: number;
}

export function searchableTargets({ settles, lost, ms }: SearchableFigures): Target[] {
  const name = `settled to searchable, ${settles} resources`;
  return [atMost(`${name}: never found`, lost, 0), atMost(`${name}: p95, s`, ms.p95 / 1_000, 3)];
}

const SEARCH_TARGET_LISTINGS = 25_000;

export function searchTargets(figures: readonly SearchFigures[]): Target[] {
  return figures
    .filter(({ listings }) => listings === SEARCH_TARGET_LISTINGS)
    .map(({ listings, ms }) =>
      atMost(`search over ${listings} listings: p95 in the Worker, ms`, ms.p95InWorker, 15),
    );
}

export function gatewayTargets({ paidCallsPerSecond, challengesPerSecond }: GatewayFigures): Target[] {
  return [
    atLeast("gateway: challenges per second", challengesPerSecond, 1_500),
    atLeast("gateway: authorize and complete, per second", paidCallsPerSecond, 200),
  ];
}

export function nameOf({ settles, concurrency, blockTimeSeconds, isOnePayment }: SettleFigures): string {
  if (isOnePayment) return `${settles} identical settles at once`;
  const blocks = blockTimeSeconds === null ? "instant blocks" : `${blockTimeSeconds} s blocks`;
  return `${settles} settles, ${concurrency} at a time, ${blocks}`;
}

function atMost(what: string, measured: number, limit: number): Target {
  return { what, target: `<= ${limit}`, measured: rounded(measured), isMet: measured <= limit };
}

function atLeast(what: string, measured: number, limit: number): Target {
  return { what, target: `>= ${limit}`, measured: rounded(measured), isMet: measured >= limit };
}

function ratio(over: number | undefined, under: number | undefined): number {
  return rounded((over ?? Number.NaN) / (under ?? Number.NaN));
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
