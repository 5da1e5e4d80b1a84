// The ledger under random operations, in workerd itself: the gateway's own objects, bundled into a Worker that
// simulates. Outside the test pool, whose objects cost more the more of them were made. LEDGER_OPERATIONS says how
// many operations (`npm run test:long`: 100,000), LEDGER_SEED repeats a run's choices.

import { join } from "node:path";
import { Miniflare } from "miniflare";
import { build } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROJECT_ROOT } from "../../scripts/build.ts";
import { applyMigrations } from "../../scripts/worker/apply-migrations.ts";
import { readWranglerConfig } from "../../scripts/worker/miniflare-options.ts";
import type { Outcome } from "../worker/ledger-simulation/simulation.ts";

const OPERATIONS = Number(process.env.LEDGER_OPERATIONS ?? 10_000);
const SEED = Number(process.env.LEDGER_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Of one round: every call keeps files open until it was idle for ten seconds, and a process may only have so many. */
const OPERATIONS_AT_ONCE = 10_000;
/** Measured: 2 to 6 ms for each; this is for machines that do more at once. */
const TIMEOUT_MS = 60_000 + OPERATIONS * 20;

let miniflare: Miniflare;

beforeAll(async () => {
  const { compatibility_date = "", compatibility_flags } = readWranglerConfig();
  miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "simulation.js", contents: await bundled() }],
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    cf: false,
    d1Databases: { DB: "ledger" },
    durableObjects: {
      PAID_CALLS: { className: "SimulatedPaidCall", useSQLite: true },
      WALLETS: { className: "SimulatedWallet", useSQLite: true },
    },
    bindings: { CHALLENGE_SIGNING_KEYS: "b2".repeat(32), RECEIPT_SIGNING_KEYS: "c3".repeat(32) },
    // One line per decided call and per simulated crash is not what a reader of the test wants.
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.resume();
    },
  });
  await applyMigrations(await miniflare.getD1Database("DB"), join(PROJECT_ROOT, "migrations"));
}, 60_000);

afterAll(() => miniflare?.dispose());

it(
  `adds up after ${OPERATIONS} random operations with lost answers, duplicates, reordering and crashes`,
  async () => {
    let outcome: Outcome | undefined;
    for (let left = OPERATIONS; left > 0; left -= OPERATIONS_AT_ONCE) {
      const operations = Math.min(left, OPERATIONS_AT_ONCE);
      const response = await miniflare.dispatchFetch(
        `http://simulation/?operations=${operations}&seed=${SEED}`,
      );
      const text = await response.text();
      expect(response.status, text.slice(0, 500)).toBe(200);
      outcome = JSON.parse(text) as Outcome;
      expect(outcome.problems, `seed ${SEED}`).toEqual([]);
    }
    const { ends = {}, faults = {} } = outcome ?? {};
    console.log(`ledger: seed ${SEED}, ends ${JSON.stringify(ends)}, faults ${JSON.stringify(faults)}`);
    // A run in which something never happened has not shown it.
    expect(Object.keys(ends).sort()).toEqual(["abandoned", "completed", "failed", "refused", "timed_out"]);
    for (const count of Object.values(faults)) expect(count).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

async function bundled(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    root: PROJECT_ROOT,
    build: {
      write: false,
      minify: false,
      ssr: join(PROJECT_ROOT, "test/worker/ledger-simulation/worker.ts"),
      rolldownOptions: { external: /^cloudflare:/ },
    },
    ssr: { noExternal: true, target: "webworker" },
  });
  const [output] = Array.isArray(result) ? result : [result];
  const [chunk] = output && "output" in output ? output.output : [];
  if (chunk?.type !== "chunk") throw new Error("the simulation was not bundled");
  return chunk.code;
}
