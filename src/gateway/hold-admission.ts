// Whether a wallet lets a hold be taken, in the order of CONTRACT.md section 4's refusals: frozen, key, policy, approval,
// budget; the balance is the books' own refusal. Runs inside the hold's transaction. This file owns the random id of
// the approval it asks for, which is all that a refusal stores.

import { APPROVAL_MS, MAX_PENDING_APPROVALS } from "./approval.ts";
import { type Judgement, judge, judgeBudgets } from "./policy.ts";
import { windowOf } from "./spending-windows.ts";
import type { HoldRefusal, HoldRequest } from "./wallet-port.ts";
import type { StoredWallet, WalletTables } from "./wallet-tables.ts";

/** Expired approvals stay readable for a month. */
const EXPIRED_APPROVALS_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

/** `approvalId`: the approval that the hold consumes. */
export type Admission = { ok: true; approvalId: string | null } | HoldRefusal;

export function admit(wallet: StoredWallet, request: HoldRequest, tables: WalletTables): Admission {
  if (wallet.frozen) return { ok: false, code: "WALLET_FROZEN", reason: "the wallet is frozen" };
  if (request.keyFingerprint !== wallet.keyFingerprint) {
    return {
      ok: false,
      code: "INVALID_SIGNATURE",
      reason: "not signed with the wallet's current payment key",
    };
  }
  if (request.currency !== wallet.currency) {
    const reason = `the wallet holds ${wallet.currency}, the price is in ${request.currency}`;
    return { ok: false, code: "INSUFFICIENT_BALANCE", reason };
  }
  const approval = approvalFor(judge(wallet.policy, request), request, tables);
  if (!approval.ok) return approval;
  const budget = judgeBudgets(wallet.policy, request, (scope, per) =>
    tables.spentMinor(scope, windowOf(per, request.nowMs)),
  );
  if (budget.effect === "allow") return approval;
  return { ok: false, code: "BUDGET_EXCEEDED", reason: budget.reason, decision: budget.decision };
}

/** What the rules' judgement needs of the owner. Asks the owner when nobody asked yet. */
function approvalFor(judgement: Judgement, request: HoldRequest, tables: WalletTables): Admission {
  if (judgement.effect === "allow") return { ok: true, approvalId: null };
  const { effect, decision, reason } = judgement;
  if (effect === "deny") return { ok: false, code: "POLICY_DENIED", reason, decision };

  const { nowMs } = request;
  const live = tables.liveApproval(request, nowMs);
  if (live?.status === "approved") return { ok: true, approvalId: live.id };
  if (live?.status === "denied") {
    const refusal = { ok: false, code: "POLICY_DENIED", reason: "denied by the owner" } as const;
    return { ...refusal, decision, approvalId: live.id };
  }
  const required = { ok: false, code: "APPROVAL_REQUIRED", reason, decision } as const;
  if (live) return { ...required, approvalId: live.id };
  if (tables.pendingApprovals(nowMs) >= MAX_PENDING_APPROVALS) return required;
  const approvalId = `apr_${crypto.randomUUID().replaceAll("-", "")}`;
  tables.dropApprovalsExpiredBefore(nowMs - EXPIRED_APPROVALS_KEPT_MS);
  tables.addApproval(approvalId, request, nowMs, nowMs + APPROVAL_MS);
  return { ...required, approvalId };
}
