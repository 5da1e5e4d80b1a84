// Every route of the built bundle, called from outside and outside the test pool: the pool allows code generation and
// Workers do not, so only here a route that needs it shows. The list of routes is the Worker's own; a route without a
// row in ROWS fails, and so does a row without a route.

import { Validator } from "@cfworker/json-schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBuyer } from "../../scripts/demo/buyer.ts";
import { WEATHER } from "../../scripts/demo/resources.ts";
import { startSeller } from "../../scripts/demo/seller.ts";
import { BUYER, OPERATOR_TOKEN } from "../../scripts/local-variables.ts";
import { type Cast, makeCast, send, TENANT_SCOPES, type Wire } from "../support/cast.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";
import { ROWS, type Row, type Wanted } from "./route-rows.ts";

let world: TestWorld;
let routes: Record<string, DescribedRoute>;
let cast: Cast;

beforeAll(async () => {
  world = await startTestWorld({ variables: { AUTH: "keys" } });
  routes = await describedRoutes();
  cast = await makeCast(world.url);
});
afterAll(async () => {
  await cast?.stop();
  await world?.stop();
});

it("knows every route of the Worker, and no other", () => {
  expect(Object.keys(ROWS).sort()).toEqual(Object.keys(routes).sort());
});

it("answers before it has read a body, without cutting the client's connection", async () => {
  const statuses = new Set<number>();
  const headers = { connection: "keep-alive" };
  for (const [path, bytes] of [
    ["/verify", 100],
    ["/settle", 300_000],
    ["/no/such/path", 1_000_000],
  ] as const) {
    for (let call = 0; call < 50; call++) {
      const response = await request(`POST ${path}`, { rawBody: " ".repeat(bytes), headers });
      await response.arrayBuffer();
      statuses.add(response.status);
    }
  }
  expect([...statuses]).toEqual([401, 404]);
});

it("refuses a published server without a key, whose buyer then gets nothing", async () => {
  const keyless = await startSeller({ facilitatorUrl: world.url, port: 0 });
  try {
    const { status } = await makeBuyer(BUYER, "eip3009").buy(keyless.url, WEATHER);
    expect(status).toBeGreaterThanOrEqual(400);
  } finally {
    await keyless.stop();
  }
});

describe.each(Object.keys(ROWS))("%s", (name) => {
  it("works with the right credential and answers as it declares", async () => {
    const row = rowOf(name);
    const response = await request(name, await row.call(cast), rightToken(row.wanted));
    const text = await response.text();
    expect([row.status, row.lateStatus], text).toContain(response.status);
    const declared = routes[name]?.responses[response.status];
    expect(declared, `${response.status} is not declared`).toBeDefined();
    if (text === "") return expect(response.status).toBe(204);
    const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
    const schema = declared?.content[mediaType]?.schema ?? false;
    const answer = mediaType === "application/json" ? JSON.parse(text) : text;
    expect(new Validator(schema, "2020-12").validate(answer).errors).toEqual([]);
  });

  it("wants the credential that it says", async () => {
    const { wanted, call, status, lateStatus } = rowOf(name);
    expect(routes[name]?.security).toEqual(declaredSecurity(wanted));
    const statusWith = async (token?: string) => {
      const response = await request(name, await call(cast), token);
      await response.arrayBuffer();
      return response.status === lateStatus ? status : response.status;
    };
    const lacking = TENANT_SCOPES.filter((scope) => wanted.kind !== "key" || scope !== wanted.scope);
    const withoutScope = (await cast.createKey({ tenant: "own" }, lacking)).key;
    expect({
      noKey: await statusWith(),
      badKey: await statusWith("souk_not-a-key"),
      withoutScope: await statusWith(withoutScope),
      othersKey: await statusWith(othersToken(wanted)),
      operator: await statusWith(OPERATOR_TOKEN),
      rightKey: await statusWith(rightToken(wanted)),
    }).toEqual({ ...expectedStatuses(wanted, status), rightKey: status });
  });

  it("answers nonsense without an internal error", async () => {
    const { wanted } = rowOf(name);
    for (const nonsense of NONSENSE) {
      const path = name.split(" ")[1]?.replaceAll(/\{\w+\}/g, nonsense.parameter) + nonsense.query;
      const response = await request(name, { path, ...nonsense }, rightToken(wanted));
      const text = await response.text();
      expect(response.status, `${JSON.stringify(nonsense).slice(0, 100)}: ${text}`).toBeLessThan(500);
    }
  });
});

const NONSENSE: ({ parameter: string; query: string } & Wire)[] = [
  { parameter: "x", query: "" },
  { parameter: "%00%ff", query: "?limit=NaN&offset=-1&cursor=%00", rawBody: "{" },
  { parameter: "..%2f..", query: `?query=${"%22".repeat(100)}&network=!!!`, body: [] },
  { parameter: "a".repeat(2_000), query: "?payTo=1&payTo=2&maxUsdPrice=1e400", body: null },
  {
    parameter: "constructor",
    query: "?__proto__=1&query=*",
    rawBody: `{"__proto__":{"x":1},"x402Version":{}}`,
  },
  {
    parameter: "\u{1f600}",
    query: "?query=NEAR(%20OR",
    body: { x402Version: 2, paymentPayload: [], paymentRequirements: 1 },
  },
];

/** Statuses of all credentials but the right one. */
function expectedStatuses(wanted: Wanted, status: number): Record<string, number> {
  const all = (noKey: number, withoutScope: number, othersKey: number, operator: number) => ({
    ...{ noKey, badKey: 401, withoutScope, othersKey, operator },
  });
  switch (wanted.kind) {
    case "none":
      return all(status, status, status, status);
    case "operator":
      return all(401, 403, 403, status);
    case "key":
      return all(401, 403, wanted.owned ? 404 : status, status);
    // The operator sells nothing.
    case "provider":
      return all(401, 403, wanted.owned ? 404 : status, 403);
    case "owner":
      return all(401, 403, 403, status);
  }
}

function declaredSecurity(wanted: Wanted): DescribedRoute["security"] {
  switch (wanted.kind) {
    case "none":
      return undefined;
    case "operator":
      return [{ bearer: [] }];
    case "key":
      return [{ bearer: [wanted.scope] }];
    case "provider":
      return [{ bearer: ["payments:write"] }];
    case "owner":
      return [{ bearer: ["wallet:owner"] }];
  }
}

function rightToken(wanted: Wanted): string | undefined {
  switch (wanted.kind) {
    case "none":
      return undefined;
    case "operator":
      return OPERATOR_TOKEN;
    case "key":
      return cast.own;
    case "provider":
      return cast.stall.providerKey;
    case "owner":
      return cast[wanted.of].ownerKey;
  }
}

/** As good a key, of somebody else. */
function othersToken(wanted: Wanted): string {
  switch (wanted.kind) {
    case "provider":
      return cast.otherStall.providerKey;
    case "owner":
      return cast.stranger.ownerKey;
    default:
      return cast.other;
  }
}

function rowOf(name: string): Row {
  const row = ROWS[name];
  if (!row) throw new Error(`no row for ${name}`);
  return row;
}

function request(name: string, wire: Wire, token?: string): Promise<Response> {
  return send(world.url, name, wire, token);
}

interface DescribedRoute {
  security?: { bearer: string[] }[];
  responses: Record<string, { content: Record<string, { schema: object }> }>;
}

async function describedRoutes(): Promise<Record<string, DescribedRoute>> {
  const response = await send(world.url, "GET /openapi.json");
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, DescribedRoute>> };
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => [`${method.toUpperCase()} ${path}`, route]),
    ),
  );
}
