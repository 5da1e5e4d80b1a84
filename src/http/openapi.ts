// GET /openapi.json: OpenAPI 3.1 written from the routes themselves, so that the document cannot drift from what is
// parsed and served.

import { json } from "./answers.ts";
import type { Credential, Route } from "./call.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The route that describes all others and itself. */
export function openApiRoute(routes: () => readonly Route[]): Route {
  return {
    method: "GET",
    path: "/openapi.json",
    face: "api",
    credential: { kind: "none" },
    summary: "This document",
    answers: { 200: { type: "object" } },
    handle: () => json(describeRoutes(routes())),
  };
}

export function describeRoutes(routes: readonly Route[]): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Souk",
      version: "0.1.0",
      description: "An x402 facilitator and bazaar. Amounts are decimal strings of atomic units.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function describeRoute(route: Route): unknown {
  return {
    summary: route.summary,
    ...(route.credential.kind === "none" ? {} : { security: [{ bearer: scopesOf(route.credential) }] }),
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(route.body ? { requestBody: { required: true, content: content(route.body) } } : {}),
    responses: Object.fromEntries(
      Object.entries(route.answers).map(([status, schema]) => [
        status,
        { description: DESCRIPTIONS[status] ?? "Answer", content: content(schema, route.mediaType) },
      ]),
    ),
  };
}

const DESCRIPTIONS: Record<string, string> = { 200: "OK", 201: "Created", 204: "Done" };

function scopesOf(credential: Credential): string[] {
  switch (credential.kind) {
    case "key":
      return [credential.scope];
    case "provider":
      return ["payments:write"];
    case "owner":
      return ["wallet:owner"];
    default:
      return [];
  }
}

function content(schema: JsonSchema, mediaType = "application/json"): unknown {
  return { [mediaType]: { schema } };
}

function pathParameters(path: string): unknown[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => ({
    name: match[1],
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: JsonSchema | undefined): unknown[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: Array.isArray(query?.required) && query.required.includes(name),
    schema,
  }));
}
