// The catalog that measurements run on: a real D1 at the schema of migrations/, and worker.ts beside it, which fills it
// through the cataloger's write path. Node only.

import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { D1Database } from "@cloudflare/workers-types";
import { Miniflare, NoOpLog } from "miniflare";
import { build, type Rollup } from "vite";
import type { CatalogFilters } from "../../src/bazaar/catalog/catalog-filter.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";
import { PROJECT_ROOT } from "../build.ts";
import { applyMigrations } from "../worker/apply-migrations.ts";
import { readWranglerConfig } from "../worker/miniflare-options.ts";
import type { FillAnswer, FillRequest, SearchAnswer, SearchBody } from "./worker.ts";

/** Any moment: every listing is settled then, so time decides nothing. */
export const SETTLED_AT_MS = Date.UTC(2026, 0, 1);
/** A request's worth of work, well below the runtime's limits. */
const MESSAGES_PER_REQUEST = 50;
const MEMORY_FOLDER = "/dev/shm";

export interface MeasuredCatalog {
  /** Lists what the messages bring, in order, as if each origin had named its offers. */
  fill(messages: readonly CatalogMessage[]): Promise<FillAnswer>;
  /** Row ids, best first. */
  search(query: string, filters: CatalogFilters, limit: number): Promise<number[]>;
  /** A second database, empty. */
  other: D1Database;
  stop(): Promise<void>;
}

/** A folder for state, in memory where the machine has one: a disk's fsync is not what is measured. */
export function makeStateFolder(): string {
  return mkdtempSync(join(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), "souk-search-"));
}

/** The catalog's database is the one that the built bundle uses on the same state. */
export async function startMeasuredCatalog(statePath: string): Promise<MeasuredCatalog> {
  const [database] = readWranglerConfig().d1_databases;
  const miniflare = new Miniflare({
    name: "measuring",
    modules: [{ type: "ESModule", path: "worker.js", contents: await bundleWorker() }],
    compatibilityDate: readWranglerConfig().compatibility_date ?? "",
    d1Databases: { DB: database?.database_id ?? "catalog", OTHER: "other" },
    defaultPersistRoot: statePath,
    cf: false,
    log: new NoOpLog(),
  });
  await applyMigrations(await miniflare.getD1Database("DB"), join(PROJECT_ROOT, "migrations"));
  const url = await miniflare.ready;
  return {
    fill: (messages) => fillThrough(url, messages),
    search: async (query, filters, limit) => {
      const body: SearchBody = { query, filters, limit };
      return (await post<SearchAnswer>(url, "/search", body)).rowIds;
    },
    other: await miniflare.getD1Database("OTHER"),
    stop: () => miniflare.dispose(),
  };
}

async function bundleWorker(): Promise<string> {
  const entry = join(PROJECT_ROOT, "scripts", "search", "worker.ts");
  const built = (await build({
    configFile: false,
    root: PROJECT_ROOT,
    logLevel: "error",
    build: { write: false, lib: { entry, formats: ["es"] }, minify: false, target: "es2024" },
  })) as Rollup.RollupOutput[];
  const code = built[0]?.output[0]?.code;
  if (code === undefined) throw new Error("the measuring worker was not bundled");
  return code;
}

async function fillThrough(url: URL, messages: readonly CatalogMessage[]): Promise<FillAnswer> {
  const sum: FillAnswer = { rowIds: [], rowsWritten: { catalog: 0, index: 0 } };
  for (let from = 0; from < messages.length; from += MESSAGES_PER_REQUEST) {
    const body: FillRequest = { messages: messages.slice(from, from + MESSAGES_PER_REQUEST) };
    const { rowIds, rowsWritten } = await post<FillAnswer>(url, "/fill", body);
    sum.rowIds.push(...rowIds);
    sum.rowsWritten.catalog += rowsWritten.catalog;
    sum.rowsWritten.index += rowsWritten.index;
  }
  await post(url, "/confirm", {});
  return sum;
}

async function post<Answer>(url: URL, path: string, body: unknown): Promise<Answer> {
  const response = await fetch(new URL(path, url), { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
