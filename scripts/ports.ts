// Ports of the local world: read from the environment, and found free before anything is started, so that the error
// names the variable to change instead of a process that died.

import { type AddressInfo, createServer } from "node:net";

/** The port that a variable names, or the default. @throws Error naming the variable. */
export function portFrom(environment: NodeJS.ProcessEnv, variable: string, fallback: number): number {
  const raw = environment[variable];
  if (raw === undefined || raw === "") return fallback;
  const port = /^\d{1,5}$/.test(raw) ? Number(raw) : Number.NaN;
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`${variable} must be a port from 1 to 65535`);
}

/** @throws Error naming the variable when the port is taken or not allowed. */
export async function assertFree(port: number, variable: string): Promise<void> {
  const problem = await listenOnce(port);
  if (typeof problem === "number") return;
  if (problem.code === "EADDRINUSE") {
    throw new Error(`port ${port} is already in use: set ${variable} to a free port`);
  }
  throw new Error(`port ${port} cannot be used (${problem.code}): set ${variable} to another port`);
}

export async function isFree(port: number): Promise<boolean> {
  return typeof (await listenOnce(port)) === "number";
}

/** Below the ports that systems give to outgoing connections, so that nobody takes one between finding and using. */
const LOWEST_PORT = 20_000;
const PORT_COUNT = 12_000;

/** Any free port. It is free when this answers; nobody keeps it for the caller. */
export async function anyFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if (await isFree(port)) return port;
  }
}

function listenOnce(port: number): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen(port, "127.0.0.1", () => {
      const { port: taken } = server.address() as AddressInfo;
      server.close(() => resolve(taken));
    });
  });
}
