// `resource.url` of a payment, read once: what may be listed at all, and the canonical pieces of its identity. The
// buyer controls this text; a payment is never refused for it, only its listing is.

import { findHostProblem, type HostRules } from "./host-rules.ts";

export interface HttpResource {
  kind: "http";
  /** Scheme and host in lower case, default port dropped. */
  origin: string;
  /** Percent-encoded, without query and fragment, dot segments resolved. Begins with a slash. */
  path: string;
  /** Host name in punycode, without the port. */
  host: string;
}

/** An `mcp:` URL, kept as written: it names a tool's server and is never fetched. */
export interface McpUrlResource {
  kind: "mcp url";
  text: string;
}

export type ResourceReading =
  | { ok: true; resource: HttpResource | McpUrlResource }
  | { ok: false; reason: string };

/** What every browser and proxy accepts. */
export const MAX_URL_CHARACTERS = 2_048;

/** Reads `resource.url`. The host rules hold for http(s) only. */
export function readResourceUrl(text: unknown, rules: HostRules): ResourceReading {
  if (typeof text !== "string" || text === "") return refuse("is missing");
  if (text.length > MAX_URL_CHARACTERS) return refuse(`is longer than ${MAX_URL_CHARACTERS} characters`);
  if (!URL.canParse(text)) return refuse("is not an absolute URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return refuse("must not hold a user name or password");
  if (url.protocol === "mcp:") {
    if (!/^[\x21-\x7e]+$/.test(text)) return refuse("must be printable ASCII");
    return { ok: true, resource: { kind: "mcp url", text } };
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return refuse("must be an http, https or mcp URL");
  const hostProblem = findHostProblem(url, rules);
  if (hostProblem) return refuse(`host ${hostProblem}`);
  return {
    ok: true,
    resource: { kind: "http", origin: url.origin, path: url.pathname, host: url.hostname },
  };
}

function refuse(problem: string): { ok: false; reason: string } {
  return { ok: false, reason: `resource.url ${problem}` };
}
