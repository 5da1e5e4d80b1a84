// Statements over intents: what settlements asked this relayer to call. It owns their SQL and decides nothing.

import type { Address, Hex } from "viem";
import { assert } from "../../../platform/assert.ts";
import type { Step } from "./relayer-port.ts";
import type { IntentRow, IntentState } from "./relayer-schema.ts";
import type { Statements } from "./relayer-statements.ts";

export interface NewIntent {
  settlementId: string;
  attempt: string;
  step: Step;
  payer: Address;
  to: Address;
  data: Hex;
  gasCap: bigint;
  validBeforeSeconds: number;
}

export class IntentRows {
  readonly #do: Statements;

  constructor(statements: Statements) {
    this.#do = statements;
  }

  find(settlementId: string, attempt: string, step: Step): IntentRow | undefined {
    return this.#do.first<IntentRow>(
      "SELECT * FROM intents WHERE settlement_id = ? AND attempt = ? AND step = ?",
      settlementId,
      attempt,
      step,
    );
  }

  get(id: number): IntentRow {
    const row = this.#do.first<IntentRow>("SELECT * FROM intents WHERE id = ?", id);
    assert(row, `intent ${id} of a slot exists`);
    return row;
  }

  /** In the order they were submitted. */
  ofAttempt(settlementId: string, attempt: string): IntentRow[] {
    return this.#do.all<IntentRow>(
      "SELECT * FROM intents WHERE settlement_id = ? AND attempt = ? ORDER BY id",
      settlementId,
      attempt,
    );
  }

  add(intent: NewIntent): number {
    const row = this.#do.first<{ id: number }>(
      `INSERT INTO intents
         (settlement_id, attempt, step, payer, to_address, data, gas_cap, valid_before_seconds, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting') RETURNING id`,
      intent.settlementId,
      intent.attempt,
      intent.step,
      intent.payer.toLowerCase(),
      intent.to.toLowerCase(),
      intent.data.toLowerCase(),
      intent.gasCap.toString(),
      // Times far in the future are all alike, and the column takes whole numbers.
      Math.min(Math.floor(intent.validBeforeSeconds), Number.MAX_SAFE_INTEGER),
    );
    assert(row, "an inserted intent has an id");
    return row.id;
  }

  setState(id: number, state: IntentState): void {
    this.#do.run("UPDATE intents SET state = ? WHERE id = ?", state, id);
  }

  /** Intents that are not on the chain yet: all of them, and those of one payer. */
  countWaiting(payer: Address): { total: number; ofPayer: number } {
    return (
      this.#do.first<{ total: number; ofPayer: number }>(
        `SELECT COUNT(*) AS total, COUNT(CASE WHEN payer = ? THEN 1 END) AS ofPayer
         FROM intents WHERE state IN ('waiting', 'slotless')`,
        payer.toLowerCase(),
      ) ?? { total: 0, ofPayer: 0 }
    );
  }

  slotless(limit: number): IntentRow[] {
    return this.#do.all<IntentRow>(
      "SELECT * FROM intents WHERE state = 'slotless' ORDER BY id LIMIT ?",
      limit,
    );
  }

  remove(id: number): void {
    this.#do.run("DELETE FROM intents WHERE id = ?", id);
  }
}
