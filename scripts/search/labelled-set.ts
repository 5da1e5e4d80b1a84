// A labelled set for search: listings, and queries with graded judgments. Its form is described in
// test/fixtures/search/README.md. Reads it, and makes of each listing what the cataloger receives.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BlockReading, readBazaarBlock } from "../../src/bazaar/block/extension.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";

export interface LabelledListing {
  id: string;
  type: "http" | "mcp";
  resource: string;
  method?: string;
  toolName?: string;
  routeTemplate?: string;
  serviceName?: string;
  tags?: string[];
  description: string;
  mimeType: string;
  input: Record<string, unknown>;
  output?: Record<string, unknown>;
  accepts: LabelledOffer[];
}

export interface LabelledOffer {
  scheme: string;
  network: string;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra?: Record<string, unknown>;
}

export interface LabelledQuery {
  qid: string;
  query: string;
  style: string;
  filters: LabelledFilters;
  /** Grades by listing id: 3 exactly what is asked, 2 clearly useful, 1 marginal. None: no answer exists. */
  judgments: Record<string, number>;
}

export interface LabelledFilters {
  type?: string;
  network?: string;
  scheme?: string;
  payTo?: string;
  asset?: string;
  tag?: string;
  maxUsdPrice?: number;
}

export interface LabelledSet {
  corpus: LabelledListing[];
  queries: LabelledQuery[];
}

export function readLabelledSet(folder: string): LabelledSet {
  const queries = readLines<LabelledQuery>(folder, "queries.jsonl");
  return {
    corpus: readLines(folder, "corpus.jsonl"),
    queries: queries.map((query) => ({
      ...query,
      filters: query.filters ?? {},
      judgments: query.judgments ?? {},
    })),
  };
}

function readLines<T>(folder: string, file: string): T[] {
  const lines = readFileSync(join(folder, file), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as T);
}

const PAYER = `0x${"b0".repeat(20)}`;
const ANY_SCHEMA = { type: "object", properties: { input: { type: "object" } }, required: ["input"] };

/** What a settled payment of each of the listing's offers brings the cataloger. Throws when it cannot be listed. */
export function messagesOf(listing: LabelledListing, settledAtMs: number): CatalogMessage[] {
  return listing.accepts.map((offer, index) => {
    const reading = readOffer(listing, offer);
    if (reading.kind !== "accepted") {
      throw new Error(`${listing.id} cannot be listed: ${JSON.stringify(reading)}`);
    }
    return {
      settlementId: `${listing.id}-${index}`,
      settledAtMs,
      payer: PAYER,
      payTo: offer.payTo,
      observation: reading.observation,
    };
  });
}

function readOffer(listing: LabelledListing, offer: LabelledOffer): BlockReading {
  const { type, method, toolName, routeTemplate, input, output } = listing;
  const info = {
    input: { type, ...(type === "mcp" ? { toolName } : { method }), ...input },
    ...(output && { output }),
  };
  const payload = {
    x402Version: 2,
    resource: {
      url: listing.resource,
      description: listing.description,
      mimeType: listing.mimeType,
      serviceName: listing.serviceName,
      tags: listing.tags,
    },
    accepted: offer,
    extensions: { bazaar: { info, schema: ANY_SCHEMA, ...(routeTemplate && { routeTemplate }) } },
  };
  return readBazaarBlock(payload, offer, { ownHosts: [], allowLoopback: false });
}
