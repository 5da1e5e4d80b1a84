// Statements over blocks that hold our transactions and are not final. It owns their SQL and decides nothing.
//
// Only new blocks and the newest one before them are asked for again: while the newest block stands, so do its
// ancestors, and every older block here was seen to stand after the next one was noted. So a check costs one or two
// receipts per new block, however many wait for finality.

import type { Hex } from "viem";
import type { BlockRow } from "./relayer-schema.ts";
import type { Statements } from "./relayer-statements.ts";

export class BlockRows {
  readonly #do: Statements;

  constructor(statements: Statements) {
    this.#do = statements;
  }

  /** Notes a block seen in a receipt, and has the newest one before it checked once more after it. */
  note(number: number, hash: Hex, witness: Hex): void {
    const newest = this.#newest();
    if (newest !== undefined && newest.number < number) {
      this.#do.run("UPDATE blocks SET is_checked = 0 WHERE number = ?", newest.number);
    }
    this.#do.run(
      `INSERT INTO blocks (number, hash, witness, is_checked) VALUES (?, ?, ?, 0)
       ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, witness = excluded.witness, is_checked = 0,
         missing_since_ms = NULL WHERE hash <> excluded.hash`,
      number,
      hash,
      witness,
    );
  }

  #newest(): BlockRow | undefined {
    return this.#do.first<BlockRow>("SELECT * FROM blocks ORDER BY number DESC LIMIT 1");
  }

  toCheck(limit: number): BlockRow[] {
    const newest = this.#newest();
    const unchecked = this.#do.all<BlockRow>(
      "SELECT * FROM blocks WHERE is_checked = 0 ORDER BY number DESC LIMIT ?",
      limit,
    );
    return newest === undefined || newest.is_checked === 0 ? unchecked : [newest, ...unchecked];
  }

  markChecked(number: number): void {
    this.#do.run("UPDATE blocks SET is_checked = 1, missing_since_ms = NULL WHERE number = ?", number);
  }

  markMissing(number: number, nowMs: number): void {
    this.#do.run(
      "UPDATE blocks SET is_checked = 0, missing_since_ms = COALESCE(missing_since_ms, ?) WHERE number = ?",
      nowMs,
      number,
    );
  }

  /** A node did not know the block when it was last asked: it is late, or the block is gone. */
  isMissing(number: number): boolean {
    const statement = "SELECT 1 AS found FROM blocks WHERE number = ? AND missing_since_ms IS NOT NULL";
    return this.#do.first(statement, number) !== undefined;
  }

  remove(number: number): void {
    this.#do.run("DELETE FROM blocks WHERE number = ?", number);
  }

  /** A block vanished: its ancestors may have gone with it. */
  doubtAll(): void {
    this.#do.run("UPDATE blocks SET is_checked = 0");
  }

  /** The lowest block that was not seen to stand; null when all were. */
  lowestUnchecked(): number | null {
    const statement = "SELECT MIN(number) AS lowest FROM blocks WHERE is_checked = 0";
    return this.#do.first<{ lowest: number | null }>(statement)?.lowest ?? null;
  }

  removeUpTo(height: number): void {
    this.#do.run("DELETE FROM blocks WHERE number <= ?", height);
  }
}
