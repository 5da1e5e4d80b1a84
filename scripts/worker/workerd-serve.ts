// The bundle under `workerd serve`, without Miniflare around it: nothing but the engine that Cloudflare runs. Objects
// live in memory; D1 and the queues are only named, so it serves what touches neither: verify, supported, challenges.
// Node only.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { BUNDLE_FOLDER } from "../build.ts";
import { readWranglerConfig } from "./miniflare-options.ts";

export interface ServedCode {
  name: string;
  /** One ES module. */
  code: string | Buffer;
  /** Further fields of the Worker, in Cap'n Proto. */
  settings: string;
}

export const EMPTY_WORKER: ServedCode = {
  name: "empty",
  code: `export default { fetch: () => new Response("ok") };`,
  settings: "",
};

/** The built bundle with these variables. Rate limits always let pass. */
export function builtWorker(variables: Record<string, string>): ServedCode {
  return {
    name: "souk",
    code: readFileSync(join(BUNDLE_FOLDER, "index.js")),
    settings: bindings(variables),
  };
}

/** Writes what workerd needs to serve this on a loopback port into `folder`, and answers the configuration's path. */
export function writeWorkerd(served: ServedCode, port: number, folder: string): string {
  writeFileSync(join(folder, `${served.name}.js`), served.code);
  const configPath = join(folder, `${served.name}.capnp`);
  writeFileSync(configPath, workerdConfig(served, port));
  return configPath;
}

/** The process ends with this one. */
export function spawnWorkerd(configPath: string): ChildProcess {
  const child = spawn(workerdPath(), ["serve", "--experimental", configPath], { stdio: "ignore" });
  const endWithThis = () => child.kill("SIGKILL");
  process.once("exit", endWithThis);
  child.once("exit", () => process.off("exit", endWithThis));
  return child;
}

export function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

const NO_LIMIT = "export default () => ({ limit: async () => ({ success: true }) });";

function workerdConfig({ name, settings }: ServedCode, port: number): string {
  const { compatibility_date: date, compatibility_flags: flags } = readWranglerConfig();
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
  extensions = [(modules = [(name = "local:no-limit", esModule = ${JSON.stringify(NO_LIMIT)}, internal = true)])],
);
const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "${name}.js")],
  compatibilityDate = "${date}",
  compatibilityFlags = ${JSON.stringify(flags)},
  ${settings}
);
`;
}

function bindings(variables: Record<string, string>): string {
  const config = readWranglerConfig();
  const classes = config.durable_objects.bindings;
  const namespaces = classes.map(
    ({ class_name: className }) =>
      `(className = "${className}", uniqueKey = "${className}", enableSql = true)`,
  );
  const named = [
    ...config.d1_databases.map(({ binding }) => binding),
    ...(config.queues.producers ?? []).map(({ binding }) => binding),
  ];
  const all = [
    ...classes.map(
      ({ name, class_name: className }) => `(name = "${name}", durableObjectNamespace = "${className}")`,
    ),
    ...Object.entries({ ...config.vars, ...variables }).map(
      ([name, value]) => `(name = "${name}", text = ${JSON.stringify(String(value))})`,
    ),
    ...named.map((name) => `(name = "${name}", json = "{}")`),
    ...config.ratelimits.map(({ name }) => `(name = "${name}", wrapped = (moduleName = "local:no-limit"))`),
  ];
  return `durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (inMemory = void),
  bindings = [${all.join(", ")}],`;
}

function workerdPath(): string {
  const require = createRequire(import.meta.url);
  // workerd comes with Miniflare, which names its version.
  const fromMiniflare = createRequire(require.resolve("miniflare"));
  return (fromMiniflare("workerd") as { default: string }).default;
}
