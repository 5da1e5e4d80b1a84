// The tables that a run prints.

import type { SearchableFigures } from "./searchable.ts";
import type { SettleFigures } from "./settle.ts";
import { nameOf, ratiosOf, rounded, type Target } from "./targets.ts";
import type { VerifyReport } from "./verify.ts";

export function printVerify(report: VerifyReport): void {
  console.log("\nVerify");
  console.table(
    report.figures.map(({ contestant, delayMs, callers, withBlock, perSecond, ms, ...rest }) => ({
      contestant,
      "delay ms": delayMs,
      callers,
      block: withBlock ? "with" : "without",
      "per second": Math.round(perSecond),
      p50: rounded(ms.p50),
      p95: rounded(ms.p95),
      p99: rounded(ms.p99),
      "RPC requests": rounded(rest.rpcRequestsPerVerify),
      "RPC calls": rounded(rest.rpcCallsPerVerify),
      "CPU ms": rounded(rest.cpuMsPerVerify),
      errors: inWords(rest.reasons),
    })),
  );
  console.log(
    `An empty Worker answers the same bodies ${Math.round(report.emptyWorkerPerSecond)} times a second.`,
  );
  console.log("RPC requests for one verify:", report.souksRoundTrips);
  console.log("Souk and the reference:", ratiosOf(report));
}

export function printSettles(figures: readonly SettleFigures[]): void {
  console.log("\nSettle");
  console.table(
    figures.map((row) => ({
      what: nameOf(row),
      contestant: row.contestant,
      succeeded: row.succeeded,
      errors: inWords(row.reasons),
      "per second": rounded(row.perSecond),
      p50: Math.round(row.ms.p50),
      p95: Math.round(row.ms.p95),
      p99: Math.round(row.ms.p99),
      "RPC requests": rounded(row.rpcRequestsPerSettle),
      "RPC calls": rounded(row.rpcCallsPerSettle),
      "CPU ms": rounded(row.cpuMsPerSettle),
      transactions: row.transactions,
      reverted: row.reverted,
      "gas per success": Math.round(row.gasPerSuccess),
    })),
  );
}

export function printSearchable({ settles, lost, ms }: SearchableFigures): void {
  console.log(`\nFrom settled to searchable, ms: ${settles} resources, ${lost} of them never found`);
  console.table([Object.fromEntries(Object.entries(ms).map(([name, value]) => [name, Math.round(value)]))]);
}

export function printTargets(targets: readonly Target[]): void {
  console.log("\nTargets");
  console.table(
    targets.map(({ what, target, measured, isMet }) => ({
      what,
      target,
      measured,
      "": isMet ? "met" : "MISSED",
    })),
  );
}

function inWords(reasons: Record<string, number>): string {
  return Object.entries(reasons)
    .map(([reason, times]) => `${times} ${reason}`)
    .join(", ");
}
