// What a seller is told about its own server, check by check.

import { describe, expect, it } from "vitest";
import type { OriginAnswer } from "../../src/bazaar/prober/ask-origin.ts";
import { readHttpStatement } from "../../src/bazaar/prober/payment-required.ts";
import { judgeAnswer, type Preflight } from "../../src/bazaar/prober/preflight.ts";
import { toBase64, utf8 } from "../../src/platform/bytes.ts";
import { aBlock, aBodyBlock, PUBLIC_RULES, someRequirements } from "../support/bazaar.ts";
import { aPaymentRequired } from "../support/payment-required.ts";

const URL = "https://api.shop.test/weather";
const GOOD = { resource: { description: "Weather of today" } };

function statement(sent: unknown, place: "header" | "body" = "header"): OriginAnswer {
  const json = JSON.stringify(sent);
  const reading =
    place === "header" ? readHttpStatement(toBase64(utf8(json)), "") : readHttpStatement(null, json);
  if (!reading.ok) throw new Error(reading.problem);
  return { kind: "statement", statement: reading.statement };
}

function judge(answer: OriginAnswer, method = "GET"): Preflight {
  return judgeAnswer({ url: URL, method }, answer, {
    rules: PUBLIC_RULES,
    findSettleProblem: ({ network }) => (network === "eip155:84532" ? null : "its network is not served"),
  });
}

const failedNames = ({ checks }: Preflight) => checks.filter(({ ok }) => !ok).map(({ name }) => name);

describe("a preflight", () => {
  it("finds nothing wrong with a good answer, and knows the listing it would be", () => {
    const preflight = judge(statement(aPaymentRequired(GOOD)));
    expect(failedNames(preflight)).toEqual([]);
    expect(preflight).toMatchObject({
      wouldList: true,
      identity: { type: "http", resource: URL, method: "GET" },
    });
    expect(preflight).not.toHaveProperty("reason");
    expect(preflight.checks.map(({ name }) => name)).toEqual([
      "target",
      "reachable",
      "status",
      "payment_required",
      "offers",
      "settleable",
      "resource_url",
      "bazaar_block",
      "bazaar_valid",
      "method",
    ]);
  });

  it.each<[string, OriginAnswer, string, string]>([
    [
      "a target that is never asked",
      { kind: "refused", problem: "host must not be an IP address" },
      "target",
      "IP address",
    ],
    ["silence", { kind: "unreachable", reason: "timed_out" }, "reachable", "5 seconds"],
    ["a redirect away", { kind: "unreachable", reason: "redirected_elsewhere" }, "reachable", "redirects"],
    ["an answer for nothing", { kind: "no_402", status: 200 }, "status", "does not ask for a payment"],
    ["a path of another method", { kind: "no_402", status: 405 }, "status", "right method"],
    [
      "a 402 nobody can read",
      { kind: "unreadable", problem: "accepts is not a list of offers" },
      "payment_required",
      "accepts",
    ],
    ["version 1", statement({ x402Version: 1, accepts: [{}] }, "body"), "payment_required", "version 1"],
    [
      "offers nobody could pay",
      statement(aPaymentRequired({ accepts: [{}] })),
      "offers",
      "accepts[0].scheme",
    ],
    [
      "offers that are not settled here",
      statement(aPaymentRequired({ ...GOOD, requirements: someRequirements({ network: "eip155:1" }) })),
      "settleable",
      "its network is not served",
    ],
    [
      "no bazaar block",
      statement(aPaymentRequired({ ...GOOD, block: null })),
      "bazaar_block",
      "extensions.bazaar is missing",
    ],
    [
      "a block that does not fit its schema",
      statement(
        aPaymentRequired({
          ...GOOD,
          block: aBlock({}, { schema: { properties: { input: { required: ["x"] } } } }),
        }),
      ),
      "bazaar_valid",
      "info",
    ],
    [
      "a block of another method",
      statement(aPaymentRequired({ ...GOOD, block: aBodyBlock() })),
      "method",
      "info.input.method",
    ],
  ])("would not list, and says why: %s", (_name, answer, check, detail) => {
    const preflight = judge(answer);
    expect(preflight.wouldList).toBe(false);
    const failed = preflight.checks.find(({ ok, severity }) => !ok && severity === "error");
    expect(failed).toMatchObject({ name: check, detail: expect.stringContaining(detail) });
    expect(preflight.reason).toBe(failed?.detail);
  });

  it("warns of what costs less than the listing", () => {
    const sent = aPaymentRequired({
      url: "https://www.shop.test/weather",
      resource: { serviceName: "Café", tags: ["a", "é"], iconUrl: "http://127.1/i" },
      block: aBlock({}, { routeTemplate: "/a/%2e%2e" }),
      accepts: [someRequirements(), someRequirements({ amount: "0.01" })],
    });
    const preflight = judge(statement(sent, "body"));
    expect(preflight.wouldList).toBe(true);
    expect(failedNames(preflight)).toEqual([
      "payment_required",
      "offers",
      "resource_url",
      "route_template",
      "metadata",
      "metadata",
      "metadata",
      "metadata",
    ]);
    expect(preflight.checks.find(({ name }) => name === "resource_url")).toMatchObject({
      expected: URL,
      actual: "https://www.shop.test/weather",
      severity: "warning",
    });
  });

  it("repeats a stranger's text only shortly, on one line, without what cannot be seen", () => {
    const url = `https://api.shop.test/\u202e${"x".repeat(1_000)}\n<script>`;
    const { checks } = judge(statement(aPaymentRequired({ ...GOOD, url: `${url}\u200b` })));
    for (const { detail, expected = "", actual = "" } of checks) {
      for (const text of [detail, expected, actual]) {
        expect(text.length).toBeLessThanOrEqual(200);
        expect(text).not.toMatch(/[\n\u202e\u200b]/);
      }
    }
  });
});
