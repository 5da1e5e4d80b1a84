// A local world for one test file: free ports, a state folder of its own that goes when the world goes. Node only.
//
//   const world = await startTestWorld({ variables: { AUTH: "keys" } });
//   await world.killWorker();       // SIGKILL, in the middle of whatever it does
//   await world.restartWorker();    // the same port, the same state
//   await world.stop();

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorld, type World, type WorldOptions } from "../../scripts/local-world.ts";
import { anyFreePort } from "../../scripts/ports.ts";

export type TestWorldOptions = Pick<WorldOptions, "rpcUrl" | "variables" | "blockTimeSeconds" | "launch">;

export interface TestWorld extends World {
  /** What the Worker has logged so far, line by line. */
  logs: readonly string[];
  /** The folder that holds everything the world stores. */
  statePath: string;
}

/** Expects the bundle in dist/: the e2e project builds it before its first file. */
export async function startTestWorld(options: TestWorldOptions = {}): Promise<TestWorld> {
  const statePath = mkdtempSync(join(tmpdir(), "souk-world-"));
  const forget = () => rmSync(statePath, { recursive: true, force: true });
  const logs: string[] = [];
  try {
    const world = await startWorld({
      ...options,
      port: await anyFreePort(),
      chainPort: 0,
      statePath,
      onLog: (line) => logs.push(line),
    });
    return { ...world, logs, statePath, stop: () => world.stop().finally(forget) };
  } catch (error) {
    forget();
    throw error;
  }
}
