// `npm run bench`: Souk's built bundle and the reference facilitator side by side, on chains from one state, with the
// same signed payments, in one run. Figures of one machine mean little; the ratios are the result.
//
//   --quick        fewer settings, shorter; under two minutes
//   --only PARTS   some of verify,settle,searchable,search,gateway; default all
//   --listings N   search over this many only; a whole run takes 25,000 and 250,000, which fills for ten minutes and more
//   --json         one line of JSON at the end
//
// A run that is not quick also writes its parts into bench/results.json and draws docs/bench.svg from what stands there:
// the parts that it leaves out keep their earlier figures.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildBundle, PROJECT_ROOT } from "../scripts/build.ts";
import { drawChart } from "./chart.ts";
import { printSearchable, printSettles, printTargets, printVerify } from "./report.ts";
import { runScript } from "./run-script.ts";
import { measureSearchable, type SearchableFigures } from "./searchable.ts";
import { measureSettles, type SettleFigures, type SettleRun } from "./settle.ts";
import {
  type GatewayFigures,
  gatewayTargets,
  ratiosOf,
  type SearchFigures,
  searchableTargets,
  searchTargets,
  settleTargets,
  type VerifyRatios,
  verifyTargets,
} from "./targets.ts";
import { measureVerify, type VerifyPlan, type VerifyReport, type VerifySetting } from "./verify.ts";

export interface Results {
  machine: string;
  /** When each part was measured. */
  takenAt: Record<string, string>;
  verify?: VerifyReport & { ratios: VerifyRatios };
  settle?: SettleFigures[];
  searchable?: SearchableFigures;
  search?: SearchFigures[];
  gateway?: GatewayFigures;
}

const PARTS = ["verify", "settle", "searchable", "search", "gateway"];

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: PARTS.join(",") },
    listings: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const parts = options.only.split(",");
const plan = options.quick ? quickPlan() : fullPlan();

await buildBundle();
const [{ model = "unknown" } = {}] = cpus();
const nowText = new Date().toISOString();
const results: Results = {
  machine: `${model}, ${cpus().length} cores`,
  takenAt: Object.fromEntries(parts.map((part) => [part, nowText])),
};
if (parts.includes("verify")) {
  const report = await measureVerify(plan.verify);
  results.verify = { ...report, ratios: ratiosOf(report) };
  printVerify(report);
}
if (parts.includes("settle")) {
  results.settle = [];
  for (const run of plan.settles) results.settle.push(...(await measureSettles(run)));
  printSettles(results.settle);
}
if (parts.includes("searchable")) {
  results.searchable = await measureSearchable(plan.searchableSettles);
  printSearchable(results.searchable);
}
if (parts.includes("search")) {
  results.search = [];
  for (const listings of options.listings === undefined ? plan.listings : [options.listings]) {
    console.log(`\nSearch over ${listings} listings`);
    results.search.push(await runScript("search.ts", ["--listings", listings, ...plan.searchArgs]));
  }
}
if (parts.includes("gateway")) {
  console.log("\nGateway");
  results.gateway = await runScript("gateway.ts", plan.gatewayArgs);
}
printTargets([
  ...(results.verify ? verifyTargets(results.verify) : []),
  ...settleTargets(results.settle ?? []),
  ...(results.searchable ? searchableTargets(results.searchable) : []),
  ...searchTargets(results.search ?? []),
  ...(results.gateway ? gatewayTargets(results.gateway) : []),
]);

if (!options.quick) keep(results);
if (options.json) {
  const { verify, settle, searchable, search, gateway } = results;
  console.log(JSON.stringify({ verify: verify?.ratios, settle, searchable, search, gateway }));
}
process.exit(0);

function keep(measured: Results): void {
  const path = join(PROJECT_ROOT, "bench", "results.json");
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : measured;
  const kept: Results = { ...before, ...measured, takenAt: { ...before.takenAt, ...measured.takenAt } };
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
  if (kept.verify && kept.settle) writeFileSync(join(PROJECT_ROOT, "docs", "bench.svg"), drawChart(kept));
}

interface Plan {
  verify: VerifyPlan;
  settles: readonly SettleRun[];
  searchableSettles: number;
  listings: readonly string[];
  searchArgs: readonly string[];
  gatewayArgs: readonly string[];
}

function quickPlan(): Plan {
  return {
    verify: {
      settings: [verifies(0, 32), verifies(0, 32, true), verifies(20, 1), verifies(20, 4)],
      rounds: 3,
      secondsEach: 1,
      warmUpSeconds: 1,
    },
    settles: [settles(400, 200, 2), copies(50)],
    searchableSettles: 40,
    listings: ["1000"],
    searchArgs: ["--rounds", "1"],
    gatewayArgs: ["--calls", "400", "--challenges", "5000"],
  };
}

function fullPlan(): Plan {
  const settings = [0, 20, 80].flatMap((delayMs) =>
    [1, 4, 32].flatMap((callers) => [false, true].map((block) => verifies(delayMs, callers, block))),
  );
  return {
    verify: { settings, rounds: 3, secondsEach: 4, warmUpSeconds: 4 },
    settles: [
      settles(1_200, 200, 2),
      settles(1_200, 200, null),
      settles(200, 20, 2),
      settles(200, 20, null),
      copies(50),
    ],
    searchableSettles: 200,
    listings: ["25000", "250000"],
    searchArgs: [],
    gatewayArgs: [],
  };
}

function verifies(delayMs: number, callers: number, withBlock = false): VerifySetting {
  return { delayMs, callers, withBlock };
}

function settles(count: number, concurrency: number, blockTimeSeconds: number | null): SettleRun {
  return { settles: count, concurrency, blockTimeSeconds, isOnePayment: false };
}

function copies(count: number): SettleRun {
  return { settles: count, concurrency: count, blockTimeSeconds: null, isOnePayment: true };
}
