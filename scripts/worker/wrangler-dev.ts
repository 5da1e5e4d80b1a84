// The Worker under `wrangler dev`: rebuilt at every change of a source file. Slower than the bundle in Miniflare by
// its proxy, so it is for writing code; the same shape as worker.ts, so that the local world can hold either.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { PROJECT_ROOT, QUIET_WRANGLER, wranglerPath } from "../build.ts";
import type { LocalWorkerOptions } from "./miniflare-options.ts";
import { eachLine, killGroup, type RunningWorker, whenGone } from "./worker.ts";

const MIGRATIONS_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 90_000;
const READY_POLL_MS = 200;
const STOP_TIMEOUT_MS = 5_000;

/** @throws Error with wrangler's last words when it does not start. */
export async function startWranglerDev(
  options: LocalWorkerOptions,
  onLog: (line: string) => void = () => {},
): Promise<RunningWorker> {
  const persist = options.statePath === undefined ? [] : ["--persist-to", options.statePath];
  const settings = { cwd: PROJECT_ROOT, env: { ...process.env, ...QUIET_WRANGLER } };
  const migrations = [wranglerPath(), "d1", "migrations", "apply", "DB", "--local", ...persist];
  await promisify(execFile)(process.execPath, migrations, { ...settings, timeout: MIGRATIONS_TIMEOUT_MS });

  const dev = [wranglerPath(), "dev", "--local", "--ip", "127.0.0.1", "--port", String(options.port)];
  // A free port for the debugger: its usual one may belong to another project.
  dev.push("--inspector-port", "0", "--show-interactive-dev-session=false", ...persist);
  for (const [name, value] of Object.entries(options.variables)) dev.push("--var", `${name}:${value}`);
  const child = spawn(process.execPath, dev, {
    ...settings,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lastLines: string[] = [];
  const keep = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > 20) lastLines.shift();
    onLog(line);
  };
  eachLine(child.stdout, keep);
  eachLine(child.stderr, keep);
  const gone = whenGone(child);
  const kill = async () => {
    killGroup(child);
    await gone;
  };
  const url = `http://127.0.0.1:${options.port}`;
  if (!(await answers(url, child))) {
    await kill();
    throw new Error(`wrangler dev did not start:\n${lastLines.join("\n")}`);
  }
  return { url, gone, kill, stop: () => stop(child, gone) };
}

async function answers(url: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const response = await fetch(`${url}/openapi.json`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return true;
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  return false;
}

async function stop(child: ChildProcess, gone: Promise<void>): Promise<void> {
  const timer = setTimeout(() => killGroup(child), STOP_TIMEOUT_MS);
  child.kill("SIGTERM");
  await gone;
  clearTimeout(timer);
}
