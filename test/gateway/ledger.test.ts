// Double entry: whatever is posted, the accounts sum to zero and nothing goes below it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertBooks, EMPTY_BOOKS, type EntryKind, post } from "../../src/gateway/ledger.ts";

const anEntry = fc.record({
  kind: fc.constantFrom<EntryKind>("credit", "debit", "hold", "capture", "release"),
  amountMinor: fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
});

describe("the books of a wallet", () => {
  it("sum to zero and hold nothing negative after any entries in any order", () => {
    fc.assert(
      fc.property(fc.array(anEntry, { maxLength: 200 }), (entries) => {
        let books = EMPTY_BOOKS;
        let given = 0n;
        let paidOut = 0n;
        for (const { kind, amountMinor } of entries) {
          if ((kind === "capture" || kind === "release") && books.held < amountMinor) continue;
          const posting = post(books, kind, amountMinor);
          if (!posting.ok) continue;
          if (kind === "credit") given += amountMinor;
          if (kind === "debit" || kind === "capture") paidOut += amountMinor;
          books = posting.books;
          assertBooks(books);
        }
        expect(books.available + books.held).toBe(given - paidOut);
        expect(books.external).toBe(paidOut - given);
      }),
    );
  });

  it.each(["debit", "hold"] as const)("refuse a %s of more than is available and say how much is", (kind) => {
    const books = { available: 99n, held: 0n, external: -99n };
    expect(post(books, kind, 100n)).toEqual({ ok: false, reason: "insufficient", availableMinor: 99n });
    expect(post(books, kind, 99n)).toMatchObject({ ok: true });
  });

  it.each(["capture", "release"] as const)("treat a %s of more than is held as a bug", (kind) => {
    expect(() => post({ available: 5n, held: 1n, external: -6n }, kind, 2n)).toThrow("held is not negative");
  });

  it.each([0n, -1n])("treat an entry of %s as a bug", (amountMinor) => {
    expect(() => post(EMPTY_BOOKS, "credit", amountMinor)).toThrow("positive amount");
  });

  it("are refused when they do not add up", () => {
    expect(() => assertBooks({ available: 1n, held: 0n, external: 0n })).toThrow("zero");
  });
});
