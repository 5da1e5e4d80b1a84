// Starts and stops one anvil process on the saved test chain. Used by Node tests, the local world and the benches;
// it must not be imported from code that runs in workerd. The process never outlives the one that started it.

import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ACCOUNTS, CHAIN_ID, MNEMONIC } from "./addresses.ts";
import { rpc } from "./rpc.ts";

/** The chain that `npm run chain:build` saved. */
export const SAVED_STATE_PATH = fileURLToPath(new URL("../../contracts/state.json", import.meta.url));

/** A start takes well under a second; this bounds it on a machine that is very busy. */
const READY_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 2_000;

export interface AnvilOptions {
  /** 0, the default, takes any free port. */
  port?: number;
  /** Absent: a block per transaction, at once. */
  blockTimeSeconds?: number;
  /** Absent: the saved chain. `null`: an empty chain. */
  statePath?: string | null;
  /** Default true; false passes anvil's own log to this process's stdout. */
  quiet?: boolean;
  /** Passed to anvil as they stand, for example `["--slots-in-an-epoch", "1"]`. */
  extraArgs?: readonly string[];
}

export interface Anvil {
  rpcUrl: string;
  port: number;
  pid: number;
  /** Resolves when the process is gone, whoever ended it. */
  gone: Promise<void>;
  /** Resolves when the process is gone; may be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts anvil and resolves once it answers and one block stands on top of the loaded state: calls run at the
 * time of the last block, and a loaded one is old. An empty chain stays at its genesis.
 * @throws Error naming the port when it is taken, or anvil's last words when it does not start.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const child = spawn(anvilBinary(), anvilArguments(options), {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: Ctrl-C in a terminal must not end the chain before its state is saved.
    detached: true,
  });
  killWithThisProcess(child);
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    const port = await listeningPort(child, options);
    const rpcUrl = `http://127.0.0.1:${port}`;
    // A log line per call costs time, and blocks the node when this process is too busy to read it.
    if (options.quiet !== false) await rpc(rpcUrl, "anvil_setLoggingEnabled", [false]);
    if (options.statePath !== null) await rpc(rpcUrl, "evm_mine");
    return { rpcUrl, port, pid: child.pid ?? 0, gone, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function anvilArguments(options: AnvilOptions): string[] {
  const { port = 0, blockTimeSeconds, statePath = SAVED_STATE_PATH, extraArgs = [] } = options;
  const args = ["--host", "127.0.0.1", "--port", String(port), "--chain-id", String(CHAIN_ID)];
  args.push("--mnemonic", MNEMONIC, "--accounts", String(ACCOUNTS.length));
  if (statePath !== null) args.push("--load-state", statePath);
  if (blockTimeSeconds !== undefined) args.push("--block-time", String(blockTimeSeconds));
  return [...args, ...extraArgs];
}

/** The binary itself: a launcher in between would be one more process to kill. */
function anvilBinary(): string {
  const cpu = process.arch === "x64" ? "amd64" : process.arch;
  const packageName = `@foundry-rs/anvil-${process.platform}-${cpu}`;
  const packageFile = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  return join(dirname(packageFile), "bin", process.platform === "win32" ? "anvil.exe" : "anvil");
}

/** Reads anvil's output until it names the port it listens on. */
function listeningPort(child: ChildProcess, options: AnvilOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(
      () => reject(new Error(`anvil did not listen within ${READY_TIMEOUT_MS} ms`)),
      READY_TIMEOUT_MS,
    );
    const read = (chunk: Buffer) => {
      if (options.quiet === false) process.stdout.write(chunk);
      output = (output + chunk.toString()).slice(-4_000);
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) {
        clearTimeout(timer);
        resolve(Number(port));
      }
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      const taken = /address already in use/i.test(output);
      reject(
        new Error(
          taken
            ? `port ${options.port} is already in use`
            : `anvil ended with code ${code}: ${output.trim()}`,
        ),
      );
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  // Nothing is worth saving on the way out, so there is no gentle signal first.
  child.kill("SIGKILL");
  await Promise.race([gone, new Promise<void>((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())]);
}

const running = new Set<ChildProcess>();

function killWithThisProcess(child: ChildProcess): void {
  if (running.size === 0) watchThisProcess();
  running.add(child);
  child.once("exit", () => {
    running.delete(child);
    if (running.size === 0) unwatchThisProcess();
  });
}

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/**
 * A signal handler replaces Node's own ending, so it ends the process itself; unless somebody else listens too, who
 * then decides in which order things end. On the way out `exit` comes in any case.
 */
function killAllAndEnd(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  unwatchThisProcess();
  process.kill(process.pid, signal);
}

function watchThisProcess(): void {
  process.on("exit", killAll);
  process.on("SIGINT", killAllAndEnd);
  process.on("SIGTERM", killAllAndEnd);
}

function unwatchThisProcess(): void {
  process.off("exit", killAll);
  process.off("SIGINT", killAllAndEnd);
  process.off("SIGTERM", killAllAndEnd);
}
