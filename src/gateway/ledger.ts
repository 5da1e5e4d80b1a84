// The rules of a wallet's books: double entry over three accounts. Every entry moves one amount from one account to
// another, so the sum of all three is zero whatever happens. `external` is the rest of the world, as this wallet
// sees it: what it was given less what it paid out, with the sign turned.

import { assert } from "../platform/assert.ts";

export type Account = "available" | "held" | "external";
export type Books = Readonly<Record<Account, bigint>>;

/** hold, capture and release belong to paid calls; credit and debit to operators, top-ups and payees. */
export type EntryKind = "credit" | "debit" | "hold" | "capture" | "release";

const MOVES: Record<EntryKind, { from: Account; to: Account }> = {
  credit: { from: "external", to: "available" },
  debit: { from: "available", to: "external" },
  hold: { from: "available", to: "held" },
  capture: { from: "held", to: "external" },
  release: { from: "held", to: "available" },
};

export const EMPTY_BOOKS: Books = { available: 0n, held: 0n, external: 0n };

export type Posting =
  | { ok: true; books: Books }
  | { ok: false; reason: "insufficient"; availableMinor: bigint };

/**
 * Books after one entry of `amountMinor` > 0. Refused only when a debit or hold asks for more than is available;
 * a capture or release of more than is held is a bug of the caller and throws.
 */
export function post(books: Books, kind: EntryKind, amountMinor: bigint): Posting {
  assert(amountMinor > 0n, "an entry moves a positive amount");
  const { from, to } = MOVES[kind];
  if (from === "available" && books.available < amountMinor) {
    return { ok: false, reason: "insufficient", availableMinor: books.available };
  }
  const after = { ...books, [from]: books[from] - amountMinor, [to]: books[to] + amountMinor };
  assertBooks(after);
  return { ok: true, books: after };
}

/** What must be true of the books at every moment. */
export function assertBooks(books: Books): void {
  assert(books.available + books.held + books.external === 0n, "the sum of all accounts is zero");
  assert(books.available >= 0n, "available is not negative");
  assert(books.held >= 0n, "held is not negative");
}
