// The Worker's front door. Finds the route, checks the credential, parses query and body by the route's schemas,
// calls the handler, and words whatever goes wrong in the face's shape. The causes of failures go to the log.

import { Router as IttyRouter } from "itty-router";
import { type Env, loadConfig } from "../config.ts";
import { systemClock } from "../platform/clock.ts";
import { describeError, log } from "../platform/log.ts";
import { type Failure, failureAnswer, finish, invalidRequest, json, notFound, tooLarge } from "./answers.ts";
import type { Call, Face, Route } from "./call.ts";
import { checkCredential } from "./credentials.ts";
import { findProblem } from "./json-schema.ts";
import { discardBody, readJsonBody, readQuery } from "./read-request.ts";

type Found = { routes: Route[]; params: Record<string, string> };

/** Makes the Worker's fetch from the routes of all faces. */
export function makeFetch(routes: readonly Route[]) {
  const find = makeFinder(routes);
  return async (request: Request, env: Env, ctx: ExecutionContext): Promise<Response> => {
    const requestId = crypto.randomUUID();
    const startedMs = systemClock.nowMs();
    const url = new URL(request.url);
    const found = await find(request);
    const route = found?.routes.find((candidate) => candidate.method === methodOf(request));
    const isPublicGet = (route ?? found?.routes[0])?.credential.kind === "none" && request.method !== "POST";
    let response: Response;
    try {
      response = route
        ? await serve(route, { request, url, env, ctx, requestId, params: found?.params ?? {} })
        : withoutRoute(request, found);
    } catch (error) {
      log("unexpected_failure", { requestId, path: url.pathname, cause: describeError(error) });
      response = failureAnswer(route?.face ?? "api", internalFailure(route?.face ?? "api", requestId));
    }
    await discardBody(request);
    if (!route?.isHot || response.status !== 200) {
      log("request", {
        requestId,
        method: request.method,
        route: route?.path ?? "none",
        status: response.status,
        durationMs: systemClock.nowMs() - startedMs,
      });
    }
    const bodiless = request.method === "HEAD" ? new Response(null, response) : response;
    return finish(bodiless, requestId, isPublicGet);
  };
}

/** HEAD is served by the GET route. */
function methodOf(request: Request): string {
  return request.method === "HEAD" ? "GET" : request.method;
}

/** Matches paths with itty-router; a trailing slash is the same route. One pattern may have several methods. */
function makeFinder(routes: readonly Route[]): (request: Request) => Promise<Found | undefined> {
  const router = IttyRouter();
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    router.all(path, (request): Found => ({ routes: group, params: request.params }));
  }
  return async (request) => {
    try {
      return (await router.fetch(request)) as Found | undefined;
    } catch {
      return undefined; // A path whose percent-encoding cannot be decoded names no route.
    }
  };
}

type Incoming = Pick<Call, "request" | "url" | "env" | "ctx" | "requestId" | "params">;

async function serve(route: Route, incoming: Incoming): Promise<Response> {
  const config = loadConfig(incoming.env);
  const credential = await checkCredential(route.credential, incoming, config, systemClock);
  if (!credential.ok) return failureAnswer(route.face, credential.failure);

  const query = readQuery(route.query, incoming.url);
  if (!query.ok) return failureAnswer(route.face, invalidRequest(query.field, query.message));

  let body: unknown;
  if (route.body && !route.bodyIsStreamed) {
    const reading = await readJsonBody(incoming.request);
    if (!reading.ok && reading.reason === "too_large") return failureAnswer(route.face, tooLarge("256 KiB"));
    if (!reading.ok) return failureAnswer(route.face, invalidRequest(reading.field, reading.message));
    const problem = route.bodyIsReadByHandler ? undefined : findProblem(route.body, reading.value);
    if (problem) return failureAnswer(route.face, invalidRequest(problem.field, problem.message));
    body = reading.value;
  }
  return route.handle({
    ...incoming,
    query: query.query,
    unknownParameters: query.unknown,
    body,
    config,
    clock: systemClock,
    caller: credential.caller,
  });
}

function withoutRoute(request: Request, found: Found | undefined): Response {
  if (!found) {
    return failureAnswer("api", notFound("no such path"));
  }
  const methods = found.routes.flatMap((route) =>
    route.method === "GET" ? ["GET", "HEAD"] : [route.method],
  );
  const publicGet = found.routes.find((route) => route.method === "GET" && route.credential.kind === "none");
  if (request.method === "OPTIONS" && publicGet) {
    return json(null, 200, {
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": "content-type, authorization",
      "access-control-max-age": "86400",
    });
  }
  return failureAnswer("api", {
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    message: `use ${methods.join(" or ")}`,
    reason: "method_not_allowed",
    headers: { allow: methods.join(", ") },
  });
}

function internalFailure(face: Face, requestId: string): Failure {
  const reason = face === "settle" ? "unexpected_settle_error" : "unexpected_verify_error";
  return { status: 500, code: "INTERNAL", message: "internal error", reason, requestId };
}
