// C30, C35: asking real servers for their 402 within the prober's bounds, and never asking those that must not be.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Asker, askOrigin, type Question } from "../../src/bazaar/prober/ask-origin.ts";
import { MAX_ANSWER_BYTES, PROBE_TIMEOUT_MS, readTarget } from "../../src/bazaar/prober/outbound.ts";
import { aToolBlock } from "../support/bazaar.ts";
import { type RunningOrigin, startOrigin } from "../support/origins.ts";
import { aPaymentRequired } from "../support/payment-required.ts";

const LOCAL: Asker = { rules: { ownHosts: [], allowLoopback: true }, userAgent: "souk-prober/1 (test)" };
const PUBLIC: Asker = { ...LOCAL, rules: { ownHosts: ["souk.example.com"], allowLoopback: false } };

let shop: RunningOrigin;
let elsewhere: RunningOrigin;
beforeAll(async () => {
  [shop, elsewhere] = await Promise.all([startOrigin(), startOrigin()]);
});
afterAll(() => Promise.all([shop.stop(), elsewhere.stop()]));

const ask = (path: string, method = "GET") =>
  askOrigin({ type: "http", url: shop.url + path, method }, LOCAL);
const askTool = (path: string, transport: "streamable-http" | "sse" = "streamable-http") =>
  askOrigin({ type: "mcp", url: shop.url + path, toolName: "forecast", transport }, LOCAL);
const seenAt = async (path: string) =>
  (await shop.seen()).filter((request) => request.path.split("?")[0] === path);

describe("asking a URL", () => {
  it("sends nothing but the method, who asks, and for POST an empty object", async () => {
    await shop.behave("/plain", { do: "payment_required", paymentRequired: aPaymentRequired() });
    for (const method of ["GET", "HEAD", "POST"]) {
      expect(await ask("/plain?city=Oslo#x", method)).toMatchObject({
        kind: "statement",
        statement: { source: "header", offers: [{ amount: "10000" }] },
      });
    }
    const seen = await seenAt("/plain");
    expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["GET", "/plain", ""],
      ["HEAD", "/plain", ""],
      ["POST", "/plain", "{}"],
    ]);
    for (const { headers } of seen) {
      expect(headers["user-agent"]).toBe("souk-prober/1 (test)");
      expect(headers).not.toHaveProperty("cookie");
      expect(headers).not.toHaveProperty("authorization");
    }
  });

  it.each(["PUT", "PATCH", "DELETE", "TRACE", "get"])("C30: never asks by %s", async (method) => {
    expect(await ask("/changes", method)).toMatchObject({ kind: "refused" });
    expect(await seenAt("/changes")).toEqual([]);
  });

  it("reads a version 1 body", async () => {
    const body = JSON.stringify({ x402Version: 1, accepts: [{ scheme: "exact" }] });
    await shop.behave("/v1", { do: "answer", status: 402, body });
    expect(await ask("/v1")).toMatchObject({ kind: "statement", statement: { x402Version: 1, offers: [] } });
  });

  it("tells apart an answer that is no 402 and a 402 that cannot be read", async () => {
    await shop.behave("/free", { do: "answer", status: 200, body: "{}" });
    await shop.behave("/odd", { do: "answer", status: 402, body: "pay me" });
    expect(await ask("/free")).toEqual({ kind: "no_402", status: 200 });
    expect(await ask("/gone")).toEqual({ kind: "no_402", status: 404 });
    expect(await ask("/odd")).toMatchObject({ kind: "unreadable" });
  });

  it("reads at most 64 KiB of a body", async () => {
    const huge = "x".repeat(50 * MAX_ANSWER_BYTES);
    await shop.behave("/huge", { do: "answer", status: 402, body: huge });
    expect(await ask("/huge")).toEqual({ kind: "unreadable", problem: "the body is larger than 64 KiB" });
    const headers = { "payment-required": btoa(JSON.stringify(aPaymentRequired())) };
    await shop.behave("/huge-body", { do: "answer", status: 402, headers, body: huge });
    expect(await ask("/huge-body")).toMatchObject({ kind: "statement" });
  });

  it("gives up after five seconds, whether the origin is silent or drips", async () => {
    await shop.behave("/silent", { do: "silence" });
    await shop.behave("/drip", { do: "drip", status: 402 });
    const startedMs = performance.now();
    const answers = await Promise.all([ask("/silent"), ask("/drip"), askTool("/silent")]);
    const tookMs = performance.now() - startedMs;
    expect(answers).toEqual(Array(3).fill({ kind: "unreachable", reason: "timed_out" }));
    expect(tookMs).toBeGreaterThan(PROBE_TIMEOUT_MS - 100);
    expect(tookMs).toBeLessThan(PROBE_TIMEOUT_MS + 2_000);
  });

  it("says so when nobody answers", async () => {
    const gone = await startOrigin();
    await gone.stop();
    expect(await askOrigin({ type: "http", url: `${gone.url}/a`, method: "GET" }, LOCAL)).toEqual({
      kind: "unreachable",
      reason: "unreachable",
    });
  });
});

describe("C35: redirects", () => {
  const redirect = (path: string, location: string, status = 307) =>
    shop.behave(path, { do: "answer", status, headers: { location } });

  it("follows two on the same origin, repeating the request", async () => {
    await redirect("/from", "/over");
    await redirect("/over", `${shop.url}/to?x=1`);
    await shop.behave("/to", { do: "payment_required", paymentRequired: aPaymentRequired() });
    expect(await ask("/from", "POST")).toMatchObject({ kind: "statement" });
    expect(await seenAt("/to")).toMatchObject([{ method: "POST", body: "{}" }]);
  });

  it("turns a POST into a GET where clients do", async () => {
    await redirect("/see-other", "/seen-other", 303);
    await shop.behave("/seen-other", { do: "payment_required", paymentRequired: aPaymentRequired() });
    expect(await ask("/see-other", "POST")).toMatchObject({ kind: "statement" });
    expect(await seenAt("/seen-other")).toMatchObject([{ method: "GET", body: "" }]);
  });

  it("stops at the third", async () => {
    await redirect("/round", "/round");
    expect(await ask("/round")).toEqual({ kind: "unreachable", reason: "too_many_redirects" });
    expect(await seenAt("/round")).toHaveLength(3);
  });

  it("sends nothing to another scheme, host or port", async () => {
    const port = new URL(elsewhere.url).port;
    for (const location of [
      `${elsewhere.url}/secret`,
      `//127.0.0.1:${port}/secret`,
      `http://localhost:${port}/secret`,
      shop.url.replace("127.0.0.1", "localhost"),
      shop.url.replace("http:", "https:"),
      "http://169.254.169.254/latest/meta-data/",
      "file:///etc/passwd",
      "http://[",
    ]) {
      await redirect("/away", location);
      expect(await ask("/away"), location).toEqual({ kind: "unreachable", reason: "redirected_elsewhere" });
    }
    expect(await elsewhere.seen()).toEqual([]);
  });
});

describe("asking an MCP tool", () => {
  const paymentRequired = aPaymentRequired({ block: aToolBlock() });

  it.each([
    ["plain JSON", {}],
    ["server-sent events on a stream that stays open", { sse: true }],
    ["a text block", { in: "text" }],
    ["a JSON-RPC error", { in: "error", sse: true }],
  ] as const)("reads the tool's PaymentRequired from %s", async (_form, form) => {
    await shop.behave("/mcp", { do: "mcp", paymentRequired, ...form });
    expect(await askTool("/mcp")).toMatchObject({
      kind: "statement",
      statement: { source: "mcp", offers: [{ amount: "10000" }] },
    });
  });

  it("initializes, keeps the session, and calls with empty arguments", async () => {
    await shop.behave("/session", { do: "mcp", paymentRequired, sessionId: "abc-123" });
    await askTool("/session");
    const seen = await seenAt("/session");
    expect(seen.map(({ body }) => JSON.parse(body))).toMatchObject([
      { id: 1, method: "initialize", params: { clientInfo: { name: "souk-prober" } } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "forecast", arguments: {} } },
    ]);
    expect(seen.map(({ headers }) => headers["mcp-session-id"])).toEqual([undefined, "abc-123", "abc-123"]);
    expect(seen[2]?.headers).toMatchObject({
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    });
  });

  it("takes HTTP's own 402 as the tool's answer too", async () => {
    await shop.behave("/guarded", { do: "payment_required", paymentRequired });
    expect(await askTool("/guarded")).toMatchObject({ kind: "statement", statement: { source: "header" } });
  });

  it("does not take a web page for a tool", async () => {
    await shop.behave("/page", { do: "answer", status: 200, body: "<html>" });
    expect(await askTool("/page")).toEqual({ kind: "no_402", status: 200 });
  });

  it("does not ask tools that speak only the old transport", async () => {
    expect(await askTool("/old", "sse")).toMatchObject({ kind: "refused" });
    expect(await seenAt("/old")).toEqual([]);
  });
});

describe("C35: targets that are never asked", () => {
  const port = () => new URL(shop.url).port;

  it("refuses them before anything is sent", async () => {
    const sent = vi.spyOn(globalThis, "fetch");
    const targets = [
      shop.url,
      `http://localhost:${port()}/`,
      `http://2130706433:${port()}/`,
      `http://0x7f000001:${port()}/`,
      `http://127.1:${port()}/`,
      `http://0177.0.0.1:${port()}/`,
      `http://%31%32%37.0.0.1:${port()}/`,
      `http://①②⑦.0.0.1:${port()}/`,
      `http://[::1]:${port()}/`,
      `http://[::ffff:127.0.0.1]:${port()}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://10.0.0.1/",
      "http://93.184.216.34/",
      "http://[2606:4700::1111]/",
      "http://0/",
      "http://metadata/",
      "http://metadata.google.internal/",
      "http://printer.local/",
      "http://a.localhost/",
      "http://localhost./",
      "http://api.shop.test./",
      "https://souk.example.com/verify",
      "https://SOUK.example.com:443/verify",
      "https://user:secret@api.shop.test/",
      "https://api.shop.test:8443/",
      "http://api.shop.test:22/",
      "ftp://api.shop.test/",
      "file:///etc/passwd",
      "mcp://tools/forecast",
      "not a url",
      "",
    ];
    const questions = targets.flatMap((url): Question[] => [
      { type: "http", url, method: "GET" },
      { type: "mcp", url, toolName: "t", transport: "streamable-http" },
    ]);
    for (const question of questions) {
      expect(await askOrigin(question, PUBLIC), question.url).toMatchObject({ kind: "refused" });
    }
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  it("lets public names on 80 and 443 through, without their query", () => {
    for (const [given, asked] of [
      ["https://api.shop.test/a?b=c#d", "https://api.shop.test/a"],
      ["http://api.shop.test:80/", "http://api.shop.test/"],
      ["http://api.shop.test:443/", "http://api.shop.test:443/"],
      ["https://xn--pi-hka.shop.test/", "https://xn--pi-hka.shop.test/"],
    ]) {
      const target = readTarget(given, PUBLIC.rules);
      expect(target.ok && target.url.href).toBe(asked);
    }
  });

  it("in the local world asks loopback on any port, but not ours, and the outside on 80 and 443 only", () => {
    const rules = { ownHosts: ["localhost:8787"], allowLoopback: true };
    expect(readTarget("http://127.0.0.1:4021/a", rules)).toMatchObject({ ok: true });
    expect(readTarget("http://localhost:8787/verify", rules)).toMatchObject({ ok: false });
    expect(readTarget("https://api.shop.test:4021/a", rules)).toMatchObject({ ok: false });
    expect(readTarget("http://10.0.0.1/", rules)).toMatchObject({ ok: false });
  });
});
