// Brings up contestants and the chains under them: anvil, a process in front of it that counts requests and delays
// them, and the facilitator under test behind an HTTP port. Every chain starts from the same saved state.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnvilOptions, startAnvil } from "../scripts/chain/anvil.ts";
import { localVariables } from "../scripts/local-variables.ts";
import { startWorld } from "../scripts/local-world.ts";
import { anyFreePort } from "../scripts/ports.ts";
import { eachLine } from "../scripts/worker/worker.ts";
import {
  builtWorker,
  EMPTY_WORKER,
  endOf,
  type ServedCode,
  spawnWorkerd,
  writeWorkerd,
} from "../scripts/worker/workerd-serve.ts";
import { cpuSecondsOf } from "./cpu.ts";
import type { NodeCounts } from "./slow-node.ts";

export type ContestantName = "souk" | "reference";
export const CONTESTANTS = ["souk", "reference"] as const;

/** Memory, so that a disk's fsync is not what is measured. */
const STATE_PARENT = "/dev/shm";
const READY_TIMEOUT_MS = 30_000;

export interface BenchChain {
  /** The node itself: neither counted nor delayed. */
  rpcUrl: string;
  stop(): Promise<void>;
}

export function startChain(options: AnvilOptions = {}): Promise<BenchChain> {
  return startAnvil(options);
}

export interface Contestant {
  name: string;
  url: string;
  /** Starts the counts again. */
  setDelay(delayMs: number): Promise<void>;
  /** What the facilitator asked its node since the last `setDelay` or `counts`. */
  counts(): Promise<NodeCounts>;
  /** CPU seconds of the facilitator's process so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/**
 * `host` is what Souk's bundle runs in: `workerd` serves what needs no storage and nothing else stands in its way,
 * `miniflare` everything.
 */
export async function startContestant(
  name: ContestantName,
  chain: BenchChain,
  host: "workerd" | "miniflare",
): Promise<Contestant> {
  const node = await startSlowNode(chain);
  const souk = host === "workerd" ? soukInWorkerd : soukInMiniflare;
  const run = await (name === "souk" ? souk(node.rpcUrl) : startReference(node.rpcUrl));
  let delayMs = 0;
  return {
    name,
    url: run.url,
    setDelay: async (next) => {
      delayMs = next;
      await node.control(delayMs);
    },
    counts: () => node.control(delayMs),
    cpuSeconds: run.cpuSeconds,
    stop: async () => {
      await run.stop();
      await node.stop();
    },
  };
}

interface Run {
  url: string;
  cpuSeconds(): number;
  stop(): Promise<void>;
}

async function soukInMiniflare(rpcUrl: string): Promise<Run> {
  const statePath = mkdtempSync(join(STATE_PARENT, "souk-bench-"));
  const world = await startWorld({ port: await anyFreePort(), chainPort: 0, rpcUrl, statePath });
  return {
    url: world.url,
    // Miniflare's own process only starts and stops it.
    cpuSeconds: () => cpuSecondsOf({ below: process.pid, command: "workerd" }),
    stop: async () => {
      await world.stop();
      rmSync(statePath, { recursive: true, force: true });
    },
  };
}

async function soukInWorkerd(rpcUrl: string): Promise<Run> {
  const port = await anyFreePort();
  return serveInWorkerd(builtWorker(localVariables(`http://127.0.0.1:${port}`, rpcUrl)), port, "/supported");
}

/** A Worker that only answers: what the machine and the client can do at most. */
export async function startEmptyWorker(): Promise<Run> {
  return serveInWorkerd(EMPTY_WORKER, await anyFreePort(), "/");
}

async function serveInWorkerd(served: ServedCode, port: number, path: string): Promise<Run> {
  const folder = mkdtempSync(join(STATE_PARENT, "souk-bench-"));
  const child = spawnWorkerd(writeWorkerd(served, port, folder));
  const url = `http://127.0.0.1:${port}`;
  await untilItAnswers(`${url}${path}`);
  return {
    url,
    cpuSeconds: () => cpuSecondsOf({ pid: child.pid ?? 0 }),
    stop: async () => {
      await endOf(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilItAnswers(url: string): Promise<void> {
  const endMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    if (performance.now() > endMs) throw new Error(`${url} never answered 200`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function startReference(rpcUrl: string): Promise<Run> {
  const port = await anyFreePort();
  const { child } = await startScript("reference-facilitator.ts", [String(port), rpcUrl]);
  return {
    url: `http://127.0.0.1:${port}`,
    cpuSeconds: () => cpuSecondsOf({ pid: child.pid ?? 0 }),
    stop: () => endOf(child),
  };
}

async function startSlowNode(chain: BenchChain) {
  const { child, line: port } = await startScript("slow-node.ts", [new URL(chain.rpcUrl).port]);
  const rpcUrl = `http://127.0.0.1:${port}`;
  const control = async (delayMs: number): Promise<NodeCounts> => {
    const response = await fetch(`${rpcUrl}/control`, { method: "POST", body: JSON.stringify({ delayMs }) });
    return (await response.json()) as NodeCounts;
  };
  return { rpcUrl, control, stop: () => endOf(child) };
}

/** Starts a script of this folder; it is ready with its first line, and ends with this process. */
async function startScript(name: string, args: string[]): Promise<{ child: ChildProcess; line: string }> {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const endWithThis = () => child.kill("SIGKILL");
  process.once("exit", endWithThis);
  child.once("exit", () => process.off("exit", endWithThis));
  const line = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} did not start`)), READY_TIMEOUT_MS);
    child.once("exit", () => reject(new Error(`${name} ended before it was ready`)));
    eachLine(child.stdout, (first) => {
      clearTimeout(timer);
      resolve(first);
    });
  });
  return { child, line };
}
