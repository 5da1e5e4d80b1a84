// Every answer leaves through here: JSON, the error shapes of the faces (CONTRACT.md section 0), and the headers that
// every answer carries. Bodies are built from our own fields only; no internal error text reaches a client.

import { unreachable } from "../platform/assert.ts";
import type { Face } from "./call.ts";
import type { Html } from "./page/html.ts";
import { problemPage } from "./page/problem-page.ts";

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

export function page(content: Html, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(content.text, {
    status,
    headers: { "content-type": "text/html; charset=utf-8", ...headers },
  });
}

export type ErrorCode =
  | "INVALID_REQUEST"
  | "BODY_TOO_LARGE"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "RATE_LIMITED"
  | "MISCONFIGURED"
  | "UNAVAILABLE"
  | "NO_ANSWER"
  | "CONFLICT"
  | "CALL_DECIDED"
  | "CALL_NOT_HELD"
  | "CAPABILITY_UNAVAILABLE"
  | "INSUFFICIENT_BALANCE"
  | "INTERNAL";

export interface Failure {
  status: number;
  code: ErrorCode;
  message: string;
  /** The x402 reason on the verdict faces. */
  reason: string;
  /** Set when the same call may succeed later; becomes `Retry-After` and `extra.retryable`. */
  retryAfterSeconds?: number;
  /** The network echoed on /settle, when known. */
  network?: string;
  requestId?: string;
  headers?: Record<string, string>;
}

/** 413; `limit` as a reader says it. */
export function tooLarge(limit: string): Failure {
  const message = `the body is larger than ${limit}`;
  return { status: 413, code: "BODY_TOO_LARGE", message, reason: "invalid_payload" };
}

/** 400 that names the field; on the payment faces in the verdict shape. */
export function invalidRequest(field: string, message: string): Failure {
  return { status: 400, code: "INVALID_REQUEST", message: `${field} ${message}`, reason: "invalid_payload" };
}

/** 404: also what belongs to another. */
export function notFound(message: string): Failure {
  return { status: 404, code: "NOT_FOUND", message, reason: "not_found" };
}

/** These four keep `{error:{code,message}}` on every face: they are about the request, not about a payment. */
const SHAPE_FREE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 405]);

/** Words a failure in the shape that the face's clients parse. */
export function failureAnswer(face: Face, failure: Failure): Response {
  const headers = { ...failure.headers };
  if (failure.retryAfterSeconds !== undefined) headers["retry-after"] = String(failure.retryAfterSeconds);
  const shape = shapeOf(face, failure.status);
  if (shape === "page") return page(problemPage(failure), failure.status, headers);
  // Clients of the enveloped face read its code only on 2xx.
  return json(failureBody(shape, failure), shape === "b402" ? 200 : failure.status, headers);
}

/** Only verify and settle have words of their own for a failure that is ours. */
function shapeOf(face: Face, status: number): Face {
  const isOurs = status >= 500 && (face === "discovery" || face === "b402");
  return isOurs || SHAPE_FREE_STATUSES.has(status) ? "api" : face;
}

function failureBody(face: Exclude<Face, "page">, failure: Failure): unknown {
  const { code, message, reason, requestId, network = "" } = failure;
  const extra = {
    ...(failure.retryAfterSeconds === undefined ? {} : { retryable: true }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  const withExtra = Object.keys(extra).length > 0 ? { extra } : {};
  const withRpcData = Object.keys(extra).length > 0 ? { data: extra } : {};
  switch (face) {
    case "verify":
      return { isValid: false, invalidReason: reason, invalidMessage: message, ...withExtra };
    case "settle":
      return {
        success: false,
        errorReason: reason,
        errorMessage: message,
        transaction: "",
        network,
        ...withExtra,
      };
    case "discovery":
      return { error: message };
    case "b402":
      return {
        code: "000002",
        message: "illegal parameter",
        messageDetail: message,
        data: null,
        success: false,
      };
    case "mcp":
      return {
        jsonrpc: "2.0",
        id: null,
        error: { code: rpcCodeOf(failure.status), message, ...withRpcData },
      };
    case "api":
      return { error: { code, message, ...(requestId === undefined ? {} : { requestId }) } };
    default:
      return unreachable(face);
  }
}

/** JSON-RPC 2.0, section 5.1: internal error, or invalid request. */
function rpcCodeOf(status: number): number {
  return status >= 500 ? -32603 : -32600;
}

/** Headers of every answer; HTML answers get their policy besides. */
export function finish(response: Response, requestId: string, isPublicGet: boolean): Response {
  const finished = withHeader(response, "x-request-id", requestId);
  finished.headers.set("x-content-type-options", "nosniff");
  if (isPublicGet) finished.headers.set("access-control-allow-origin", "*");
  if (finished.headers.get("content-type")?.startsWith("text/html")) {
    finished.headers.set("content-security-policy", HTML_POLICY);
    finished.headers.set("referrer-policy", "no-referrer");
  }
  return finished;
}

/** The same answer, or a copy where it came from elsewhere and its headers are not ours to change. */
function withHeader(response: Response, name: string, value: string): Response {
  try {
    response.headers.set(name, value);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    copy.headers.set(name, value);
    return copy;
  }
}

const HTML_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
