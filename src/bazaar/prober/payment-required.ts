// What an origin says in its own 402, read from any of the places where sellers put it: the v2 `PAYMENT-REQUIRED`
// header, a JSON body (v1, and v2 from sellers who repeat it there), an MCP tool's answer. The prober compares the
// offers with the catalog's, the preflight reports on them. Pure; everything read here is a stranger's text.

import { isRecord } from "../block/block-rules.ts";
import { type Offer, readOffer } from "../catalog/offer.ts";
import { networkOfV1Name } from "./v1-networks.ts";

export interface OriginStatement {
  x402Version: 1 | 2;
  source: "header" | "body" | "mcp";
  /** The entries of `accepts` that can be paid, in the origin's order and in version 2's words. */
  offers: Offer[];
  /** One sentence for each entry that nobody could pay. */
  offerProblems: string[];
  /** Version 2's `resource` object, or the same fields gathered from version 1's first entry. */
  resource: Record<string, unknown> | undefined;
  /** Version 2's `extensions`; empty in version 1. */
  extensions: Record<string, unknown>;
}

export type StatementReading = { ok: true; statement: OriginStatement } | { ok: false; problem: string };

/** Sellers offer a handful of ways to pay; the rest of a longer list is not read. */
const MAX_OFFERS_READ = 50;

/**
 * Reads an HTTP 402. The header decides when it is there, as it does for paying clients: a broken header is not
 * excused by a good body. `header` is the value of `PAYMENT-REQUIRED`, `body` the text of the answer.
 */
export function readHttpStatement(header: string | null, body: string): StatementReading {
  if (header !== null) {
    const decoded = decodeBase64Json(header);
    return decoded === undefined
      ? unreadable("PAYMENT-REQUIRED is not base64 of JSON")
      : readStatement(decoded, "header");
  }
  const parsed = parseJson(body);
  return parsed === undefined
    ? unreadable("PAYMENT-REQUIRED is missing and the body is not JSON")
    : readStatement(parsed, "body");
}

/**
 * Reads the JSON-RPC answer to a `tools/call` without payment. PaymentRequired stands in `structuredContent` of an
 * `isError` result, as JSON in its first text block, or in the `data` of a JSON-RPC error with code 402.
 */
export function readMcpStatement(reply: Record<string, unknown>): StatementReading {
  const { result, error } = reply;
  if (isRecord(error) && error.code === 402 && isRecord(error.data)) return readStatement(error.data, "mcp");
  if (isRecord(result) && result.isError === true) {
    const { structuredContent, content } = result;
    if (isRecord(structuredContent) && "accepts" in structuredContent) {
      return readStatement(structuredContent, "mcp");
    }
    const first: unknown = Array.isArray(content) ? content[0] : undefined;
    const parsed = isRecord(first) && typeof first.text === "string" ? parseJson(first.text) : undefined;
    if (isRecord(parsed) && "accepts" in parsed) return readStatement(parsed, "mcp");
  }
  return unreadable("the tool does not ask for a payment");
}

function readStatement(sent: unknown, source: OriginStatement["source"]): StatementReading {
  if (!isRecord(sent)) return unreadable("PaymentRequired is not an object");
  const { x402Version, accepts, resource, extensions } = sent;
  if (x402Version !== 1 && x402Version !== 2) return unreadable("x402Version is neither 1 nor 2");
  if (!Array.isArray(accepts) || accepts.length === 0) return unreadable("accepts is not a list of offers");
  const offers: Offer[] = [];
  const offerProblems: string[] = [];
  for (const [index, entry] of accepts.slice(0, MAX_OFFERS_READ).entries()) {
    const reading = readEntry(x402Version === 1 && isRecord(entry) ? inVersion2(entry) : entry);
    if (reading.ok) offers.push(reading.offer);
    else offerProblems.push(reading.reason.replace("paymentRequirements", `accepts[${index}]`));
  }
  const v2 = {
    resource: isRecord(resource) ? resource : undefined,
    extensions: isRecord(extensions) ? extensions : {},
  };
  const described = x402Version === 2 ? v2 : { resource: resourceOfV1(accepts[0]), extensions: {} };
  return { ok: true, statement: { x402Version, source, offers, offerProblems, ...described } };
}

/** The catalog's rules for an offer, and besides them an EVM address that is one: no payment vouches for this text. */
function readEntry(entry: unknown): ReturnType<typeof readOffer> {
  const reading = readOffer(entry, undefined);
  if (!reading.ok || !reading.offer.network.startsWith("eip155:")) return reading;
  for (const field of ["asset", "payTo"] as const) {
    if (!/^0x[0-9a-f]{40}$/.test(reading.offer[field])) {
      return { ok: false, reason: `paymentRequirements.${field} must be 0x and 40 hex digits` };
    }
  }
  return reading;
}

/** A version 1 entry in version 2's words; what described the resource there stands beside the offers now. */
function inVersion2(entry: Record<string, unknown>): Record<string, unknown> {
  const { scheme, network, asset, payTo, maxTimeoutSeconds, maxAmountRequired, extra } = entry;
  return {
    scheme,
    network: typeof network === "string" ? networkOfV1Name(network) : undefined,
    amount: maxAmountRequired,
    asset,
    payTo,
    maxTimeoutSeconds,
    extra,
  };
}

function resourceOfV1(entry: unknown): Record<string, unknown> | undefined {
  if (!isRecord(entry)) return undefined;
  const { resource, description, mimeType } = entry;
  return { url: resource, description, mimeType };
}

function unreadable(problem: string): StatementReading {
  return { ok: false, problem };
}

function decodeBase64Json(text: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    return parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
