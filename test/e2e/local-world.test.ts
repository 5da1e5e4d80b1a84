// The local world as a person meets it: ports that are taken, Ctrl-C, and what a restart remembers.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { rpc } from "../../scripts/chain/rpc.ts";
import { OPERATOR_TOKEN } from "../../scripts/local-variables.ts";
import { startWorld, type World } from "../../scripts/local-world.ts";
import { anyFreePort, isFree } from "../../scripts/ports.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

describe("the command", () => {
  it.each(["SOUK_PORT", "SOUK_CHAIN_PORT"])(
    "names %s when that port is taken, and ends with 1",
    async (variable) => {
      const port = await occupy();
      const dev = startDev({ ...(await freePorts()), [variable]: String(port) });
      expect(await dev.exitCode).toBe(1);
      expect(dev.output()).toContain(`port ${port} is already in use: set ${variable} to a free port`);
    },
  );

  it("names the variable when its value is no port", async () => {
    const dev = startDev({ ...(await freePorts()), SOUK_PORT: "http" });
    expect(await dev.exitCode).toBe(1);
    expect(dev.output()).toContain("SOUK_PORT must be a port from 1 to 65535");
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "leaves no process and no open port behind after %s",
    async (signal) => {
      const ports = await freePorts();
      const dev = startDev({ ...ports, SOUK_VAR_SETTLE_WAIT_SECONDS: "5" });
      await dev.ready(`souk ready http://127.0.0.1:${ports.SOUK_PORT}`);
      const started = descendants(dev.pid);
      if (existsSync("/proc/self/stat")) expect(started.length).toBeGreaterThanOrEqual(3);
      dev.process.kill(signal);
      expect(await dev.exitCode).toBe(0);
      expect(started.filter(isAlive)).toEqual([]);
      expect(await isFree(Number(ports.SOUK_PORT))).toBe(true);
      expect(await isFree(Number(ports.SOUK_CHAIN_PORT))).toBe(true);
    },
  );

  it("ends as a whole when the chain dies", async () => {
    const ports = await freePorts();
    const dev = startDev(ports);
    await dev.ready("souk ready");
    const started = descendants(dev.pid);
    await rpc(`http://127.0.0.1:${ports.SOUK_CHAIN_PORT}`, "anvil_nodeInfo");
    const chain = started.find((pid) => commandOf(pid).includes("anvil"));
    if (chain === undefined) return expect(existsSync("/proc/self/stat")).toBe(false);
    process.kill(chain, "SIGKILL");
    expect(await dev.exitCode).toBe(1);
    expect(dev.output()).toContain("the chain ended unexpectedly");
    expect(started.filter(isAlive)).toEqual([]);
  });
});

describe("npm start", () => {
  it("shows four purchases and their listings, step by step, and stays up until Ctrl-C", async () => {
    const ports = { ...(await freePorts()), SOUK_SELLER_PORT: String(await anyFreePort()) };
    const demo = startDev(ports, "scripts/start.ts");
    await demo.ready("stays up until Ctrl-C");
    for (const step of [
      "asked",
      "402",
      "verdict  valid",
      "settled  0x",
      "receipt  0x",
      "balance",
      "answer",
      "found",
    ]) {
      expect(demo.output().split(`\n  ${step}`).length - 1, step).toBe(4);
    }
    expect((await fetch(`http://127.0.0.1:${ports.SOUK_SELLER_PORT}/weather`)).status).toBe(402);
    demo.process.kill("SIGINT");
    expect(await demo.exitCode).toBe(0);
    for (const port of Object.values(ports)) expect(await isFree(Number(port))).toBe(true);
  });
});

describe("the state", () => {
  it("comes back on both sides after a clean stop, and is empty after --fresh", async () => {
    const statePath = temporaryFolder();
    const first = await start(statePath);
    const key = await createKey(first);
    await rpc(first.rpcUrl, "anvil_mine", ["0x5"]);
    const height = await rpc<string>(first.rpcUrl, "eth_blockNumber");
    await first.stop();

    const second = await start(statePath);
    expect(Number(await rpc<string>(second.rpcUrl, "eth_blockNumber"))).toBeGreaterThanOrEqual(
      Number(height),
    );
    expect(await statusWithKey(second, key)).toBe(200);
    await second.stop();

    const third = await start(statePath, { fresh: true });
    expect(Number(await rpc<string>(third.rpcUrl, "eth_blockNumber"))).toBeLessThan(Number(height));
    expect(await statusWithKey(third, key)).toBe(401);
  });

  it("is empty on both sides, and says so, when the last run could not save the chain", async () => {
    const statePath = temporaryFolder();
    const first = await start(statePath);
    const key = await createKey(first);
    await first.stop();
    rmSync(join(statePath, "chain.json"));
    const notices: string[] = [];
    const second = await start(statePath, { onNotice: (line) => notices.push(line) });
    expect(notices.join()).toContain("starting from empty state");
    expect(await statusWithKey(second, key)).toBe(401);
  });

  it("survives a SIGKILL of the Worker while the chain goes on", async () => {
    const world = await start(temporaryFolder());
    const key = await createKey(world);
    await world.killWorker();
    await expect(fetch(world.url)).rejects.toThrow();
    await world.restartWorker();
    expect(await statusWithKey(world, key)).toBe(200);
  });
});

async function start(
  statePath: string,
  more: Partial<Parameters<typeof startWorld>[0]> = {},
): Promise<World> {
  const world = await startWorld({ port: await anyFreePort(), chainPort: 0, statePath, ...more });
  endings.push(world.stop);
  return world;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "souk-state-"));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function createKey(world: World): Promise<string> {
  const response = await fetch(`${world.url}/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ tenant: "shop", scopes: ["payments:verify"] }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { key: string }).key;
}

/** Any route answers 401 to a key it does not know. */
async function statusWithKey(world: World, key: string): Promise<number> {
  const response = await fetch(`${world.url}/openapi.json`, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

async function freePorts(): Promise<{ SOUK_PORT: string; SOUK_CHAIN_PORT: string }> {
  return { SOUK_PORT: String(await anyFreePort()), SOUK_CHAIN_PORT: String(await anyFreePort()) };
}

async function occupy(): Promise<number> {
  const server: Server = createServer();
  const port = await anyFreePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  endings.push(() => server.close());
  return port;
}

interface Dev {
  process: ChildProcess;
  pid: number;
  exitCode: Promise<number | null>;
  output(): string;
  /** Waits for words in the output. */
  ready(words: string): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;

/** `npm run dev`, or another script, with this environment. */
function startDev(environment: Record<string, string>, script = "scripts/dev.ts"): Dev {
  const child = spawn(process.execPath, [script, "--fresh"], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const exitCode = new Promise<number | null>((resolve) => child.once("exit", resolve));
  endings.push(() => {
    child.kill("SIGTERM");
    rmSync(join(".souk", environment.SOUK_PORT ?? "none"), { recursive: true, force: true });
    return exitCode;
  });
  return {
    process: child,
    pid: child.pid ?? 0,
    exitCode,
    output: () => output,
    ready: async (words) => {
      const deadline = Date.now() + READY_TIMEOUT_MS;
      while (!output.includes(words)) {
        if (Date.now() > deadline || child.exitCode !== null) throw new Error(`not ready: ${output}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

// Processes, as /proc shows them; where there is none, these tests look at the ports alone.

function descendants(pid: number): number[] {
  if (!existsSync("/proc/self/stat")) return [];
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const childrenOf = (parent: number): number[] =>
    all.filter((candidate) => statOf(candidate)?.parent === parent);
  const found = childrenOf(pid);
  for (const child of found) found.push(...childrenOf(child));
  return found;
}

function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== "Z";
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state = "", parent = ""] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}
