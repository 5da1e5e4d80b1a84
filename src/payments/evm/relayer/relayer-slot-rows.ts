// Statements over slots: one nonce each, with its state on the chain. It owns their SQL and decides nothing.

import type { Hex } from "viem";
import type { SlotRow, TransactionKind } from "./relayer-schema.ts";
import type { Statements } from "./relayer-statements.ts";

export type DueSlot = {
  nonce: number;
  version: number;
  raw: Hex;
};

export class SlotRows {
  readonly #do: Statements;

  constructor(statements: Statements) {
    this.#do = statements;
  }

  add(nonce: number, intentId: number | null, costGwei: number, nowMs: number): void {
    this.#do.run(
      "INSERT INTO slots (nonce, intent_id, state, cost_gwei, next_send_at_ms) VALUES (?, ?, 'open', ?, ?)",
      nonce,
      intentId,
      costGwei,
      nowMs,
    );
  }

  find(nonce: number): SlotRow | undefined {
    return this.#do.first<SlotRow>("SELECT * FROM slots WHERE nonce = ?", nonce);
  }

  ofIntent(intentId: number): SlotRow[] {
    return this.#do.all<SlotRow>("SELECT * FROM slots WHERE intent_id = ? ORDER BY nonce", intentId);
  }

  lowestOpen(): SlotRow | undefined {
    return this.#do.first<SlotRow>("SELECT * FROM slots WHERE state = 'open' ORDER BY nonce LIMIT 1");
  }

  /** Gas money promised to transactions that are not mined. */
  reservedGwei(): number {
    const statement = "SELECT TOTAL(cost_gwei) AS sum FROM slots WHERE state = 'open'";
    return this.#do.first<{ sum: number }>(statement)?.sum ?? 0;
  }

  /** What is to be sent now, among the lowest `maxInFlight` open slots, in nonce order. */
  due(maxInFlight: number, nowMs: number, limit: number): DueSlot[] {
    return this.#do.all<DueSlot>(
      `SELECT due.nonce, t.version, t.raw
       FROM (SELECT nonce, next_send_at_ms FROM slots WHERE state = 'open' ORDER BY nonce LIMIT ?) AS due
       JOIN transactions AS t ON t.nonce = due.nonce
        AND t.version = (SELECT MAX(version) FROM transactions WHERE nonce = due.nonce)
       WHERE due.next_send_at_ms <= ? AND t.raw IS NOT NULL ORDER BY due.nonce LIMIT ?`,
      maxInFlight,
      nowMs,
      limit,
    );
  }

  /** When the next open slot is due, those that wait for room included; null when none is open. */
  soonestSendMs(): number | null {
    const statement = "SELECT MIN(next_send_at_ms) AS soonest FROM slots WHERE state = 'open'";
    return this.#do.first<{ soonest: number | null }>(statement)?.soonest ?? null;
  }

  /** Open slots that the chain's nonce count, or a node's refusal, says are passed; lowest first. */
  passed(minedCount: number, limit: number): SlotRow[] {
    return this.#do.all<SlotRow>(
      `SELECT * FROM slots WHERE state = 'open' AND nonce < ?1
       UNION SELECT * FROM slots WHERE state = 'open' AND passed_at_ms IS NOT NULL
       ORDER BY nonce LIMIT ?2`,
      minedCount,
      limit,
    );
  }

  lost(limit: number): SlotRow[] {
    return this.#do.all<SlotRow>(
      "SELECT * FROM slots WHERE state = 'lost' ORDER BY nonce DESC LIMIT ?",
      limit,
    );
  }

  minedIn(blockNumber: number): SlotRow[] {
    const statement = "SELECT * FROM slots WHERE state IN ('mined', 'lost') AND block_number = ?";
    return this.#do.all<SlotRow>(statement, blockNumber).filter(({ state }) => state === "mined");
  }

  hasUnfinal(): boolean {
    return (
      this.#do.first("SELECT 1 AS found FROM slots WHERE state IN ('mined', 'lost') LIMIT 1") !== undefined
    );
  }

  /** Open slots whose newest bytes a node took before `acceptedBeforeMs`; lowest first. */
  acceptedBefore(acceptedBeforeMs: number, limit: number): SlotRow[] {
    return this.#do.all<SlotRow>(
      "SELECT * FROM slots WHERE state = 'open' AND accepted_at_ms <= ? ORDER BY nonce LIMIT ?",
      acceptedBeforeMs,
      limit,
    );
  }

  /** Slots that have been final since before `finalBeforeMs`, oldest first. */
  finalBefore(finalBeforeMs: number, limit: number): SlotRow[] {
    return this.#do.all<SlotRow>(
      "SELECT * FROM slots WHERE state = 'final' AND final_at_ms <= ? ORDER BY final_at_ms LIMIT ?",
      finalBeforeMs,
      limit,
    );
  }

  oldestFinalMs(): number | null {
    const statement = "SELECT MIN(final_at_ms) AS oldest FROM slots WHERE state = 'final'";
    return this.#do.first<{ oldest: number | null }>(statement)?.oldest ?? null;
  }

  remove(nonce: number): void {
    this.#do.run("DELETE FROM slots WHERE nonce = ?", nonce);
  }

  markAccepted(nonce: number, nowMs: number, height: number | null, nextSendAtMs: number): void {
    this.#do.run(
      `UPDATE slots SET next_send_at_ms = ?1, failures = 0, passed_at_ms = NULL,
         accepted_at_ms = COALESCE(accepted_at_ms, ?2), accepted_height = COALESCE(accepted_height, ?3)
       WHERE nonce = ?4`,
      nextSendAtMs,
      nowMs,
      height,
      nonce,
    );
  }

  postpone(nonce: number, failures: number, nextSendAtMs: number): void {
    this.#do.run(
      "UPDATE slots SET failures = ?, next_send_at_ms = ? WHERE nonce = ?",
      failures,
      nextSendAtMs,
      nonce,
    );
  }

  sendBy(nonce: number, atMs: number): void {
    this.#do.run("UPDATE slots SET next_send_at_ms = MIN(next_send_at_ms, ?) WHERE nonce = ?", atMs, nonce);
  }

  markPassed(nonce: number, nowMs: number): void {
    this.#do.run("UPDATE slots SET passed_at_ms = COALESCE(passed_at_ms, ?) WHERE nonce = ?", nowMs, nonce);
  }

  markMined(nonce: number, blockNumber: number, kind: TransactionKind, receipt: string): void {
    this.#do.run(
      "UPDATE slots SET state = 'mined', block_number = ?, mined_kind = ?, receipt = ? WHERE nonce = ?",
      blockNumber,
      kind,
      receipt,
      nonce,
    );
  }

  /** `height` stands in for a block number: from it on finality is counted. */
  markLost(nonce: number, height: number): void {
    this.#do.run("UPDATE slots SET state = 'lost', block_number = ? WHERE nonce = ?", height, nonce);
  }

  /** Open again with nothing mined; the newest bytes are due at once. */
  markOpen(nonce: number, nowMs: number): void {
    this.#do.run(
      `UPDATE slots SET state = 'open', block_number = NULL, mined_kind = NULL, receipt = NULL, failures = 0,
         passed_at_ms = NULL, accepted_at_ms = NULL, accepted_height = NULL, next_send_at_ms = ?
       WHERE nonce = ?`,
      nowMs,
      nonce,
    );
  }

  /** New bytes are to be signed and sent in this slot. */
  reprice(nonce: number, costGwei: number, nowMs: number): void {
    this.#do.run(
      `UPDATE slots SET cost_gwei = ?, next_send_at_ms = ?, failures = 0, accepted_at_ms = NULL,
         accepted_height = NULL WHERE nonce = ?`,
      costGwei,
      nowMs,
      nonce,
    );
  }

  /** Slots that turn final at this height, up to `limit`, lowest block first. */
  finalizable(height: number, limit: number): SlotRow[] {
    return this.#do.all<SlotRow>(
      `SELECT * FROM slots WHERE state IN ('mined', 'lost') AND block_number <= ?
       ORDER BY block_number LIMIT ?`,
      height,
      limit,
    );
  }

  markFinal(nonce: number, nowMs: number): void {
    this.#do.run("UPDATE slots SET state = 'final', final_at_ms = ? WHERE nonce = ?", nowMs, nonce);
  }
}
