// The frame of `npm run dev` and `npm start`: reads the environment, builds the bundle, starts the world, says that it
// is ready, and sees to it that everything ends together, by Ctrl-C, by SIGTERM, or when a part of it dies.

import { join } from "node:path";
import { buildBundle, STATE_ROOT } from "./build.ts";
import { variablesFromEnvironment } from "./local-variables.ts";
import { startWorld, type World } from "./local-world.ts";
import { assertFree, portFrom } from "./ports.ts";
import type { Launch } from "./worker/worker.ts";

export interface RunOptions {
  onLog: (line: string) => void;
  /** Absent: the built bundle in Miniflare. */
  launch?: Launch;
  /** What is to happen once the world is ready. Answers how to end it. */
  onReady?: (world: World) => Promise<() => Promise<void>>;
}

/** How often to look whether npm, which started this process, is still there. */
const PARENT_POLL_MS = 500;
/** A stop that takes longer than this ends anyway: nobody waits twice for Ctrl-C. */
const STOP_TIMEOUT_MS = 15_000;

export async function runWorld(options: RunOptions): Promise<void> {
  const endings: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;
  const end = (exitCode: number) => {
    ending ??= endAll(endings).finally(() => process.exit(exitCode));
    return ending;
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(0));
  whenParentEnds(() => void end(0));
  try {
    const world = await startFromEnvironment(options);
    endings.push(world.stop);
    void world.broken.then((part) => {
      console.error(`${part} ended unexpectedly`);
      return end(1);
    });
    console.log(`souk ready ${world.url}`);
    if (options.onReady) endings.unshift(await options.onReady(world));
  } catch (error) {
    if (ending) return;
    console.error(error instanceof Error ? error.message : error);
    await end(1);
  }
}

async function startFromEnvironment({ onLog, launch }: RunOptions): Promise<World> {
  const { env } = process;
  const port = portFrom(env, "SOUK_PORT", 8787);
  const chainPort = portFrom(env, "SOUK_CHAIN_PORT", 8545);
  const rpcUrl = env.SOUK_RPC_URL;
  if (port === chainPort && !rpcUrl) throw new Error("SOUK_PORT and SOUK_CHAIN_PORT name the same port");
  await assertFree(port, "SOUK_PORT");
  if (!rpcUrl) await assertFree(chainPort, "SOUK_CHAIN_PORT");
  if (!launch) await buildBundle();
  return startWorld({
    port,
    chainPort,
    ...(rpcUrl ? { rpcUrl } : {}),
    ...(launch ? { launch } : {}),
    // By port, so that two worlds from one clone do not share state; and what wrangler keeps has its own layout.
    statePath: join(STATE_ROOT, `${port}${rpcUrl ? "-rpc" : ""}${launch ? "-watch" : ""}`),
    // `npm run dev --fresh` reaches this process as npm_config_fresh.
    fresh: process.argv.includes("--fresh") || env.npm_config_fresh === "true",
    variables: variablesFromEnvironment(env),
    onLog,
    onNotice: (line) => console.log(line),
  });
}

/** Under `npm run`, a killed npm must not leave a world behind. Started by hand, this process may outlive its shell. */
function whenParentEnds(then: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) then();
  }, PARENT_POLL_MS).unref();
}

async function endAll(endings: (() => Promise<void>)[]): Promise<void> {
  const timer = setTimeout(() => process.exit(1), STOP_TIMEOUT_MS);
  for (const ending of endings) await ending().catch(() => {});
  clearTimeout(timer);
}
