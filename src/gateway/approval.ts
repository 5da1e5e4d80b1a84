// An approval: the owner's yes or no to one agent buying one capability at one price. Not bound to a nonce, so a new
// challenge may use it; the hold that uses it consumes it. Pure rules; WalletObject stores them.

export type StoredApprovalStatus = "pending" | "approved" | "denied" | "used";
export type ApprovalStatus = StoredApprovalStatus | "expired";

/** As `GET /v1/wallets/:id/approvals` answers it. */
export interface Approval {
  approvalId: string;
  agentId: string;
  capabilityId: string;
  amountMinor: string;
  currency: string;
  status: ApprovalStatus;
  expiresAt: string;
}

/** From the first time it was asked for: a day to decide and to use the decision. */
export const APPROVAL_MS = 24 * 60 * 60 * 1_000;

/** More questions than an owner reads; after that no new one is stored until some are decided or expire. */
export const MAX_PENDING_APPROVALS = 1_000;

/** What a stored status means now. A used approval stays used. */
export function statusAt(stored: StoredApprovalStatus, expiresAtMs: number, nowMs: number): ApprovalStatus {
  return stored !== "used" && nowMs >= expiresAtMs ? "expired" : stored;
}

export type Verdict = "approve" | "deny";

/**
 * The status after the owner's verdict, or undefined when it comes too late. An approval that no hold used yet can
 * still be denied; a denial stands.
 */
export function afterVerdict(status: ApprovalStatus, verdict: Verdict): "approved" | "denied" | undefined {
  const wanted = verdict === "approve" ? "approved" : "denied";
  if (status === "pending" || status === wanted) return wanted;
  return status === "approved" ? wanted : undefined;
}
