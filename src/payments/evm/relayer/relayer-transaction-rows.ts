// Statements over transactions: the signed versions of each slot. It owns their SQL and decides nothing.

import type { Hex } from "viem";
import { assert } from "../../../platform/assert.ts";
import type { Fees } from "./relayer-lane.ts";
import type { TransactionKind, TransactionRow } from "./relayer-schema.ts";
import type { Statements } from "./relayer-statements.ts";

export class TransactionRows {
  readonly #do: Statements;

  constructor(statements: Statements) {
    this.#do = statements;
  }

  add(nonce: number, kind: TransactionKind, gas: bigint, fees: Fees): void {
    this.#do.run(
      `INSERT INTO transactions (nonce, version, kind, gas, max_fee, priority_fee)
       VALUES (?1, (SELECT COUNT(*) FROM transactions WHERE nonce = ?1), ?2, ?3, ?4, ?5)`,
      nonce,
      kind,
      gas.toString(),
      fees.maxFeePerGas.toString(),
      fees.maxPriorityFeePerGas.toString(),
    );
  }

  unsigned(limit: number): TransactionRow[] {
    return this.#do.all<TransactionRow>("SELECT * FROM transactions WHERE raw IS NULL LIMIT ?", limit);
  }

  setSigned(nonce: number, version: number, hash: Hex, raw: Hex): void {
    this.#do.run(
      "UPDATE transactions SET hash = ?, raw = ? WHERE nonce = ? AND version = ?",
      hash,
      raw,
      nonce,
      version,
    );
  }

  /** Every version of a slot, oldest first. */
  ofNonce(nonce: number): TransactionRow[] {
    return this.#do.all<TransactionRow>("SELECT * FROM transactions WHERE nonce = ? ORDER BY version", nonce);
  }

  newest(nonce: number): TransactionRow {
    const statement = "SELECT * FROM transactions WHERE nonce = ? ORDER BY version DESC LIMIT 1";
    const row = this.#do.first<TransactionRow>(statement, nonce);
    assert(row, `slot ${nonce} has a transaction`);
    return row;
  }

  removeOf(nonce: number): void {
    this.#do.run("DELETE FROM transactions WHERE nonce = ?", nonce);
  }
}
