// `npm run bench:search`: how long a search takes in the Worker over 25,000 listings, and what indexing one listing costs.
// The catalog is the labelled set's corpus, varied; the queries are the labelled set's. First beside the storage alone,
// then through the built bundle's /discovery/search, which also reads the cursor's generation and loads the page's rows.
//
//   --listings N   default 25,000
//   --rounds N     times that every query is asked, after one round that does not count; default 5
//   --json         one line of JSON at the end

import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Miniflare, NoOpLog } from "miniflare";
import { buildBundle, PROJECT_ROOT } from "../scripts/build.ts";
import { type LabelledQuery, messagesOf, readLabelledSet } from "../scripts/search/labelled-set.ts";
import { makeStateFolder, SETTLED_AT_MS, startMeasuredCatalog } from "../scripts/search/measured-catalog.ts";
import { varyCorpus } from "../scripts/search/varied-corpus.ts";
import { miniflareOptions } from "../scripts/worker/miniflare-options.ts";
import { type Percentiles, percentiles } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    listings: { type: "string", default: "25000" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
  },
});

/** DESIGN.md, section 9. */
const TARGET_P95_MS = 15;
const PAGE = 20;

const { corpus, queries } = readLabelledSet(join(PROJECT_ROOT, "test", "fixtures", "search"));
const listings = varyCorpus(corpus, Number(options.listings));
const statePath = makeStateFolder();
try {
  await buildBundle();
  const { rowsPerListing, fillSeconds, search, nothing } = await measureCatalog();
  const route = await measureRoute();
  // What a request costs that finds nothing to do is not the search's: HTTP, Miniflare's router, JSON.
  const p95InWorker = Math.max(0, search.p95 - nothing.p50);

  console.log(`${listings.length} listings, filled in ${fillSeconds.toFixed(0)} s`);
  console.log(
    `rows written per listing: search index ${rowsPerListing.index.toFixed(1)}, catalog ${rowsPerListing.catalog.toFixed(1)}\n`,
  );
  console.table({
    "a request that asks nothing": rounded(nothing),
    "search beside the storage": rounded(search),
    "GET /discovery/search, built bundle": rounded(route),
  });
  console.log(`p95 in the Worker: ${p95InWorker.toFixed(1)} ms (target: at most ${TARGET_P95_MS})`);
  if (options.json) {
    const ms = { nothing: rounded(nothing), search: rounded(search), route: rounded(route), p95InWorker };
    console.log(JSON.stringify({ listings: listings.length, rowsPerListing, ms }));
  }
} finally {
  rmSync(statePath, { recursive: true, force: true });
}

async function measureCatalog() {
  const catalog = await startMeasuredCatalog(statePath);
  try {
    const started = performance.now();
    const messages = listings.flatMap((listing) => messagesOf(listing, SETTLED_AT_MS));
    const { rowsWritten } = await catalog.fill(messages);
    const fillSeconds = (performance.now() - started) / 1_000;
    const rowsPerListing = {
      catalog: rowsWritten.catalog / listings.length,
      index: rowsWritten.index / listings.length,
    };
    const search = await timeEach(({ query }) => catalog.search(query, {}, PAGE));
    // Punctuation has no words: the Worker answers without asking the storage.
    const nothing = await timeEach(() => catalog.search("?!", {}, PAGE));
    return { rowsPerListing, fillSeconds, search, nothing };
  } finally {
    await catalog.stop();
  }
}

async function measureRoute(): Promise<Times> {
  const variables = { AUTH: "open", MAC_KEYS: `1:${"a1".repeat(32)}` };
  const miniflare = new Miniflare({
    ...miniflareOptions({ port: 0, statePath, variables }),
    log: new NoOpLog(),
    // A line per request is not what anybody wants to read here.
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.resume();
      stderr.pipe(process.stderr);
    },
  });
  try {
    const url = await miniflare.ready;
    return await timeEach(async ({ query }) => {
      const search = new URL(`/discovery/search?query=${encodeURIComponent(query)}`, url);
      const response = await fetch(search);
      if (response.status !== 200) throw new Error(`${search}: ${response.status}`);
      await response.arrayBuffer();
    });
  } finally {
    await miniflare.dispose();
  }
}

interface Times extends Percentiles {
  /** The p95 of each query's fastest round: what is left of it on a machine that others use, too. */
  p95OfFastest: number;
}

/** One after the other, as D1 answers them. */
async function timeEach(ask: (query: LabelledQuery) => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  const fastest = new Map<LabelledQuery, number>();
  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const query of queries) {
      const from = performance.now();
      await ask(query);
      const ms = performance.now() - from;
      if (round === 0) continue;
      times.push(ms);
      fastest.set(query, Math.min(ms, fastest.get(query) ?? ms));
    }
  }
  return { ...percentiles(times), p95OfFastest: percentiles([...fastest.values()]).p95 };
}

function rounded(values: Times): Times {
  const entries = Object.entries(values).map(([name, value]) => [name, Math.round(value * 10) / 10]);
  return Object.fromEntries(entries) as unknown as Times;
}
