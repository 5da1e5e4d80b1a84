// One relayer's storage: the tables, brought to their schema, and the typed statements over them. It owns the storage
// handle and decides nothing: what may follow what stands in relayer-slots.ts. Everything is synchronous, so that a
// caller reads, decides and writes in one turn.

import { BlockRows } from "./relayer-block-rows.ts";
import { IntentRows } from "./relayer-intent-rows.ts";
import { SCHEMA, SCHEMA_VERSION } from "./relayer-schema.ts";
import { SlotRows } from "./relayer-slot-rows.ts";
import { Statements } from "./relayer-statements.ts";
import { TransactionRows } from "./relayer-transaction-rows.ts";

export class RelayerRows {
  readonly intents: IntentRows;
  readonly slots: SlotRows;
  readonly transactions: TransactionRows;
  readonly blocks: BlockRows;
  readonly #do: Statements;

  constructor(storage: DurableObjectStorage) {
    storage.sql.exec(SCHEMA);
    this.#do = new Statements(storage);
    this.intents = new IntentRows(this.#do);
    this.slots = new SlotRows(this.#do);
    this.transactions = new TransactionRows(this.#do);
    this.blocks = new BlockRows(this.#do);
  }

  /** All or nothing, in one synchronous turn. */
  write<Result>(change: () => Result): Result {
    return this.#do.write(change);
  }

  /** The object's name as it was first known; null before that. */
  laneName(): string | null {
    return this.#do.first<{ name: string }>("SELECT name FROM lane")?.name ?? null;
  }

  nameLane(name: string): void {
    this.#do.run("INSERT OR IGNORE INTO lane VALUES (1, ?, ?, 0)", SCHEMA_VERSION, name);
  }

  nextNonce(): number {
    return this.#do.first<{ next_nonce: number }>("SELECT next_nonce FROM lane")?.next_nonce ?? 0;
  }

  setNextNonce(nonce: number): void {
    this.#do.run("UPDATE lane SET next_nonce = ?", nonce);
  }

  /** Something is not on the chain yet. */
  hasWork(): boolean {
    return this.slots.lowestOpen() !== undefined || this.intents.slotless(1).length > 0;
  }

  isTombstoned(settlementId: string, attempt: string): boolean {
    const statement = "SELECT 1 AS found FROM tombstones WHERE settlement_id = ? AND attempt = ?";
    return this.#do.first(statement, settlementId, attempt) !== undefined;
  }

  addTombstone(settlementId: string, attempt: string, nowMs: number): void {
    this.#do.run("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", settlementId, attempt, nowMs);
  }

  removeTombstonesBefore(atMs: number): void {
    this.#do.run("DELETE FROM tombstones WHERE at_ms <= ?", atMs);
  }

  addRevert(settlementId: string, payer: string, nowMs: number): void {
    this.#do.run("INSERT OR IGNORE INTO reverts VALUES (?, ?, ?)", settlementId, payer.toLowerCase(), nowMs);
  }

  /** When this payer's last reverts were, newest first. */
  newestRevertsMs(payer: string, limit: number): number[] {
    const statement = "SELECT at_ms FROM reverts WHERE payer = ? ORDER BY at_ms DESC LIMIT ?";
    return this.#do.all<{ at_ms: number }>(statement, payer.toLowerCase(), limit).map(({ at_ms }) => at_ms);
  }

  removeRevertsBefore(atMs: number): void {
    this.#do.run("DELETE FROM reverts WHERE at_ms <= ?", atMs);
  }

  oldestTombstoneMs(): number | null {
    return (
      this.#do.first<{ oldest: number | null }>("SELECT MIN(at_ms) AS oldest FROM tombstones")?.oldest ?? null
    );
  }
}
