// The messages to and from a wallet's object: types only. Every answer is a Result, because errors lose their
// prototype on the way between objects. Every method is idempotent; the wallet has no clock of its own.

import type { Approval, ApprovalStatus, Verdict } from "./approval.ts";
import type { EntryKind } from "./ledger.ts";
import type { Policy } from "./policy.ts";
import type { Decision } from "./wire.ts";

export interface HoldRequest {
  transactionId: string;
  /** SHA-256 of the public key that the proof was checked against: a rotated key stops in this very hold. */
  keyFingerprint: string;
  agentId: string;
  capabilityId: string;
  providerId: string;
  amountMinor: bigint;
  currency: string;
  nowMs: number;
}

export type HoldRefusalCode =
  | "WALLET_FROZEN"
  | "INVALID_SIGNATURE"
  | "POLICY_DENIED"
  | "APPROVAL_REQUIRED"
  | "BUDGET_EXCEEDED"
  | "INSUFFICIENT_BALANCE";

export interface HoldRefusal<Code extends string = HoldRefusalCode> {
  ok: false;
  code: Code;
  reason: string;
  decision?: Decision;
  approvalId?: string;
}

/** `CANCELLED`: this call was cancelled or resolved before; a hold that comes late is not taken. */
export type HoldAnswer =
  | { ok: true; policyVersion: number; approvalId: string | null }
  | HoldRefusal
  | HoldRefusal<"CANCELLED">;

/** Who made an entry's id: paid calls, operators (their Idempotency-Key) and settlements never collide. */
export type EntrySource = "call" | "operator" | "settlement";

export interface EntryRequest {
  source: EntrySource;
  /** Applied once per source and id. */
  id: string;
  amountMinor: bigint;
  transactionId?: string;
  reason?: string;
  atMs: number;
}

export interface Entry {
  id: string;
  kind: EntryKind;
  amountMinor: bigint;
  transactionId: string | null;
  reason: string | null;
  atMs: number;
}

export type EntryAnswer =
  | { ok: true; entry: Entry; isNew: boolean }
  /** The id was used for another entry. */
  | { ok: false; reason: "conflict" }
  | { ok: false; reason: "insufficient" };

export interface WalletState {
  walletId: string;
  currency: string;
  availableMinor: bigint;
  heldMinor: bigint;
  frozen: boolean;
  policy: Policy;
}

export interface EntriesPage {
  entries: Entry[];
  /** The sequence number to go on below, or null at the end. */
  next: number | null;
}

/** What paid calls ask of a wallet. Decided steps (capture, release, cancel, credit) are never refused. */
export interface WalletPort {
  hold(request: HoldRequest): Promise<HoldAnswer>;
  capture(transactionId: string, nowMs: number): Promise<void>;
  release(transactionId: string, reason: string, nowMs: number): Promise<void>;
  /** Releases a hold, or leaves a tombstone that refuses one that comes late. */
  cancel(transactionId: string, nowMs: number): Promise<void>;
  credit(request: EntryRequest): Promise<EntryAnswer>;
}

/** What owner and operator ask of a wallet besides. */
export interface WalletAdminPort extends WalletPort {
  open(walletId: string, currency: string, keyFingerprint: string): Promise<void>;
  state(): Promise<WalletState>;
  entries(limit: number, below: number | null): Promise<EntriesPage>;
  debit(request: EntryRequest): Promise<EntryAnswer>;
  setPolicy(policy: Policy): Promise<{ ok: true } | { ok: false; field: string; message: string }>;
  setFrozen(frozen: boolean): Promise<void>;
  /** Counts rotations, so that two at once cannot leave an older key in the registry. */
  rotateKey(keyFingerprint: string): Promise<{ keyVersion: number }>;
  approvals(status: ApprovalStatus | null, nowMs: number): Promise<Approval[]>;
  decideApproval(
    approvalId: string,
    verdict: Verdict,
    nowMs: number,
  ): Promise<{ ok: true; approval: Approval } | { ok: false; reason: "unknown" | "decided" }>;
}
