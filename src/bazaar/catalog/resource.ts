// A listing as discovery shows it (CONTRACT.md section 1, `Resource`), from its rows. Rows are validated here once more:
// a row that is not what the cataloger writes becomes undefined and costs a page one item, nothing else.

import { isRecord } from "../block/block-rules.ts";

export interface ListingRow {
  row_id: number;
  id: string;
  type: string;
  resource: string;
  method: string | null;
  tool_name: string | null;
  x402_version: number;
  example_url: string | null;
  service_name: string | null;
  tags: string;
  icon_url: string | null;
  description: string | null;
  mime_type: string | null;
  bazaar: string;
  extensions: string;
  last_updated_ms: number;
  calls_30d: number;
  payers_30d: number;
  last_called_ms: number;
  verified_at_ms: number | null;
  health: string;
}

export interface OfferRow {
  listing_id: string;
  scheme: string;
  method: string;
  requirements: string;
  /** Millionths of a dollar; null when the token has no known price. */
  usd_micros: number | null;
}

/** PaymentRequirements as discovery shows them. */
export interface ShownRequirements {
  scheme: string;
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds?: number;
  extra: Record<string, unknown>;
}

export interface Resource {
  id: string;
  resource: string;
  type: "http" | "mcp";
  x402Version: number;
  accepts: ShownRequirements[];
  /** ISO 8601. */
  lastUpdated: string;
  description?: string;
  mimeType?: string;
  serviceName?: string;
  tags?: string[];
  iconUrl?: string;
  extensions?: Record<string, unknown>;
  method?: string;
  toolName?: string;
  exampleUrl?: string;
  quality: Quality;
}

export interface Quality {
  l30DaysTotalCalls: number;
  l30DaysUniquePayers: number;
  lastCalledAt?: string;
  verifiedAt?: string;
  health: "ok" | "failing" | "unprobed";
}

/** The resource, or undefined when a row or one of its shown offers is not as it must be. */
export function readResource(row: ListingRow, offers: readonly OfferRow[]): Resource | undefined {
  const { type, health } = row;
  const tags = parse(row.tags);
  const bazaar = parse(row.bazaar);
  const extensions = parse(row.extensions);
  const accepts = offers.map((offer) => readRequirements(parse(offer.requirements)));
  if (type !== "http" && type !== "mcp") return undefined;
  if (health !== "ok" && health !== "failing" && health !== "unprobed") return undefined;
  if (!isText(row.id) || !isText(row.resource) || !isTime(row.last_updated_ms)) return undefined;
  if (!isRecord(bazaar) || !isRecord(extensions)) return undefined;
  if (!Array.isArray(tags) || !tags.every(isText) || !accepts.every(isDefined)) return undefined;
  return {
    id: row.id,
    resource: row.resource,
    type,
    x402Version: row.x402_version,
    accepts,
    lastUpdated: iso(row.last_updated_ms),
    ...present("description", row.description),
    ...present("mimeType", row.mime_type),
    ...present("serviceName", row.service_name),
    ...(tags.length > 0 ? { tags } : {}),
    ...present("iconUrl", row.icon_url),
    extensions: { bazaar, ...extensions },
    ...present("method", row.method),
    ...present("toolName", row.tool_name),
    ...present("exampleUrl", row.example_url),
    quality: {
      l30DaysTotalCalls: row.calls_30d,
      l30DaysUniquePayers: row.payers_30d,
      ...(row.last_called_ms > 0 ? { lastCalledAt: iso(row.last_called_ms) } : {}),
      ...(row.verified_at_ms === null ? {} : { verifiedAt: iso(row.verified_at_ms) }),
      health,
    },
  };
}

function readRequirements(value: unknown): ShownRequirements | undefined {
  if (!isRecord(value)) return undefined;
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra } = value;
  if (!isText(scheme) || !isText(network) || !isText(amount) || !isText(asset) || !isText(payTo))
    return undefined;
  const timeout = typeof maxTimeoutSeconds === "number" ? { maxTimeoutSeconds } : {};
  return { scheme, network, amount, asset, payTo, ...timeout, extra: isRecord(extra) ? extra : {} };
}

function present<const Name extends string>(name: Name, value: unknown): { [name in Name]?: string } {
  return isText(value) ? ({ [name]: value } as { [name in Name]: string }) : {};
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Beyond it `Date` has no ISO form. */
const MAX_TIME_MS = 8.64e15;

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MAX_TIME_MS;
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
