// Starts, stops and kills the process that holds the Worker (child.ts). Used by the local world, tests and benches.

import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { QUIET_WRANGLER } from "../build.ts";
import type { FromChild, ToChild } from "./child.ts";
import type { LocalWorkerOptions } from "./miniflare-options.ts";

/** How a world starts its Worker: `startWorker` or `startWranglerDev`. */
export type Launch = typeof startWorker;

export interface RunningWorker {
  url: string;
  /** Resolves when the process is gone, whoever ended it. */
  gone: Promise<void>;
  /** Lets running requests end and closes the databases; kills after `STOP_TIMEOUT_MS`. */
  stop(): Promise<void>;
  /** SIGKILL to Miniflare and workerd at once: nothing is flushed, nothing is said goodbye to. */
  kill(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

/**
 * Runs the bundle of dist/ and resolves once it has answered a request.
 * @param onLog gets each line that the Worker logs.
 * @param guardedPid a process that is to be killed when this one is killed and can no longer do it.
 * @throws Error with the reason when it does not start.
 */
export async function startWorker(
  options: LocalWorkerOptions,
  onLog: (line: string) => void = () => {},
  guardedPid?: number,
): Promise<RunningWorker> {
  const child = fork(fileURLToPath(new URL("child.ts", import.meta.url)), {
    // A group of its own, so that one signal reaches workerd too.
    detached: true,
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, ...QUIET_WRANGLER },
  });
  eachLine(child.stdout, onLog);
  eachLine(child.stderr, onLog);
  const gone = whenGone(child);
  const kill = async () => {
    killGroup(child);
    await gone;
  };
  try {
    await ready(child, { kind: "start", options, ...(guardedPid === undefined ? {} : { guardedPid }) });
  } catch (error) {
    await kill();
    throw error;
  }
  return { url: `http://127.0.0.1:${options.port}`, gone, kill, stop: () => stop(child, gone) };
}

function ready(child: ChildProcess, start: ToChild): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the Worker did not start within ${READY_TIMEOUT_MS} ms`)),
      READY_TIMEOUT_MS,
    );
    const settle = (end: () => void) => {
      clearTimeout(timer);
      end();
    };
    child.on("message", (message: FromChild) => {
      if (message.kind === "ready") settle(resolve);
      else settle(() => reject(new Error(`the Worker did not start: ${message.message}`)));
    });
    child.once("error", (error) => settle(() => reject(error)));
    child.once("exit", () =>
      settle(() => reject(new Error("the Worker's process ended before it was ready"))),
    );
    send(child, start);
  });
}

async function stop(child: ChildProcess, gone: Promise<void>): Promise<void> {
  const timer = setTimeout(() => killGroup(child), STOP_TIMEOUT_MS);
  send(child, { kind: "stop" });
  await gone;
  clearTimeout(timer);
}

function send(child: ChildProcess, message: ToChild): void {
  if (child.connected) child.send(message, () => {});
}

/** Resolves when the process is gone; what it leaves behind, if it crashed, is killed. */
export function whenGone(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => {
      killGroup(child);
      resolve();
    });
  });
}

export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}

export function eachLine(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on("line", onLine);
}
