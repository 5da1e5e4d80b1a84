// C41: the EXTENSION-RESPONSES header as the published client reads it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readObservationId } from "../../src/bazaar/catalog/observation-id.ts";
import { encodeOutcome, headersAfterSettle, headersAfterVerify } from "../../src/http/extension-responses.ts";
import { aBlock, read } from "../support/bazaar.ts";

const NOW_MS = Date.UTC(2026, 0, 5);
const macKeys = [{ version: 1, secret: new Uint8Array(32).fill(0xab) }];
const verified = { paymentId: "a".repeat(32), validBeforeSeconds: BigInt(NOW_MS / 1_000 + 60) };

function decode(value: string | undefined): unknown {
  return JSON.parse(Buffer.from(value ?? "", "base64").toString("utf8"));
}

describe("C41: EXTENSION-RESPONSES", () => {
  it("is absent without a block", async () => {
    const reading = read({ block: undefined });
    expect(await headersAfterVerify(reading, verified, { macKeys, nowMs: NOW_MS })).toEqual({});
    expect(
      await headersAfterSettle(reading, { paymentId: "a", isListed: true }, { macKeys, nowMs: NOW_MS }),
    ).toEqual({});
  });

  it("says `rejected` and names the field, after verify and settle alike", async () => {
    const reading = read({ block: aBlock({ method: "TRACE" }) });
    const after = [
      await headersAfterVerify(reading, verified, { macKeys, nowMs: NOW_MS }),
      await headersAfterSettle(reading, { paymentId: "a", isListed: true }, { macKeys, nowMs: NOW_MS }),
    ];
    for (const headers of after) {
      expect(decode(headers["EXTENSION-RESPONSES"])).toEqual({
        bazaar: {
          status: "rejected",
          rejectedReason: "info.input.method must be one of GET, HEAD, DELETE, POST, PUT, PATCH",
        },
      });
    }
  });

  it("says `processing` with an id that settles on the same observation, and `success` when it is listed", async () => {
    const reading = read();
    const after = await headersAfterVerify(reading, verified, { macKeys, nowMs: NOW_MS });
    const pending = await headersAfterSettle(
      reading,
      { ...verified, isListed: false },
      { macKeys, nowMs: NOW_MS },
    );
    const ids = [after, pending].map((headers) => {
      const { bazaar } = decode(headers["EXTENSION-RESPONSES"]) as { bazaar: { status: string; id: string } };
      expect(bazaar.status).toBe("processing");
      return bazaar.id;
    });
    const [fromVerify, fromSettle] = await Promise.all(ids.map((id) => readObservationId(id, macKeys)));
    expect(fromVerify?.expiresAtMs).toBe(NOW_MS + 16 * 60_000);
    expect(fromSettle?.expiresAtMs).toBe(NOW_MS + 24 * 3_600_000);
    expect(fromVerify?.hash).toBe(fromSettle?.hash);
    const listed = await headersAfterSettle(
      reading,
      { ...verified, isListed: true },
      { macKeys, nowMs: NOW_MS },
    );
    expect(decode(listed["EXTENSION-RESPONSES"])).toEqual({ bazaar: { status: "success" } });
  });

  it("never throws: without a key there is no header", async () => {
    expect(await headersAfterVerify(read(), verified, { macKeys: [], nowMs: NOW_MS })).toEqual({});
  });

  it("is padded base64 of UTF-8 JSON of at most 1 KiB, whatever the reason says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (rejectedReason) => {
        const value = encodeOutcome({ status: "rejected", rejectedReason });
        expect(value).toMatch(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
        expect(value.length).toBeLessThanOrEqual(1_024);
        expect(decode(value)).toMatchObject({ bazaar: { status: "rejected" } });
      }),
    );
    expect(decode(encodeOutcome({ status: "rejected", rejectedReason: "Größe: 雪" }))).toEqual({
      bazaar: { status: "rejected", rejectedReason: "Größe: 雪" },
    });
  });
});
