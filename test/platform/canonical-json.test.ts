// RFC 8785 by its own examples, by vectors that other implementations can use, and by properties.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, signedBytes } from "../../src/platform/canonical-json.ts";
import vectors from "../fixtures/gateway/canonical-json.json" with { type: "json" };

describe("canonical JSON", () => {
  it.each(vectors.map(({ name, input, canonical }) => ({ name, input, canonical })))(
    "writes the published vector: $name",
    ({ input, canonical }) => {
      expect(canonicalJson(JSON.parse(input))).toBe(canonical);
    },
  );

  it("gives the same text for any order of keys and any white space", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const respelled = JSON.parse(JSON.stringify(reversedKeys(value), null, indent));
        expect(canonicalJson(respelled)).toBe(canonicalJson(value));
      }),
    );
  });

  it("loses nothing: the canonical text parses to the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("is a fixed point: canonical text made canonical again stays the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it.each([
    ["an undefined element", [undefined]],
    ["a hole in an array", new Array(1)],
    ["NaN", Number.NaN],
    ["infinity", { a: Number.POSITIVE_INFINITY }],
    ["a bigint", { amountMinor: 1n }],
    ["a date", { at: new Date(0) }],
    ["a function", { f: () => 0 }],
    ["a lone surrogate", "\ud800"],
    ["a lone surrogate as a key", { "\udfff": 1 }],
  ])("refuses %s", (_name, value) => {
    expect(() => canonicalJson(value)).toThrow("assertion failed");
  });

  it("refuses depth that would exhaust the stack", () => {
    expect(() => canonicalJson(JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`))).toThrow("too deep");
  });

  it("leaves signature and signingKeyId out of the signed bytes at the top level only", () => {
    const text = new TextDecoder().decode(
      signedBytes({
        b: 1,
        signature: "x",
        signingKeyId: "y",
        a: { signature: "kept", signingKeyId: "kept" },
      }),
    );
    expect(text).toBe('{"a":{"signature":"kept","signingKeyId":"kept"},"b":1}');
  });
});

function reversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversedKeys(member)]),
  );
}
