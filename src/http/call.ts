// What a handler gets and what a face declares. A Route is the single description of a path: the router serves it,
// the body and the query are parsed by its schemas, the OpenAPI document is written from it, and the credentials
// test walks over it. A handler reads, calls one use case, answers.

import type { Config, Env } from "../config.ts";
import type { Clock } from "../platform/clock.ts";
import type { JsonSchema } from "./json-schema.ts";

export type Scope =
  | "payments:verify"
  | "payments:settle"
  | "payments:read"
  | "audit:read"
  | "payments:write"
  | "wallet:owner";

/**
 * CONTRACT.md section 5: who may call. `openable` routes need no key while AUTH=open. `orOwner`: the owner key of any
 * wallet as well, for that wallet's part.
 */
export type Credential =
  | { kind: "none" }
  | { kind: "key"; scope: Scope; openable: boolean; orOwner?: true }
  | { kind: "operator" }
  /** A provider's key with `payments:write`; which capabilities it owns is the handler's question. */
  | { kind: "provider" }
  /** The owner key of the wallet that the path's `:id` names, or the operator. */
  | { kind: "owner" };

/** Who is calling. With AUTH=open everybody is the one tenant `open`. */
export type Caller =
  | { kind: "anonymous" }
  | {
      kind: "tenant";
      tenant: string;
      keyId: string;
      scopes: readonly Scope[];
      /** Whose capabilities this key sells, on a provider's key. */
      providerId: string | null;
      /** Which wallet this key decides about, on an owner's key. */
      walletId: string | null;
    }
  | { kind: "operator" };

/**
 * How a face words its errors: the x402 verdict shapes, `{error:{code,message}}`, `{error:"..."}`, the envelope of
 * B402, JSON-RPC, or a page for people.
 */
export type Face = "verify" | "settle" | "api" | "discovery" | "b402" | "mcp" | "page";

export interface Route {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** itty-router pattern, e.g. `/settlements/:id`. */
  path: string;
  face: Face;
  credential: Credential;
  summary: string;
  /** An object schema whose properties are the query's parameters; other parameters are `unknownParameters`. */
  query?: JsonSchema;
  /** Schema of the JSON body. Bodies are limited to `MAX_BODY_BYTES`. */
  body?: JsonSchema;
  /** The handler judges the body itself, in an order of its own; `body` then only describes it. */
  bodyIsReadByHandler?: boolean;
  /** The handler reads the request's body as it streams, up to a limit of its own; `body` then only describes it. */
  bodyIsStreamed?: boolean;
  /** Called so often that a log line for each would cost more than it says: only other answers than 200 are logged. */
  isHot?: boolean;
  /** Schemas of the answers by status, for the OpenAPI document. */
  answers: Record<number, JsonSchema>;
  /** Of the answers; JSON where absent. */
  mediaType?: string;
  handle(call: Call): Promise<Response> | Response;
}

export interface Call {
  request: Request;
  url: URL;
  /** Path parameters, percent-decoded. */
  params: Record<string, string>;
  /** Parsed by `route.query`: strings and integers. */
  query: Record<string, string | number>;
  /** Names in the query string that `route.query` does not know. */
  unknownParameters: string[];
  /** The parsed body: what `route.body` let through. */
  body: unknown;
  env: Env;
  config: Config;
  ctx: ExecutionContext;
  clock: Clock;
  requestId: string;
  caller: Caller;
}

/** The tenant that owns what this call does. Routes that need one declare a `key` credential. */
export function tenantOf(call: Call): string {
  if (call.caller.kind === "tenant") return call.caller.tenant;
  return call.caller.kind === "operator" ? OPERATOR_TENANT : OPEN_TENANT;
}

export const OPEN_TENANT = "open";
export const OPERATOR_TENANT = "operator";
