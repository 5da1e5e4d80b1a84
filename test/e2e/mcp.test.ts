// /mcp of the built bundle, spoken to by the official client as an agent's host uses it. The bundle forbids code
// generation as Workers do, so this also shows that the SDK runs without its usual validator.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aBlock, aBodyBlock, aMessage, aToolBlock, type Json, someRequirements } from "../support/bazaar.ts";
import { type ListedWorld, startListedWorld } from "../support/listed-world.ts";
import { type RunningOrigin, startOrigin } from "../support/origins.ts";
import { aPaymentRequired } from "../support/payment-required.ts";

const LOOPBACK = { ownHosts: [], allowLoopback: true };
/** Answers of one tool call beyond it would be a flood in a model's context. */
const MAX_ANSWER_BYTES = 16_384;

let world: ListedWorld;
let origin: RunningOrigin;
let client: Client;

beforeAll(async () => {
  [world, origin] = await Promise.all([startListedWorld(), startOrigin()]);
  client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`)));
});
afterAll(async () => {
  await client?.close();
  await Promise.all([world?.stop(), origin?.stop()]);
});

let addresses = 0x5000;
const anAddress = () => `0x${(addresses++).toString(16).padStart(40, "0")}`;

async function call(name: string, args: Json): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args })) as CallToolResult;
}

/** Of a call that must succeed: the structured answer, after checking that the text says the same. */
async function ask(name: string, args: Json): Promise<Json & { resources: Json[] }> {
  const result = await call(name, args);
  expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  const [text] = result.content;
  expect(text?.type === "text" && JSON.parse(text.text)).toEqual(result.structuredContent);
  expect(Buffer.byteLength(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
  return result.structuredContent as Json & { resources: Json[] };
}

async function refusal(name: string, args: Json): Promise<string> {
  const result = await call(name, args);
  expect(result.isError).toBe(true);
  const [text] = result.content;
  return text?.type === "text" ? text.text : "";
}

it("introduces itself and describes three tools that only read", async () => {
  expect(client.getServerVersion()?.name).toBe("souk");
  expect(client.getInstructions()).toContain("search_resources");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["search_resources", "list_resources", "get_resource"]);
  expect(tools.every(({ annotations, outputSchema }) => annotations?.readOnlyHint && outputSchema)).toBe(
    true,
  );
});

describe("search_resources", () => {
  it("finds by words and filters, with the price in dollars and how far the listing is proved", async () => {
    const payTo = anAddress();
    const shop = {
      url: `${origin.url}/tides`,
      resource: { serviceName: "Tide Tables", description: "High and low water of a harbour", tags: ["sea"] },
      requirements: someRequirements({ payTo, amount: "12500" }),
    };
    await origin.behave("/tides", { do: "payment_required", paymentRequired: aPaymentRequired(shop) });
    const [id = ""] = await world.list([aMessage(shop, LOOPBACK)]);
    await world.confirmed(id);
    const found = await ask("search_resources", { query: "harbour high water", maxUsdPrice: "0.02" });
    expect(found.resources).toMatchObject([
      {
        id,
        type: "http",
        method: "GET",
        resource: `${origin.url}/tides`,
        name: "Tide Tables",
        priceUsd: "0.0125",
        offers: [{ scheme: "exact", network: "eip155:84532", amount: "12500", payTo, priceUsd: "0.0125" }],
        confirmed: true,
        health: "ok",
        callsLast30Days: 1,
      },
    ]);
    expect((await ask("search_resources", { query: "harbour", maxUsdPrice: "0.01" })).resources).toEqual([]);
    expect((await ask("search_resources", { query: "harbour", type: "mcp" })).resources).toEqual([]);
    expect((await ask("search_resources", { query: "xylophone repair" })).resources).toEqual([]);
  });

  it("names the argument that is wrong, so that a model can correct it", async () => {
    expect(await refusal("search_resources", {})).toContain("query");
    expect(await refusal("search_resources", { query: "sea", maxUsdPrice: 0.01 })).toContain("maxUsdPrice");
    expect(await refusal("search_resources", { query: "sea", network: "!!!" })).toContain("network");
    expect(await refusal("search_resources", { query: "sea", price: "1" })).toContain("price");
    expect(await refusal("search_resources", { query: "sea", cursor: "AAAA" })).toContain("cursor");
    await expect(() => call("delete_everything", {})).rejects.toThrow("no such tool");
  });

  it("walks by cursor through more than fits into one answer, losing and repeating nothing", async () => {
    const payTo = anAddress();
    const long = "Quarries of marble and their dust. ".repeat(40);
    const wide = (i: number) => `https://quarry${i}.shop.test/${"a".repeat(1_500)}`;
    const listed = await world.list(
      Array.from({ length: 24 }, (_, i) =>
        aMessage({
          url: wide(i),
          resource: { description: `Quarry ${i}. ${long}` },
          requirements: someRequirements({ payTo }),
        }),
      ),
    );
    const seen: unknown[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const page = await ask("search_resources", {
        query: "quarries of marble",
        payTo,
        limit: 20,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.resources.map(({ id }) => id));
      cursor = page.cursor ?? undefined;
      pages++;
    } while (cursor !== undefined && pages < 30);
    expect(pages).toBeGreaterThan(2);
    expect(seen.toSorted()).toEqual(listed.toSorted());
  });
});

describe("list_resources", () => {
  it("walks by offset and counts", async () => {
    const payTo = anAddress();
    const listed = await world.list(
      Array.from({ length: 5 }, (_, i) =>
        aMessage({
          url: `https://walk.shop.test/${i}`,
          settledAtMs: Date.now() - i * 1_000,
          requirements: someRequirements({ payTo }),
        }),
      ),
    );
    const first = await ask("list_resources", { payTo, limit: 3 });
    expect(first).toMatchObject({ total: 5, nextOffset: 3 });
    const second = await ask("list_resources", { payTo, limit: 3, offset: 3 });
    expect(second).toMatchObject({ total: 5, nextOffset: null });
    expect([...first.resources, ...second.resources].map(({ id }) => id)).toEqual(listed);
    expect(await ask("list_resources", { payTo: anAddress() })).toEqual({
      resources: [],
      total: 0,
      nextOffset: null,
    });
  });
});

describe("get_resource", () => {
  it("says how an HTTP resource is called and paid", async () => {
    const [id] = await world.list([
      aMessage({
        url: "https://translate.shop.test/v1/texts",
        resource: { description: "Translates" },
        block: aBodyBlock("POST", { body: { text: "good\u202emorning", to: "no" } }),
        requirements: someRequirements({ payTo: anAddress(), scheme: "upto", amount: "50000" }),
      }),
    ]);
    expect(await ask("get_resource", { id })).toMatchObject({
      id,
      priceUsd: "0.05",
      offers: [{ scheme: "upto" }],
      confirmed: false,
      howToPay: { transport: "x402-http" },
      inputSchema: { type: "object" },
      exampleRequest: {
        method: "POST",
        url: "https://translate.shop.test/v1/texts",
        headers: { "content-type": "application/json" },
        body: { kind: "text", text: '{"text":"good\\u202emorning","to":"no"}' },
      },
    });
  });

  it("says how a tool is called and paid, with its own input schema", async () => {
    const [id] = await world.list([
      aMessage({
        url: "https://tools.shop.test/mcp",
        block: aToolBlock({ example: { city: "Oslo" } }),
        requirements: someRequirements({ payTo: anAddress() }),
      }),
    ]);
    const resource = await ask("get_resource", { id });
    expect(resource).toMatchObject({
      type: "mcp",
      toolName: "get_weather",
      howToPay: { transport: "x402-mcp" },
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
    });
    const { steps } = resource.howToPay as { steps: string[] };
    expect(steps.join(" ")).toContain('params._meta["x402/payment"]');
  });

  it("leaves out what is too large and names it, rather than flooding", async () => {
    const names = Array.from({ length: 400 }, (_, i) => [
      `parameter${i}`,
      { type: "string", description: "d".repeat(30) },
    ]);
    const input = { type: "object", properties: { queryParams: { properties: Object.fromEntries(names) } } };
    const [id] = await world.list([
      aMessage({
        url: "https://wide.shop.test/a",
        resource: { description: "界".repeat(2_000) },
        block: aBlock({}, { schema: { type: "object", properties: { input } } }),
        requirements: someRequirements({ payTo: anAddress() }),
      }),
    ]);
    const resource = await ask("get_resource", { id });
    expect(resource.leftOut).toEqual(["inputSchema"]);
    expect(resource.inputSchema).toBeUndefined();
    expect(resource.description).toBe("界".repeat(2_000));
  });

  it("does not know what is not listed", async () => {
    expect(await refusal("get_resource", { id: "lst_unknown" })).toContain("no such resource");
  });
});

describe("the protocol's edges", () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${world.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };

  it("refuses pages of other origins, serves its own and programs", async () => {
    for (const origin of ["https://evil.test", "null", "http://127.0.0.1:1"]) {
      const response = await post(list, { origin });
      expect(response.status, origin).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      await response.arrayBuffer();
    }
    expect(await (await post(list, { origin: world.url })).json()).toMatchObject({ id: 7, result: {} });
  });

  it("keeps no session and no stream: GET and DELETE are 405, notifications 202", async () => {
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(`${world.url}/mcp`, { method, headers: { accept: "text/event-stream" } });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
      await response.arrayBuffer();
    }
    expect((await post(list)).headers.get("mcp-session-id")).toBeNull();
    expect((await post({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
  });

  it("answers what is no single message as JSON-RPC says", async () => {
    for (const body of ["{", [list, list], {}, { jsonrpc: "1.0", id: 1, method: "ping" }, '"x"']) {
      const response = await post(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
    }
    const unknown = await post({ jsonrpc: "2.0", id: 1, method: "no/such" });
    expect(await unknown.json()).toMatchObject({ id: 1, error: { code: -32601 } });
  });
});
