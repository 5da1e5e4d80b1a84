// One custodial wallet: its books, policy, budgets, approvals, payment-key fingerprint and frozen flag. Whatever
// decides about a hold is read and written in one transaction with the hold itself. It has no clock (callers bring the
// time of their decision) and calls nobody. It must never refuse a decided step of a paid call.

import { DurableObject } from "cloudflare:workers";
import type { Env } from "../config.ts";
import { assert } from "../platform/assert.ts";
import {
  type Approval,
  type ApprovalStatus,
  afterVerdict,
  MAX_PENDING_APPROVALS,
  type Verdict,
} from "./approval.ts";
import { admit } from "./hold-admission.ts";
import { assertBooks, type EntryKind, post } from "./ledger.ts";
import { ALLOW_ALL, findPolicyProblem, type Policy, scopeOf } from "./policy.ts";
import { type Per, windowOf } from "./spending-windows.ts";
import type {
  EntriesPage,
  EntryAnswer,
  EntryRequest,
  HoldAnswer,
  HoldRequest,
  WalletAdminPort,
  WalletState,
} from "./wallet-port.ts";
import { type StoredHold, type StoredWallet, WalletTables } from "./wallet-tables.ts";

/** Pending ones always fit; older decided ones fall off the list. */
const APPROVALS_LISTED = MAX_PENDING_APPROVALS;

const PERS: readonly Per[] = ["day", "month"];

export class WalletObject extends DurableObject<Env> implements WalletAdminPort {
  readonly #tables = new WalletTables(this.ctx.storage.sql);

  async open(walletId: string, currency: string, keyFingerprint: string): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      if (!this.#tables.exist()) this.#tables.create(walletId, currency, keyFingerprint, ALLOW_ALL);
      assert(this.#tables.wallet().walletId === walletId, "a wallet is opened under one id");
    });
  }

  /**
   * Takes money into a hold, or says which rule, budget or lack of money refuses it. A refusal stores nothing but
   * the approval it asks for.
   */
  async hold(request: HoldRequest): Promise<HoldAnswer> {
    return this.#change((wallet) => {
      const known = this.#tables.hold(request.transactionId);
      return known ? answerAgain(known, request) : this.#take(wallet, request);
    });
  }

  async capture(transactionId: string, nowMs: number): Promise<void> {
    this.#change((wallet) => {
      const hold = this.#resolvable(transactionId);
      if (hold.state === "captured") return;
      assert(hold.state === "held", "only an open hold is captured");
      this.#tables.setHoldState(transactionId, "captured");
      this.#postForCall(wallet, "capture", transactionId, hold.amountMinor, nowMs);
    });
  }

  async release(transactionId: string, reason: string, nowMs: number): Promise<void> {
    this.#change((wallet) => {
      const hold = this.#resolvable(transactionId);
      if (hold.state === "released") return;
      assert(hold.state === "held", "only an open hold is released");
      this.#giveBack(wallet, transactionId, hold, reason, nowMs);
    });
  }

  async cancel(transactionId: string, nowMs: number): Promise<void> {
    this.#change((wallet) => {
      const hold = this.#tables.hold(transactionId);
      assert(hold?.state !== "captured", "a completed call is not cancelled");
      if (hold?.state === "held") this.#giveBack(wallet, transactionId, hold, "abandoned", nowMs);
      if (!hold) this.#tables.addHold(transactionId, tombstone(nowMs));
    });
  }

  async credit(request: EntryRequest): Promise<EntryAnswer> {
    return this.#change((wallet) => this.#enterOnce(wallet, "credit", request));
  }

  async debit(request: EntryRequest): Promise<EntryAnswer> {
    return this.#change((wallet) => this.#enterOnce(wallet, "debit", request));
  }

  async state(): Promise<WalletState> {
    const { walletId, currency, books, frozen, policy } = this.#checked();
    return { walletId, currency, availableMinor: books.available, heldMinor: books.held, frozen, policy };
  }

  async entries(limit: number, below: number | null): Promise<EntriesPage> {
    const page = this.#tables.exist() ? this.#tables.entriesBelow(below, limit + 1) : [];
    const shown = page.slice(0, limit);
    return {
      entries: shown.map(({ entry }) => entry),
      next: page.length > limit ? (shown.at(-1)?.seq ?? null) : null,
    };
  }

  async setPolicy(policy: Policy): Promise<{ ok: true } | { ok: false; field: string; message: string }> {
    return this.#change(({ currency }) => {
      const problem = findPolicyProblem(policy, currency);
      if (problem) return { ok: false, ...problem };
      this.#tables.setPolicy(policy);
      return { ok: true };
    });
  }

  async setFrozen(frozen: boolean): Promise<void> {
    this.#change(() => this.#tables.setFrozen(frozen));
  }

  async rotateKey(keyFingerprint: string): Promise<{ keyVersion: number }> {
    return this.#change((wallet) => {
      if (wallet.keyFingerprint === keyFingerprint) return { keyVersion: wallet.keyVersion };
      this.#tables.setKey(keyFingerprint);
      return { keyVersion: wallet.keyVersion + 1 };
    });
  }

  async approvals(status: ApprovalStatus | null, nowMs: number): Promise<Approval[]> {
    return this.#tables.exist() ? this.#tables.approvals(status, APPROVALS_LISTED, nowMs) : [];
  }

  async decideApproval(
    approvalId: string,
    verdict: Verdict,
    nowMs: number,
  ): Promise<{ ok: true; approval: Approval } | { ok: false; reason: "unknown" | "decided" }> {
    return this.#change(() => {
      const approval = this.#tables.approval(approvalId, nowMs);
      if (!approval) return { ok: false, reason: "unknown" };
      const status = afterVerdict(approval.status, verdict);
      if (!status) return { ok: false, reason: "decided" };
      this.#tables.setApprovalStatus(approvalId, status);
      return { ok: true, approval: { ...approval, status } };
    });
  }

  #take(wallet: StoredWallet, request: HoldRequest): HoldAnswer {
    const admission = admit(wallet, request, this.#tables);
    if (!admission.ok) return admission;
    const { transactionId, amountMinor, nowMs } = request;
    const { policyVersion } = wallet;
    const { approvalId } = admission;
    if (!this.#postForCall(wallet, "hold", transactionId, amountMinor, nowMs)) {
      const reason = "the available balance does not cover the price";
      return { ok: false, code: "INSUFFICIENT_BALANCE", reason };
    }
    if (approvalId !== null) this.#tables.setApprovalStatus(approvalId, "used");
    const scope = scopeOf(wallet.policy, request.agentId);
    const hold = { amountMinor, scope, policyVersion, approvalId, heldAtMs: nowMs };
    this.#tables.addHold(transactionId, { ...hold, state: "held" });
    this.#count(hold, amountMinor);
    return { ok: true, policyVersion, approvalId };
  }

  #giveBack(
    wallet: StoredWallet,
    transactionId: string,
    hold: StoredHold,
    reason: string,
    nowMs: number,
  ): void {
    this.#tables.setHoldState(transactionId, "released");
    this.#count(hold, -hold.amountMinor);
    this.#postForCall(wallet, "release", transactionId, hold.amountMinor, nowMs, reason);
  }

  /** Always counted, also without a budget: one that is set in mid-month knows what was spent before. */
  #count({ scope, heldAtMs }: Pick<StoredHold, "scope" | "heldAtMs">, amountMinor: bigint): void {
    for (const per of PERS) {
      this.#tables.addSpending("wallet", windowOf(per, heldAtMs), amountMinor);
      this.#tables.addSpending(scope, windowOf(per, heldAtMs), amountMinor);
    }
  }

  #postForCall(
    wallet: StoredWallet,
    kind: EntryKind,
    transactionId: string,
    amountMinor: bigint,
    atMs: number,
    reason?: string,
  ): boolean {
    const entry = {
      source: "call",
      id: `${kind}:${transactionId}`,
      amountMinor,
      transactionId,
      atMs,
    } as const;
    return this.#post(wallet, kind, reason === undefined ? entry : { ...entry, reason });
  }

  #post(wallet: StoredWallet, kind: EntryKind, entry: EntryRequest): boolean {
    const posting = post(wallet.books, kind, entry.amountMinor);
    if (!posting.ok) return false;
    this.#tables.setBooks(posting.books);
    this.#tables.addEntry(kind, entry);
    return true;
  }

  #enterOnce(wallet: StoredWallet, kind: "credit" | "debit", request: EntryRequest): EntryAnswer {
    const known = this.#tables.entry(request.source, request.id);
    if (known) {
      const isSame =
        known.kind === kind &&
        known.amountMinor === request.amountMinor &&
        known.reason === (request.reason ?? null);
      return isSame ? { ok: true, entry: known, isNew: false } : { ok: false, reason: "conflict" };
    }
    if (!this.#post(wallet, kind, request)) return { ok: false, reason: "insufficient" };
    const entry = this.#tables.entry(request.source, request.id);
    assert(entry, "an entry that was written can be read");
    return { ok: true, entry, isNew: true };
  }

  #resolvable(transactionId: string): StoredHold {
    const hold = this.#tables.hold(transactionId);
    assert(hold, "a decided call has a hold");
    return hold;
  }

  /** Every write: one transaction, with the invariants asserted before and after it. */
  #change<Answer>(change: (wallet: StoredWallet) => Answer): Answer {
    return this.ctx.storage.transactionSync(() => {
      const answer = change(this.#checked());
      this.#checked();
      return answer;
    });
  }

  #checked(): StoredWallet {
    const wallet = this.#tables.wallet();
    assertBooks(wallet.books);
    assert(wallet.openHoldsMinor === wallet.books.held, "the held account is the sum of open holds");
    return wallet;
  }
}

function answerAgain(hold: StoredHold, request: HoldRequest): HoldAnswer {
  if (hold.state === "cancelled" || hold.state === "released") {
    return { ok: false, code: "CANCELLED", reason: "this call was cancelled" };
  }
  assert(hold.amountMinor === request.amountMinor, "a call's hold has one amount");
  return { ok: true, policyVersion: hold.policyVersion, approvalId: hold.approvalId };
}

function tombstone(nowMs: number): StoredHold {
  return {
    state: "cancelled",
    amountMinor: 0n,
    scope: "*",
    policyVersion: 0,
    approvalId: null,
    heldAtMs: nowMs,
  };
}
