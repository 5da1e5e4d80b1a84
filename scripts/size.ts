// `npm run size`: how big the deployed bundle is, and how long a fresh process takes to its first answer beside an
// empty Worker's. Runs workerd itself, without Miniflare around it. Ends with 1 when the bundle is over its limit.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { BUNDLE_FOLDER, buildBundle } from "./build.ts";
import { localVariables } from "./local-variables.ts";
import { anyFreePort } from "./ports.ts";
import {
  builtWorker,
  EMPTY_WORKER,
  endOf,
  type ServedCode,
  spawnWorkerd,
  writeWorkerd,
} from "./worker/workerd-serve.ts";

/** Well below what a Worker may have, and what was measured to start fast enough. */
const SIZE_LIMIT_KIB = 350;
const START_LIMIT_MS = 70;

/** Single starts vary with what else the machine does; the median of these does not much. */
const STARTS = 15;
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 1;

/** What a seller's server asks first. */
const FIRST_PATH = "/supported";

await buildBundle();
const sizeKib = bundleKib();
console.log(`bundle, gzip:   ${sizeKib.toFixed(1)} KiB (limit ${SIZE_LIMIT_KIB} KiB)`);

const built = builtWorker(localVariables("http://127.0.0.1:1", "http://127.0.0.1:1"));
const folder = mkdtempSync(join(tmpdir(), "souk-size-"));
try {
  const empty: number[] = [];
  const souk: number[] = [];
  // In turn, so that what else the machine does falls on both.
  for (let start = 0; start < STARTS; start++) {
    empty.push(await firstAnswerMs(EMPTY_WORKER));
    souk.push(await firstAnswerMs(built));
  }
  // What else the machine does only ever adds: the fastest says what the code itself costs.
  compareStarts(`median of ${STARTS}`, median(souk), median(empty));
  compareStarts("fastest", Math.min(...souk), Math.min(...empty));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (sizeKib > SIZE_LIMIT_KIB) {
  console.error(`the bundle is over its limit of ${SIZE_LIMIT_KIB} KiB`);
  process.exit(1);
}

function compareStarts(which: string, soukMs: number, emptyMs: number): void {
  console.log(
    `first answer:   ${soukMs.toFixed(0)} ms, an empty Worker's ${emptyMs.toFixed(0)} ms: ` +
      `+${(soukMs - emptyMs).toFixed(0)} ms (limit +${START_LIMIT_MS} ms; ${which}, GET ${FIRST_PATH})`,
  );
}

/** All that is uploaded, as Cloudflare counts it: compressed, without the source map. */
function bundleKib(): number {
  const uploaded = readdirSync(BUNDLE_FOLDER).filter((file) => /\.(js|wasm|bin|txt)$/.test(file));
  const bytes = uploaded.map((file) => gzipSync(readFileSync(join(BUNDLE_FOLDER, file))).length);
  return bytes.reduce((sum, size) => sum + size, 0) / 1_024;
}

/** Spawns workerd on this code and answers the time to its first 200. */
async function firstAnswerMs(served: ServedCode): Promise<number> {
  const port = await anyFreePort();
  const configPath = writeWorkerd(served, port, folder);
  const startedMs = performance.now();
  const child = spawnWorkerd(configPath);
  try {
    while (!(await answers(port))) {
      if (performance.now() - startedMs > START_TIMEOUT_MS)
        throw new Error(`${served.name} never answered 200`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return performance.now() - startedMs;
  } finally {
    await endOf(child);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path: FIRST_PATH, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once("error", () => resolve(false));
    asked.end();
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
