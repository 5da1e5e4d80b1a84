// `npm test`: everything a change must pass, one step after the other, and at the end one line `N passed, N failed`.
// Each step is bounded by time; a step that fails does not keep the next from being looked at.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { PROJECT_ROOT, QUIET_WRANGLER, STATE_ROOT } from "./build.ts";
import { PROGRESS_PATH, type Progress } from "./test-progress.ts";

interface Step {
  name: string;
  /** An npm script of package.json. */
  script: string;
  timeoutMs: number;
}

const STEPS: readonly Step[] = [
  { name: "types", script: "types", timeoutMs: 90_000 },
  { name: "lint", script: "lint", timeoutMs: 60_000 },
  { name: "dry-run deploy", script: "build", timeoutMs: 60_000 },
];

/** No test takes half as long, and each has its own timeout: when none ends for so long, something hangs that no timeout sees. */
const STALLED_MS = 240_000;
const LOOK_EVERY_MS = 5_000;
/** What a run is given to stop the processes that its tests started. */
const STOPPING_MS = 5_000;

let passed = 0;
let failed = 0;
for (const { name, script, timeoutMs } of STEPS) {
  console.log(`\n> ${name}`);
  const deadlineMs = Date.now() + timeoutMs;
  if (await run(["npm", "run", "--silent", script], () => Date.now() > deadlineMs)) passed++;
  else failed++;
}

console.log("\n> tests");
mkdirSync(STATE_ROOT, { recursive: true });
await runTests();
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

/** Runs all test files and counts. One that did not end has failed: what hangs in a test hangs in production, too. */
async function runTests(): Promise<void> {
  rmSync(PROGRESS_PATH, { force: true });
  const startedMs = Date.now();
  let progressAtStall: Progress | undefined;
  const isStalled = () => {
    const changedMs = statSync(PROGRESS_PATH, { throwIfNoEntry: false })?.mtimeMs ?? startedMs;
    if (Date.now() - changedMs <= STALLED_MS) return false;
    // Before the run is stopped: what fails by that is not what failed.
    progressAtStall = readProgress();
    return true;
  };
  const vitest = join(PROJECT_ROOT, "node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=./scripts/test-progress.ts"];
  const isGreen = await run([process.execPath, vitest, "run", ...reporters], isStalled);
  const progress = progressAtStall ?? readProgress();
  for (const file of progress.unfinished) console.log(`did not end: ${relative(PROJECT_ROOT, file)}`);
  passed += progress.passed;
  failed += progress.failed + progress.unfinished.length;
  // A run that was red for a reason outside any test is red all the same.
  if (!isGreen && failed === 0) failed++;
}

function readProgress(): Progress {
  if (!existsSync(PROGRESS_PATH)) return { passed: 0, failed: 1, unfinished: [] };
  return JSON.parse(readFileSync(PROGRESS_PATH, "utf8")) as Progress;
}

/** Runs a command in a process group of its own and ends the whole group when it takes too long. */
function run([command = "", ...args]: readonly string[], takesTooLong: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: PROJECT_ROOT,
      env: { ...process.env, ...QUIET_WRANGLER },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    const signalGroup = (signal: NodeJS.Signals) => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
    };
    const timer = setInterval(() => {
      if (!takesTooLong()) return;
      clearInterval(timer);
      console.error("stopped: it takes too long");
      signalGroup("SIGTERM");
      setTimeout(() => signalGroup("SIGKILL"), STOPPING_MS).unref();
    }, LOOK_EVERY_MS);
    const giveUp = () => {
      signalGroup("SIGKILL");
      process.exit(1);
    };
    process.once("SIGINT", giveUp).once("SIGTERM", giveUp);
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      clearInterval(timer);
      process.off("SIGINT", giveUp).off("SIGTERM", giveUp);
      resolve(code === 0);
    });
  });
}
