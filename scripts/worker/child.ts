// The process that holds the Worker: Miniflare here, workerd below it. It is a process of its own so that a test can
// kill both hard and start them again on the same state. It is driven by the messages of worker.ts and never outlives
// the process that started it.

import { join } from "node:path";
import type { Readable } from "node:stream";
import { Miniflare, NoOpLog } from "miniflare";
import { PROJECT_ROOT } from "../build.ts";
import { applyMigrations } from "./apply-migrations.ts";
import { runCrons } from "./cron.ts";
import { type LocalWorkerOptions, miniflareOptions, readWranglerConfig } from "./miniflare-options.ts";

export type ToChild = { kind: "start"; options: LocalWorkerOptions; guardedPid?: number } | { kind: "stop" };
export type FromChild = { kind: "ready" } | { kind: "failed"; message: string };

let miniflare: Miniflare | undefined;
let stopping = false;
let guardedPid: number | undefined;

// Ctrl-C reaches the whole terminal; the parent decides when this process goes.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("disconnect", () => void stopWithParent());
process.on("message", (message: ToChild) => {
  if (message.kind === "stop") void stop();
  else {
    guardedPid = message.guardedPid;
    void start(message.options);
  }
});

async function start(options: LocalWorkerOptions): Promise<void> {
  try {
    miniflare = new Miniflare({
      ...miniflareOptions(options),
      log: new NoOpLog(),
      handleRuntimeStdio: passOn,
    });
    const url = await miniflare.ready;
    await migrate(miniflare);
    // The first request loads the code; nobody who was told "ready" should wait for it.
    await (await fetch(new URL("/openapi.json", url))).arrayBuffer();
    tell({ kind: "ready" });
    startCrons(url);
  } catch (error) {
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    await stop();
  }
}

async function migrate(running: Miniflare): Promise<void> {
  for (const { binding, migrations_dir: folder = "migrations" } of readWranglerConfig().d1_databases) {
    await applyMigrations(await running.getD1Database(binding), join(PROJECT_ROOT, folder));
  }
}

/**
 * By HTTP: Miniflare's own `scheduled` stops this process until workerd has answered, and workerd stops as soon as
 * nobody takes its log lines, so that a busy Worker and this process would wait for each other for ever.
 */
function startCrons(url: URL): void {
  runCrons(readWranglerConfig().triggers.crons ?? [], (cron, atMs) => {
    const query = new URLSearchParams({ cron, time: String(atMs) });
    // A run that fails says so in the Worker's own log, and the next one comes in a minute.
    void fetch(new URL(`/cdn-cgi/handler/scheduled?${query}`, url))
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
  });
}

/** The Worker's log lines go to this process's own output; when they end, workerd is gone. */
function passOn(stdout: Readable, stderr: Readable): void {
  stdout.pipe(process.stdout, { end: false });
  stderr.pipe(process.stderr, { end: false });
  stdout.once("close", () => void stop());
}

/** The parent was killed hard: nobody else is left to end the chain that it started. */
async function stopWithParent(): Promise<void> {
  try {
    if (guardedPid !== undefined && !stopping) process.kill(guardedPid, "SIGKILL");
  } catch {
    // It was gone already.
  }
  await stop();
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await miniflare?.dispose().catch(() => {});
  process.exit(0);
}

function tell(message: FromChild): void {
  if (process.connected) process.send?.(message);
}
