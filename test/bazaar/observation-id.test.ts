// Observation ids and search cursors: what this service gave out is read back, and nothing else is.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  expiryOfSettle,
  expiryOfVerify,
  makeObservationId,
  readObservationId,
} from "../../src/bazaar/catalog/observation-id.ts";
import { readCursor, writeCursor } from "../../src/bazaar/catalog/result-cursor.ts";

const NOW_MS = Date.UTC(2026, 0, 5);
const key = (version: number, fill: number) => ({ version, secret: new Uint8Array(32).fill(fill) });
const OLD = key(1, 0xab);
const NEW = key(2, 0xcd);
const HASH = "0123456789abcdef0123456789abcdef";

describe("an observation id", () => {
  it("reads back as it was made, also by a key that no longer signs", async () => {
    const id = await makeObservationId({ hash: HASH, expiresAtMs: NOW_MS }, [OLD]);
    expect(id).toMatch(/^[A-Za-z0-9_-]{50}$/);
    expect(await readObservationId(id, [NEW, OLD])).toEqual({ hash: HASH, expiresAtMs: NOW_MS });
    expect(await readObservationId(id, [NEW])).toBeUndefined();
    expect(await readObservationId(id, [key(1, 0xee)])).toBeUndefined();
  });

  it("is refused when a single bit of it differs, or its spelling", async () => {
    const id = await makeObservationId({ hash: HASH, expiresAtMs: NOW_MS }, [OLD]);
    for (let i = 0; i < id.length; i++) {
      const other = id[i] === "A" ? "B" : "A";
      expect(
        await readObservationId(id.slice(0, i) + other + id.slice(i + 1), [OLD, NEW]),
        `${i}`,
      ).toBeUndefined();
    }
    for (const text of ["", "A", `${id}A`, `${id}=`, ` ${id}`, id.slice(1)]) {
      expect(await readObservationId(text, [OLD, NEW])).toBeUndefined();
    }
  });

  it("ends 15 minutes after validBefore, at most a day after verify, and a day after settle", () => {
    const seconds = BigInt(NOW_MS / 1_000);
    expect(expiryOfVerify(seconds + 60n, NOW_MS)).toBe(NOW_MS + 16 * 60_000);
    expect(expiryOfVerify(2n ** 256n - 1n, NOW_MS)).toBe(NOW_MS + 86_400_000);
    expect(expiryOfSettle(NOW_MS)).toBe(NOW_MS + 86_400_000);
  });
});

describe("a search cursor", () => {
  const scope = { search: '["weather",{}]', generation: 3 };
  const someIds = fc.uniqueArray(fc.integer({ min: 1, max: 5_000_000 }), { maxLength: 1_000 });

  it("reads back the rows it carries, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(someIds, async (rowIds) => {
        const cursor = await writeCursor(scope, rowIds);
        expect(await readCursor(scope, cursor)).toEqual(rowIds.toSorted((a, b) => a - b));
      }),
      { numRuns: 100 },
    );
  });

  it("fits into a URL at its deepest", async () => {
    const deepest = Array.from({ length: 1_000 }, (_, i) => 1_000 * (i + 1));
    expect((await writeCursor(scope, deepest)).length).toBeLessThan(4_000);
  });

  it("has expired for another query, another filter, another generation, and when it is no cursor", async () => {
    const cursor = await writeCursor(scope, [1, 2, 3]);
    expect(await readCursor({ ...scope, search: '["weather",{"type":"mcp"}]' }, cursor)).toBeUndefined();
    expect(await readCursor({ ...scope, generation: 4 }, cursor)).toBeUndefined();
    const tooDeep = await writeCursor(
      scope,
      Array.from({ length: 1_001 }, (_, i) => i + 1),
    );
    for (const text of ["", "x", "AAAA", cursor.slice(0, 5), tooDeep, "ü"]) {
      expect(await readCursor(scope, text), text.slice(0, 20)).toBeUndefined();
    }
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
        await readCursor(scope, Buffer.from(bytes).toString("base64url"));
      }),
    );
  });
});
