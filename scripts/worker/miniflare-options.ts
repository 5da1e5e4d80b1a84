// What Miniflare is told about the Worker. Bindings, queue settings, object classes, assets and the compatibility
// date are read from wrangler.toml by wrangler's own reader, so that the local Worker cannot drift from the deployed
// one; only the variables and the rate limits are the local world's.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MiniflareOptions, WorkerOptions } from "miniflare";
import type { Unstable_Config } from "wrangler";
import { BUNDLE_FOLDER, PROJECT_ROOT } from "../build.ts";
import { remembered } from "./remembered.ts";

export interface LocalWorkerOptions {
  port: number;
  /** Where D1, the objects and the queues keep their data. Absent: nowhere, it ends with the process. */
  statePath?: string;
  /** Variables and secrets, on top of wrangler.toml's [vars]. */
  variables: Record<string, string>;
}

/** Limits are there against floods from many callers; locally one caller is all there is. */
const OUT_OF_REACH = 1_000_000_000;

type ModuleType = "Text" | "Data" | "CompiledWasm";
const MODULE_TYPES: Record<string, ModuleType> = { wasm: "CompiledWasm", bin: "Data", txt: "Text" };

const CONFIG_PATH = join(PROJECT_ROOT, "wrangler.toml");

export function readWranglerConfig(): Unstable_Config {
  return remembered("config", readFileSync(CONFIG_PATH, "utf8"), (wrangler) =>
    wrangler.unstable_readConfig({ config: CONFIG_PATH }, { hideWarnings: true }),
  );
}

function readWorkerOptions() {
  return remembered("options", readFileSync(CONFIG_PATH, "utf8"), (wrangler) => {
    const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(readWranglerConfig());
    // Variables come from the configuration alone: nothing of a `.dev.vars` is remembered.
    const { modulesRules: _, bindings: __, ...options } = workerOptions;
    return options;
  });
}

export function miniflareOptions(options: LocalWorkerOptions): MiniflareOptions {
  const config = readWranglerConfig();
  const { ratelimits, ...fromConfig } = readWorkerOptions();
  return {
    ...fromConfig,
    name: config.name ?? "worker",
    modulesRoot: BUNDLE_FOLDER,
    modules: bundledModules(),
    bindings: { ...config.vars, ...options.variables },
    ratelimits: withoutLimit(ratelimits),
    // The Worker on a socket of its own: Miniflare's entry in front of it would take a quarter of a millisecond of every
    // request. The entry, on any free port, runs crons (child.ts).
    unsafeDirectSockets: [{ host: "127.0.0.1", port: options.port }],
    host: "127.0.0.1",
    port: 0,
    unsafeTriggerHandlers: true,
    // Otherwise Miniflare asks a server on the internet where it is.
    cf: false,
    ...(options.statePath === undefined ? {} : { defaultPersistRoot: options.statePath }),
  } as MiniflareOptions;
}

function bundledModules() {
  const others = readdirSync(BUNDLE_FOLDER).flatMap((file) => {
    const type = MODULE_TYPES[file.split(".").at(-1) ?? ""];
    return type === undefined ? [] : [{ type, path: join(BUNDLE_FOLDER, file) }];
  });
  return [{ type: "ESModule" as const, path: join(BUNDLE_FOLDER, "index.js") }, ...others];
}

type RateLimits = NonNullable<WorkerOptions["ratelimits"]>;

function withoutLimit(ratelimits: RateLimits | undefined): RateLimits {
  return Object.fromEntries(
    Object.entries(ratelimits ?? {}).map(([name, { simple, ...rest }]) => [
      name,
      { ...rest, simple: { ...simple, limit: OUT_OF_REACH } },
    ]),
  );
}
