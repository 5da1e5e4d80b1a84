// Reading an origin's 402 wherever sellers put it, and comparing its offers with the catalog's.

import { encodePaymentRequiredHeader } from "@x402/core/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readOffer } from "../../src/bazaar/catalog/offer.ts";
import { compareOffers } from "../../src/bazaar/prober/compare-offers.ts";
import { readHttpStatement, readMcpStatement } from "../../src/bazaar/prober/payment-required.ts";
import { aToolBlock, SELLER, someRequirements, USDC } from "../support/bazaar.ts";
import { aPaymentRequired } from "../support/payment-required.ts";

const encode = (value: unknown) => btoa(JSON.stringify(value));

function statementOf(reading: ReturnType<typeof readHttpStatement>) {
  if (!reading.ok) throw new Error(reading.problem);
  return reading.statement;
}

describe("reading an HTTP 402", () => {
  it("reads the header as the published server writes it, text outside Latin-1 included", () => {
    const required = aPaymentRequired({ resource: { description: "Wetter für Zürich, 天気" } });
    const header = encodePaymentRequiredHeader(required as never);
    const statement = statementOf(readHttpStatement(header, "{}"));
    expect(statement).toMatchObject({ x402Version: 2, source: "header", offerProblems: [] });
    expect(statement.resource).toMatchObject({ description: "Wetter für Zürich, 天気" });
    expect(statement.extensions).toEqual(required.extensions);
    expect(statement.offers).toMatchObject([
      {
        scheme: "exact",
        method: "",
        network: "eip155:84532",
        asset: USDC.toLowerCase(),
        payTo: SELLER.toLowerCase(),
        amount: "10000",
      },
    ]);
  });

  it("reads a version 1 body in version 2's words", () => {
    const body = {
      x402Version: 1,
      accepts: [
        {
          scheme: "exact",
          network: "base-sepolia",
          maxAmountRequired: "2500",
          resource: "https://api.shop.test/old",
          description: "Old weather",
          mimeType: "application/json",
          payTo: SELLER,
          maxTimeoutSeconds: 60,
          asset: USDC,
          extra: { name: "USDC", version: "2" },
        },
      ],
    };
    const statement = statementOf(readHttpStatement(null, JSON.stringify(body)));
    expect(statement).toMatchObject({
      x402Version: 1,
      source: "body",
      resource: { url: "https://api.shop.test/old", description: "Old weather" },
      offers: [{ network: "eip155:84532", amount: "2500", requirements: { amount: "2500" } }],
      extensions: {},
    });
  });

  it("does not excuse a broken header by a good body", () => {
    const body = JSON.stringify(aPaymentRequired());
    expect(readHttpStatement("not base64!", body)).toEqual({
      ok: false,
      problem: "PAYMENT-REQUIRED is not base64 of JSON",
    });
    expect(readHttpStatement(null, body)).toMatchObject({ ok: true, statement: { source: "body" } });
  });

  it.each([
    ["a body that is no JSON", null, "<html>pay</html>", "is not JSON"],
    ["an array", encode([]), "", "is not an object"],
    ["version 3", encode({ x402Version: 3, accepts: [someRequirements()] }), "", "x402Version"],
    ["no offers", encode({ x402Version: 2, accepts: [] }), "", "accepts"],
    ["accepts of another type", encode({ x402Version: 2, accepts: {} }), "", "accepts"],
  ])("says what is wrong with %s", (_name, header, body, problem) => {
    const reading = readHttpStatement(header, body);
    expect(reading.ok ? "" : reading.problem).toContain(problem);
  });

  it.each([
    ["an amount in dollars", { amount: "0.01" }, "accepts[1].amount"],
    ["a number", { amount: 10_000 }, "accepts[1].amount"],
    ["a version 1 network name", { network: "base-sepolia" }, "accepts[1].network"],
    ["half an address", { payTo: "0x1234" }, "accepts[1].payTo"],
    ["no asset", { asset: undefined }, "accepts[1].asset"],
    ["an extra of 100 KB", { extra: { a: "x".repeat(100_000) } }, "accepts[1].extra"],
  ])("leaves out an offer nobody could pay, and names its field: %s", (_name, change, field) => {
    const header = encode(aPaymentRequired({ accepts: [someRequirements(), someRequirements(change)] }));
    const statement = statementOf(readHttpStatement(header, ""));
    expect(statement.offers).toHaveLength(1);
    expect(statement.offerProblems).toEqual([expect.stringContaining(field)]);
  });

  it("reads any header and any body without an exception", () => {
    fc.assert(
      fc.property(fc.option(fc.string()), fc.string(), (header, body) => {
        expect(readHttpStatement(header, body).ok).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (entry, resource) => {
        const sent = { x402Version: 2, accepts: [entry], resource, extensions: resource };
        const json = JSON.stringify(sent);
        const header = btoa(String.fromCharCode(...new TextEncoder().encode(json)));
        expect(readHttpStatement(header, "").ok).toBe(true);
      }),
    );
  });
});

describe("reading a tool's answer", () => {
  const required = aPaymentRequired({ block: aToolBlock() });

  it.each([
    ["structuredContent", { result: { isError: true, structuredContent: required, content: [] } }],
    [
      "the first text block",
      { result: { isError: true, content: [{ type: "text", text: JSON.stringify(required) }] } },
    ],
    [
      "text beside a challenge of another kind",
      {
        result: {
          isError: true,
          structuredContent: { nonce: "n" },
          content: [{ type: "text", text: JSON.stringify(required) }],
        },
      },
    ],
    ["a JSON-RPC error 402", { error: { code: 402, message: "pay", data: required } }],
  ])("finds PaymentRequired in %s", (_place, reply) => {
    expect(readMcpStatement(reply)).toMatchObject({ ok: true, statement: { source: "mcp" } });
  });

  it.each([
    [
      "a tool that answers for nothing",
      { result: { content: [{ type: "text", text: JSON.stringify(required) }] } },
    ],
    ["a tool that fails", { result: { isError: true, content: [{ type: "text", text: "no such city" }] } }],
    ["an unknown tool", { error: { code: -32602, message: "unknown tool" } }],
    ["an empty answer", {}],
  ])("is not taken in by %s", (_name, reply) => {
    expect(readMcpStatement(reply)).toEqual({ ok: false, problem: "the tool does not ask for a payment" });
  });
});

describe("comparing offers", () => {
  const offer = (change: Record<string, unknown> = {}) => {
    const reading = readOffer(someRequirements(change), undefined);
    if (!reading.ok) throw new Error(reading.reason);
    return reading.offer;
  };

  it("finds an offer again at another price, in another letter case, with or without a declared method", () => {
    const known = offer();
    const origin = offer({
      amount: "20000",
      payTo: SELLER.toUpperCase().replace("0X", "0x"),
      extra: { assetTransferMethod: "eip3009" },
    });
    expect(compareOffers([known], [origin])).toEqual({ named: [{ offer: known, origin }], denied: [] });
  });

  it.each([
    ["payTo", { payTo: `0x${"1".repeat(40)}` }],
    ["asset", { asset: `0x${"2".repeat(40)}` }],
    ["network", { network: "eip155:8453" }],
    ["scheme", { scheme: "upto" }],
  ])("denies an offer of another %s", (_field, change) => {
    const known = offer();
    expect(compareOffers([known], [offer(change)])).toEqual({ named: [], denied: [known] });
  });

  it("tells transfer methods apart where both sides declare one", () => {
    const permit2 = offer({ extra: { assetTransferMethod: "permit2" } });
    const eip3009 = offer({ extra: { assetTransferMethod: "eip3009" } });
    expect(compareOffers([permit2], [eip3009]).denied).toEqual([permit2]);
    expect(compareOffers([permit2, eip3009], [eip3009, permit2]).named).toEqual([
      { offer: eip3009, origin: eip3009 },
      { offer: permit2, origin: permit2 },
    ]);
  });

  it("keeps the paid price where the origin names two for one way to pay", () => {
    const known = offer({ amount: "50" });
    const [cheap, paid] = [offer({ amount: "10" }), offer({ amount: "50" })];
    expect(compareOffers([known], [cheap, paid]).named).toEqual([{ offer: known, origin: paid }]);
  });
});
