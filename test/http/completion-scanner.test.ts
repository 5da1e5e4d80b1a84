// The streaming reader of a completion against JSON.parse and Buffer: whatever the chunks, the spelling and the order
// of members, it decodes the same bytes and keeps the same rest.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompletionScanner, type ScanProblem } from "../../src/http/completion-scanner.ts";

function scan(text: string | Uint8Array, chunkSize = 7): { value: unknown; decoded: string } | ScanProblem {
  const scanner = new CompletionScanner();
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) {
    const decoded = scanner.feed(bytes.subarray(at, at + chunkSize));
    if (typeof decoded === "string") return decoded;
    parts.push(decoded);
  }
  const end = scanner.end();
  return end.ok ? { value: end.value, decoded: Buffer.concat(parts).toString("hex") } : end.problem;
}

describe("the scanner of a completion", () => {
  it("decodes any bytes in any chunks, wherever the member stands and however it is spelled", () => {
    const aMember = fc.tuple(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }),
        aMember,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        (bytes, before, [afterKey, after], chunkSize, indent, escapes) => {
          const base64 = Buffer.from(bytes).toString("base64");
          const body = { ...before, responseBodyBase64: base64, [`after ${afterKey}`]: after };
          let text = JSON.stringify(body, null, indent);
          if (escapes)
            text = text.replaceAll(base64, base64.replaceAll("/", "\\/").replaceAll("+", "\\u002b"));
          const kept = JSON.parse(JSON.stringify({ ...body, responseBodyBase64: "" }));
          expect(scan(text, chunkSize)).toEqual({ value: kept, decoded: Buffer.from(bytes).toString("hex") });
        },
      ),
      { numRuns: 500 },
    );
  });

  it("takes the member at the top level only", () => {
    const text =
      '{"a":{"responseBodyBase64":"!!"},"responseBodyBase64":"QQ==","b":["responseBodyBase64","!!"]}';
    expect(scan(text)).toMatchObject({ decoded: "41" });
  });

  it("finds the member under an escaped spelling of its name", () => {
    expect(scan('{"\\u0072esponseBodyBase64":"QQ=="}')).toEqual({
      value: { responseBodyBase64: "" },
      decoded: "41",
    });
  });

  it.each([
    ["white space", '{"responseBodyBase64":"QQ ="}'],
    ["the other alphabet", '{"responseBodyBase64":"__8="}'],
    ["no padding", '{"responseBodyBase64":"QQ"}'],
    ["digits after the padding", '{"responseBodyBase64":"QQ==QQ=="}'],
    ["padding in the middle", '{"responseBodyBase64":"Q=Q="}'],
    ["padding alone", '{"responseBodyBase64":"===="}'],
    ["spare bits", '{"responseBodyBase64":"QR=="}'],
    ["an escape that is no digit", '{"responseBodyBase64":"\\n"}'],
    ["an escape that is broken", '{"responseBodyBase64":"\\u00zz"}'],
  ])("refuses base64 with %s", (_name, text) => {
    expect(scan(text)).toBe("not_base64");
  });

  it.each([
    ["an unfinished value", '{"responseBodyBase64":"QUFB'],
    ["an unfinished body", '{"responseBodyBase64":"QUFB"'],
    ["the member twice", '{"responseBodyBase64":"QUFB","responseBodyBase64":"QkJC"}'],
    ["something behind the object", '{"responseBodyBase64":"QUFB"}}'],
    ["two values", '{"responseBodyBase64":"QUFB""QUFB"}'],
    ["nothing", ""],
    ["bytes that are no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
  ])("refuses %s as no JSON", (_name, text) => {
    expect(scan(text)).toBe("not_json");
  });

  it("keeps a value that is no string for the schema to refuse", () => {
    expect(scan('{"responseBodyBase64":7}')).toEqual({ value: { responseBodyBase64: 7 }, decoded: "" });
  });

  it("holds little of a body that is all something else", () => {
    expect(scan(`{"note":"${"x".repeat(20_000)}"}`, 1_000)).toBe("rest_too_large");
  });

  it("takes time in proportion to the body: 16 MiB in seconds at most", () => {
    const base64 = Buffer.alloc(12 * 1024 * 1024 - 3_000, 7).toString("base64");
    const text = `{"transactionId":"txn_1","responseBodyBase64":"${base64}"}`;
    const startedMs = performance.now();
    expect(scan(text, 64 * 1024)).toMatchObject({
      value: { transactionId: "txn_1", responseBodyBase64: "" },
    });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
