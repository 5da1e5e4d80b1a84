// `npm test`: everything a change must pass, one step after the other, and at the end one line `N passed, N failed`.
// Each step is bounded by time; a step that fails does not keep the next from being looked at.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_ROOT, QUIET_WRANGLER, STATE_ROOT } from "./build.ts";

interface Step {
  name: string;
  /** An npm script of package.json. */
  script: string;
  timeoutMs: number;
}

const REPORT_PATH = join(STATE_ROOT, "test-report.json");

const STEPS: readonly Step[] = [
  { name: "types", script: "types", timeoutMs: 90_000 },
  { name: "lint", script: "lint", timeoutMs: 60_000 },
  { name: "dry-run deploy", script: "build", timeoutMs: 60_000 },
];
/** Some minutes on a machine of its own; this ends what hangs, and leaves a crowded machine its time. */
const VITEST_TIMEOUT_MS = 2_400_000;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  /** Files: one that could not even be loaded counts here and in no test. */
  testResults: { status: string; assertionResults: unknown[] }[];
}

let passed = 0;
let failed = 0;
for (const { name, script, timeoutMs } of STEPS) {
  console.log(`\n> ${name}`);
  if (await run(["npm", "run", "--silent", script], timeoutMs)) passed++;
  else failed++;
}

console.log("\n> tests");
mkdirSync(STATE_ROOT, { recursive: true });
rmSync(REPORT_PATH, { force: true });
const vitest = join(PROJECT_ROOT, "node_modules/vitest/vitest.mjs");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT_PATH}`];
const green = await run([process.execPath, vitest, "run", ...reporters], VITEST_TIMEOUT_MS);
const report = readReport();
passed += report.passed;
failed += report.failed;
// A run that was red for a reason outside any test is red all the same.
if (!green && report.failed === 0) failed++;

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function readReport(): { passed: number; failed: number } {
  if (!existsSync(REPORT_PATH)) return { passed: 0, failed: 0 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(
    readFileSync(REPORT_PATH, "utf8"),
  ) as Report;
  const unloaded = testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
}

/** Runs a command in a process group of its own and kills the whole group when it takes too long. */
function run([command = "", ...args]: readonly string[], timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: PROJECT_ROOT,
      env: { ...process.env, ...QUIET_WRANGLER },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    const killGroup = () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(() => {
      console.error(`stopped after ${timeoutMs / 1_000} s`);
      killGroup();
    }, timeoutMs);
    const giveUp = () => {
      killGroup();
      process.exit(1);
    };
    process.once("SIGINT", giveUp).once("SIGTERM", giveUp);
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      clearTimeout(timer);
      process.off("SIGINT", giveUp).off("SIGTERM", giveUp);
      resolve(code === 0);
    });
  });
}
