// The one way out to a stranger's server, shared by the prober and the sellers' preflight. It owns the effect `fetch`
// in this folder: refuses targets before anything is sent, follows redirects on the same origin only, and stops at
// fixed limits of time and size. It sends no credentials, no cookies and nothing of a payment.

import { type HostRules, isLoopbackHost } from "../catalog/host-rules.ts";
import { readResourceUrl } from "../catalog/resource-url.ts";

/** For a whole probe: its redirects and every request of an MCP handshake included. */
export const PROBE_TIMEOUT_MS = 5_000;
/** Of one answer's body, decompressed. A 402 with a bazaar block of the largest size fits. */
export const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REDIRECTS = 2;
const PUBLIC_PORTS: ReadonlySet<string> = new Set(["", "80", "443"]);

export type TargetReading =
  | { ok: true; url: URL }
  /** `problem` reads after "resource.url ". */
  | { ok: false; problem: string };

/** Whether a URL may be asked at all. Query and fragment are dropped: they may be a buyer's. */
export function readTarget(text: unknown, rules: HostRules): TargetReading {
  const reading = readResourceUrl(text, rules);
  if (!reading.ok) return { ok: false, problem: reading.reason.replace(/^resource\.url /, "") };
  if (reading.resource.kind === "mcp url")
    return { ok: false, problem: "must be http or https to be probed" };
  const url = new URL(reading.resource.origin + reading.resource.path);
  const isLocal = rules.allowLoopback && isLoopbackHost(url.hostname);
  if (!isLocal && !PUBLIC_PORTS.has(url.port)) {
    return { ok: false, problem: "must be on port 80 or 443 to be probed" };
  }
  return { ok: true, url };
}

export interface OutboundRequest {
  method: "GET" | "HEAD" | "POST";
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export type OutboundAnswer =
  | { ok: true; status: number; headers: Headers; body: string; isCut: boolean }
  | { ok: false; reason: OutboundFailure };

/** - `redirected_elsewhere`: to another scheme, host or port; nothing was sent there. */
export type OutboundFailure = "unreachable" | "timed_out" | "redirected_elsewhere" | "too_many_redirects";

/**
 * Gets an answer's headers with an empty piece, then each piece of its text as it comes, and says whether that is
 * enough: some answers stay open.
 */
export type Listener = (piece: string, headers: Headers) => boolean;

/**
 * Sends one request and reads at most `MAX_ANSWER_BYTES` of the answer; a longer body is cut and says so. Reading also
 * stops once `isEnough` says so. `deadline` covers the whole exchange.
 */
export async function sendBounded(
  request: OutboundRequest,
  deadline: AbortSignal,
  isEnough: Listener = () => false,
): Promise<OutboundAnswer> {
  try {
    let next = request;
    for (let redirects = 0; ; redirects++) {
      const response = await sendOnce(next, deadline);
      const location = isRedirect(response.status) ? response.headers.get("location") : null;
      if (location === null) {
        const { text, isCut } = await readBounded(response, isEnough);
        return { ok: true, status: response.status, headers: response.headers, body: text, isCut };
      }
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) return { ok: false, reason: "too_many_redirects" };
      const target = URL.canParse(location, next.url.href) ? new URL(location, next.url) : undefined;
      // One origin: the rules that let the first URL through are rules about its scheme, host and port.
      if (target?.origin !== request.url.origin) return { ok: false, reason: "redirected_elsewhere" };
      next = redirected(next, response.status, target);
    }
  } catch {
    return { ok: false, reason: deadline.aborted ? "timed_out" : "unreachable" };
  }
}

function sendOnce(request: OutboundRequest, deadline: AbortSignal): Promise<Response> {
  const { method, url, headers, body } = request;
  return fetch(url.href, {
    method,
    headers,
    redirect: "manual",
    signal: deadline,
    ...(body !== undefined && { body }),
  });
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** As paying clients follow them: 307 and 308 repeat the request, the others turn it into a GET. */
function redirected(request: OutboundRequest, status: number, url: URL): OutboundRequest {
  if (status === 307 || status === 308 || request.method !== "POST") return { ...request, url };
  const { "content-type": _ofTheBody, ...headers } = request.headers;
  return { method: "GET", url, headers };
}

async function readBounded(
  response: Response,
  isEnough: Listener,
): Promise<{ text: string; isCut: boolean }> {
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) return { text: "", isCut: false };
  let bytesLeft = MAX_ANSWER_BYTES;
  let isDone = isEnough("", response.headers);
  let isCut = false;
  while (!isDone) {
    const { done, value } = await reader.read();
    if (done) break;
    const piece = decoder.decode(value.subarray(0, bytesLeft), { stream: true });
    pieces.push(piece);
    isCut = value.byteLength > bytesLeft;
    bytesLeft -= value.byteLength;
    isDone = isCut || isEnough(piece, response.headers);
  }
  await reader.cancel();
  return { text: pieces.join(""), isCut };
}
