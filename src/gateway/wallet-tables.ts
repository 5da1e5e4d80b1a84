// The tables of one wallet's object, and the named statements over them. This file owns the wallet's SQL and nothing
// else: no rule is decided here. Amounts are TEXT; sums are taken in SQLite's 64-bit integers and read back as text,
// because a number would lose cents.

import { assert } from "../platform/assert.ts";
import type { Approval, ApprovalStatus, StoredApprovalStatus } from "./approval.ts";
import { statusAt } from "./approval.ts";
import type { Books, EntryKind } from "./ledger.ts";
import type { Ask, Policy } from "./policy.ts";
import type { Entry, EntryRequest, EntrySource } from "./wallet-port.ts";
import { WALLET_SCHEMA, WALLET_SCHEMA_VERSION } from "./wallet-schema.ts";

/** `cancelled` never was a hold: it only keeps one that comes late from being taken. */
export type HoldState = "held" | "captured" | "released" | "cancelled";

export interface StoredHold {
  state: HoldState;
  amountMinor: bigint;
  scope: string;
  policyVersion: number;
  approvalId: string | null;
  heldAtMs: number;
}

export interface StoredWallet {
  walletId: string;
  currency: string;
  keyFingerprint: string;
  keyVersion: number;
  frozen: boolean;
  policy: Policy;
  policyVersion: number;
  books: Books;
  /** The sum of all open holds: must equal the held account. */
  openHoldsMinor: bigint;
}

export interface StoredApproval {
  id: string;
  status: StoredApprovalStatus;
}

type Row = Record<string, SqlStorageValue>;

/** One statement: it runs before and after every change. */
const WALLET_AND_OPEN_HOLDS = `SELECT wallet.*, CAST(COALESCE(
  (SELECT SUM(CAST(amount_minor AS INTEGER)) FROM holds WHERE state = 'held'), 0) AS TEXT) AS open_holds_minor FROM wallet`;

export class WalletTables {
  readonly #sql: SqlStorage;
  #exists = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether the wallet was opened. Asking creates nothing. */
  exist(): boolean {
    if (!this.#exists && this.#one("SELECT 1 FROM sqlite_master WHERE name = 'version'")) {
      const version = this.#one("SELECT version FROM version")?.version;
      assert(version === WALLET_SCHEMA_VERSION, "the wallet's tables are of this release's version");
      this.#exists = true;
    }
    return this.#exists;
  }

  create(walletId: string, currency: string, keyFingerprint: string, policy: Policy): void {
    this.#sql.exec(WALLET_SCHEMA);
    this.#sql.exec(
      `INSERT INTO wallet VALUES (1, ?, ?, ?, 1, 0, ?, 1, '0', '0', '0')`,
      walletId,
      currency,
      keyFingerprint,
      JSON.stringify(policy),
    );
  }

  wallet(): StoredWallet {
    assert(this.exist(), "the wallet was opened");
    const row = this.#one(WALLET_AND_OPEN_HOLDS);
    assert(row, "an open wallet has its row");
    return {
      walletId: String(row.wallet_id),
      currency: String(row.currency),
      keyFingerprint: String(row.key_fingerprint),
      keyVersion: Number(row.key_version),
      frozen: row.frozen === 1,
      policy: JSON.parse(String(row.policy)) as Policy,
      policyVersion: Number(row.policy_version),
      books: {
        available: BigInt(String(row.available_minor)),
        held: BigInt(String(row.held_minor)),
        external: BigInt(String(row.external_minor)),
      },
      openHoldsMinor: BigInt(String(row.open_holds_minor)),
    };
  }

  setBooks({ available, held, external }: Books): void {
    this.#sql.exec(
      "UPDATE wallet SET available_minor = ?, held_minor = ?, external_minor = ?",
      String(available),
      String(held),
      String(external),
    );
  }

  setPolicy(policy: Policy): void {
    const text = JSON.stringify(policy);
    this.#sql.exec("UPDATE wallet SET policy = ?, policy_version = policy_version + 1", text);
  }

  setFrozen(frozen: boolean): void {
    this.#sql.exec("UPDATE wallet SET frozen = ?", frozen ? 1 : 0);
  }

  setKey(keyFingerprint: string): void {
    this.#sql.exec("UPDATE wallet SET key_fingerprint = ?, key_version = key_version + 1", keyFingerprint);
  }

  hold(transactionId: string): StoredHold | undefined {
    const row = this.#one("SELECT * FROM holds WHERE transaction_id = ?", transactionId);
    return (
      row && {
        state: row.state as HoldState,
        amountMinor: BigInt(String(row.amount_minor)),
        scope: String(row.scope),
        policyVersion: Number(row.policy_version),
        approvalId: row.approval_id === null ? null : String(row.approval_id),
        heldAtMs: Number(row.held_at_ms),
      }
    );
  }

  addHold(transactionId: string, hold: StoredHold): void {
    const { state, amountMinor, scope, policyVersion, approvalId, heldAtMs } = hold;
    this.#sql.exec(
      "INSERT INTO holds VALUES (?, ?, ?, ?, ?, ?, ?)",
      transactionId,
      state,
      String(amountMinor),
      scope,
      policyVersion,
      approvalId,
      heldAtMs,
    );
  }

  setHoldState(transactionId: string, state: HoldState): void {
    this.#sql.exec("UPDATE holds SET state = ? WHERE transaction_id = ?", state, transactionId);
  }

  entry(source: EntrySource, id: string): Entry | undefined {
    const row = this.#one("SELECT * FROM entries WHERE source = ? AND id = ?", source, id);
    return row && entryOf(row);
  }

  addEntry(kind: EntryKind, entry: EntryRequest): void {
    this.#sql.exec(
      `INSERT INTO entries (source, id, kind, amount_minor, transaction_id, reason, at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      entry.source,
      entry.id,
      kind,
      String(entry.amountMinor),
      entry.transactionId ?? null,
      entry.reason ?? null,
      entry.atMs,
    );
  }

  /** Newest first, only those below the sequence number `below`. */
  entriesBelow(below: number | null, limit: number): { seq: number; entry: Entry }[] {
    return this.#sql
      .exec<Row>(
        "SELECT * FROM entries WHERE seq < ? ORDER BY seq DESC LIMIT ?",
        below ?? Number.MAX_SAFE_INTEGER,
        limit,
      )
      .toArray()
      .map((row) => ({ seq: Number(row.seq), entry: entryOf(row) }));
  }

  spentMinor(scope: string, span: string): bigint {
    const row = this.#one("SELECT amount_minor FROM spending WHERE scope = ? AND span = ?", scope, span);
    return BigInt(String(row?.amount_minor ?? 0));
  }

  /** Counts a hold into its windows, or out of them with a negative amount. */
  addSpending(scope: string, span: string, amountMinor: bigint): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO spending SELECT ?1, ?2, CAST(CAST(?3 AS INTEGER) + COALESCE(
        (SELECT CAST(amount_minor AS INTEGER) FROM spending WHERE scope = ?1 AND span = ?2), 0) AS TEXT)`,
      scope,
      span,
      String(amountMinor),
    );
  }

  /** The one approval for this ask that is neither used nor expired. */
  liveApproval(ask: Ask, nowMs: number): StoredApproval | undefined {
    const row = this.#one(
      `SELECT id, status FROM approvals
       WHERE agent_id = ? AND capability_id = ? AND amount_minor = ? AND currency = ?
         AND status <> 'used' AND expires_at_ms > ?`,
      ask.agentId,
      ask.capabilityId,
      String(ask.amountMinor),
      ask.currency,
      nowMs,
    );
    return row && { id: String(row.id), status: row.status as StoredApprovalStatus };
  }

  pendingApprovals(nowMs: number): number {
    const row = this.#one(
      "SELECT COUNT(*) AS pending FROM approvals WHERE status = 'pending' AND expires_at_ms > ?",
      nowMs,
    );
    return Number(row?.pending);
  }

  addApproval(id: string, ask: Ask, createdAtMs: number, expiresAtMs: number): void {
    this.#sql.exec(
      "INSERT INTO approvals VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)",
      id,
      ask.agentId,
      ask.capabilityId,
      String(ask.amountMinor),
      ask.currency,
      createdAtMs,
      expiresAtMs,
    );
  }

  setApprovalStatus(id: string, status: StoredApprovalStatus): void {
    this.#sql.exec("UPDATE approvals SET status = ? WHERE id = ?", status, id);
  }

  /** Unused approvals that expired before this are nobody's business any more. */
  dropApprovalsExpiredBefore(ms: number): void {
    this.#sql.exec("DELETE FROM approvals WHERE status <> 'used' AND expires_at_ms < ?", ms);
  }

  approval(id: string, nowMs: number): Approval | undefined {
    const row = this.#one("SELECT * FROM approvals WHERE id = ?", id);
    return row && approvalOf(row, nowMs);
  }

  /** Newest first; `null` is every status. */
  approvals(status: ApprovalStatus | null, limit: number, nowMs: number): Approval[] {
    return this.#sql
      .exec<Row>(
        `SELECT *, CASE WHEN status <> 'used' AND expires_at_ms <= ?1 THEN 'expired' ELSE status END AS now_status
         FROM approvals WHERE ?2 IS NULL OR now_status = ?2 ORDER BY created_at_ms DESC, id LIMIT ?3`,
        nowMs,
        status,
        limit,
      )
      .toArray()
      .map((row) => approvalOf(row, nowMs));
  }

  #one(statement: string, ...bindings: SqlStorageValue[]): Row | undefined {
    return this.#sql.exec<Row>(statement, ...bindings).toArray()[0];
  }
}

function entryOf(row: Row): Entry {
  return {
    id: String(row.id),
    kind: row.kind as EntryKind,
    amountMinor: BigInt(String(row.amount_minor)),
    transactionId: row.transaction_id === null ? null : String(row.transaction_id),
    reason: row.reason === null ? null : String(row.reason),
    atMs: Number(row.at_ms),
  };
}

function approvalOf(row: Row, nowMs: number): Approval {
  const expiresAtMs = Number(row.expires_at_ms);
  return {
    approvalId: String(row.id),
    agentId: String(row.agent_id),
    capabilityId: String(row.capability_id),
    amountMinor: String(row.amount_minor),
    currency: String(row.currency),
    status: statusAt(row.status as StoredApprovalStatus, expiresAtMs, nowMs),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
