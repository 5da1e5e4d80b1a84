// The local world: a chain and the Worker on it, with no account anywhere. `npm run dev` and `npm start` run it on
// the usual ports, tests and benches on free ones.
//
// State: the Worker remembers settlements and the chain remembers nonces, so the two must come back together or not
// at all. A clean stop saves the chain beside the Worker's data. Where the saved chain is missing, the last run was
// killed and both start again from nothing. With an RPC of its own (`rpcUrl`) the Worker's data is simply kept.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Anvil, SAVED_STATE_PATH, startAnvil } from "./chain/anvil.ts";
import { rpc } from "./chain/rpc.ts";
import { localVariables } from "./local-variables.ts";
import { type Launch, type RunningWorker, startWorker } from "./worker/worker.ts";

export interface WorldOptions {
  port: number;
  chainPort: number;
  /** The Worker uses this RPC, and no chain is started. */
  rpcUrl?: string;
  /** Folder of this world alone. */
  statePath: string;
  /** Forget what `statePath` holds. */
  fresh?: boolean;
  /** Variables of the Worker, on top of the local ones. */
  variables?: Record<string, string>;
  /** Absent: a block per transaction, at once. */
  blockTimeSeconds?: number;
  /** Absent: the built bundle in Miniflare. */
  launch?: Launch;
  /** Each line that the Worker logs. */
  onLog?: (line: string) => void;
  /** What a person should know about this start. */
  onNotice?: (line: string) => void;
}

export interface World {
  url: string;
  rpcUrl: string;
  /** Resolves with the name of a part that ended without being asked. */
  broken: Promise<string>;
  /** Ends all parts and saves the chain; may be called twice. */
  stop(): Promise<void>;
  /** SIGKILL to the Worker; the chain goes on. */
  killWorker(): Promise<void>;
  /** Starts the Worker again on the same port and the same state, after `killWorker`. */
  restartWorker(variables?: Record<string, string>): Promise<void>;
}

/** Starts the chain, then the Worker. @throws Error in words for a person; nothing is left running then. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const chainState = prepareState(options);
  const chain = options.rpcUrl === undefined ? await startChain(options, chainState) : undefined;
  const rpcUrl = options.rpcUrl ?? chain?.rpcUrl ?? "";
  const launch = options.launch ?? startWorker;
  const run = (more: Record<string, string> = {}) =>
    launch(
      {
        port: options.port,
        statePath: join(options.statePath, "worker"),
        variables: {
          ...localVariables(`http://127.0.0.1:${options.port}`, rpcUrl),
          ...options.variables,
          ...more,
        },
      },
      options.onLog,
      chain?.pid,
    );
  let worker: RunningWorker;
  try {
    worker = await run();
  } catch (error) {
    await stopChain(chain, chainState);
    throw error;
  }

  let expected = false;
  let stopped: Promise<void> | undefined;
  let broken: (part: string) => void;
  const watch = (part: string, gone: Promise<void>) => gone.then(() => expected || broken(part));
  const world: World = {
    url: worker.url,
    rpcUrl,
    broken: new Promise((resolve) => {
      broken = resolve;
    }),
    stop: () => {
      expected = true;
      stopped ??= worker.stop().then(() => stopChain(chain, chainState));
      return stopped;
    },
    killWorker: async () => {
      expected = true;
      await worker.kill();
    },
    restartWorker: async (variables) => {
      worker = await run(variables);
      expected = false;
      void watch("the Worker", worker.gone);
    },
  };
  void watch("the Worker", worker.gone);
  if (chain) void watch("the chain", chain.gone);
  return world;
}

/** Answers the file that holds the chain between runs. */
function prepareState({ statePath, fresh, rpcUrl, onNotice }: WorldOptions): string {
  const chainState = join(statePath, "chain.json");
  const lostChain = rpcUrl === undefined && existsSync(join(statePath, "worker")) && !existsSync(chainState);
  if (lostChain && !fresh)
    onNotice?.("the last run was killed before it saved the chain: starting from empty state");
  if (fresh || lostChain) rmSync(statePath, { recursive: true, force: true });
  mkdirSync(statePath, { recursive: true });
  return chainState;
}

async function startChain(options: WorldOptions, chainState: string): Promise<Anvil> {
  const { chainPort: port, blockTimeSeconds } = options;
  const chain = await startAnvil({
    port,
    statePath: existsSync(chainState) ? chainState : SAVED_STATE_PATH,
    ...(blockTimeSeconds === undefined ? {} : { blockTimeSeconds }),
  });
  // From now on only a clean stop makes the file again.
  rmSync(chainState, { force: true });
  return chain;
}

async function stopChain(chain: Anvil | undefined, chainState: string): Promise<void> {
  if (!chain) return;
  try {
    const dump = await rpc<string>(chain.rpcUrl, "anvil_dumpState");
    writeFileSync(chainState, gunzipSync(Buffer.from(dump.slice(2), "hex")));
  } catch {
    // A chain that is gone already leaves no file, and the next start begins from nothing.
  }
  await chain.stop();
}
