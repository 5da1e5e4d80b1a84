// The built bundle with a catalog of the test's own: Miniflare in this process, no chain, and messages given to the
// Worker's queue as a settlement object gives them. What stands in the catalog went through the cataloger and, where
// its server runs, the prober. Node only; expects the bundle in dist/.

import { join } from "node:path";
import { Miniflare } from "miniflare";
import { PROJECT_ROOT } from "../../scripts/build.ts";
import { localVariables } from "../../scripts/local-variables.ts";
import { anyFreePort } from "../../scripts/ports.ts";
import { applyMigrations } from "../../scripts/worker/apply-migrations.ts";
import { miniflareOptions } from "../../scripts/worker/miniflare-options.ts";
import { listingIdOf } from "../../src/bazaar/catalog/listing-identity.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";

export interface ListedWorld {
  url: string;
  /** Resolves once all are listed, with their listings' ids in the same order. */
  list(messages: readonly CatalogMessage[]): Promise<string[]>;
  /** Resolves once the listing's own server has confirmed it. */
  confirmed(listingId: string): Promise<void>;
  stop(): Promise<void>;
}

/** As many as the queue takes in one batch. */
const BATCH = 100;
const PATIENCE_MS = 60_000;
const POLL_MS = 100;
/** No payment is made here, so nobody asks the chain. */
const NO_RPC = "http://127.0.0.1:9";

export async function startListedWorld(): Promise<ListedWorld> {
  const port = await anyFreePort();
  const url = `http://127.0.0.1:${port}`;
  const logs: string[] = [];
  const miniflare = new Miniflare({
    ...miniflareOptions({ port, variables: localVariables(url, NO_RPC) }),
    handleRuntimeStdio: (stdout, stderr) => {
      for (const stream of [stdout, stderr]) stream.on("data", (chunk) => logs.push(String(chunk)));
    },
  });
  await miniflare.ready;
  await applyMigrations(await miniflare.getD1Database("DB"), join(PROJECT_ROOT, "migrations"));
  const queue = await miniflare.getQueueProducer<CatalogMessage>("CATALOG_QUEUE");
  const find = async (id: string) => callTool(url, "get_resource", { id });
  return {
    url,
    list: async (messages) => {
      for (let i = 0; i < messages.length; i += BATCH) {
        await queue.sendBatch(messages.slice(i, i + BATCH).map((body) => ({ body })));
      }
      const ids = await Promise.all(messages.map(({ observation }) => listingIdOf(observation)));
      for (const id of new Set(ids)) await eventually(async () => (await find(id)) !== undefined, logs);
      return ids;
    },
    confirmed: (id) => eventually(async () => (await find(id))?.confirmed === true, logs),
    stop: () => miniflare.dispose(),
  };
}

/** A tool of /mcp, by hand; undefined when it answers an error. */
async function callTool(
  url: string,
  name: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown> | undefined> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const { result } = (await response.json()) as { result?: { structuredContent?: Record<string, unknown> } };
  return result?.structuredContent;
}

async function eventually(isSo: () => Promise<boolean>, logs: readonly string[]): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms: ${logs.slice(-20).join("")}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
