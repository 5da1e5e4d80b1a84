// The front door, inside workerd: error shapes, methods, limits and headers that hold for every route.

import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

const origin = "https://souk.test";

describe("the front door", () => {
  it("answers an unknown path with 404 in the error shape", async () => {
    const response = await exports.default.fetch(`${origin}/no/such/path`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: { code: "NOT_FOUND", message: "no such path" } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("answers a wrong method with 405 and names the right ones", async () => {
    const response = await exports.default.fetch(`${origin}/openapi.json`, { method: "DELETE" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    await response.body?.cancel();
  });

  it("treats a trailing slash as the same route", async () => {
    const response = await exports.default.fetch(`${origin}/openapi.json/`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ openapi: "3.1.0" });
  });

  it("creates a key for a tenant and refuses a wrong operator token", async () => {
    const body = JSON.stringify({ tenant: "shop", scopes: ["payments:verify"] });
    const refused = await exports.default.fetch(`${origin}/v1/keys`, { method: "POST", body });
    expect(refused.status).toBe(401);
    await refused.body?.cancel();
    const created = await exports.default.fetch(`${origin}/v1/keys`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${env.ADMIN_TOKEN}` },
    });
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({ key: expect.stringMatching(/^souk_/) });
  });

  it("speaks MCP, by the official SDK without its usual validator", async () => {
    const post = async (message: object) => {
      const response = await exports.default.fetch(`${origin}/mcp`, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      });
      return response.json<{ result: Record<string, unknown> }>();
    };
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    expect(await post({ method: "initialize", params })).toMatchObject({
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "souk" } },
    });
    const call = { name: "list_resources", arguments: { tag: "nobody has this" } };
    expect(await post({ method: "tools/call", params: call })).toMatchObject({
      result: { structuredContent: { resources: [], total: 0, nextOffset: null } },
    });
  });

  it("answers people with pages under a strict policy, errors too", async () => {
    for (const [path, status] of [
      ["/", 200],
      ["/listings/lst_unknown", 404],
      ["/?offset=x", 400],
    ] as const) {
      const response = await exports.default.fetch(origin + path);
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
      expect(await response.text()).toContain("</html>");
    }
  });
});
