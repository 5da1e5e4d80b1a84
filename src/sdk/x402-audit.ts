// The buyer's row of a payment: the same shape as a facilitator's, with what only the buyer sees.

import type { PaymentRequirements } from "@x402/core/types";
import { type AuditRow, allowedOf, auditedResource, payToHash } from "../platform/audit-row.ts";
import { decodeJson } from "../platform/base64-json.ts";

export interface BuyerAuditRow extends AuditRow {
  payment_id: string;
  /** Whether the seller passed on what extensions answered; sellers need not. */
  extension_response_status: "present" | "absent" | "malformed";
  /** Null when no catalog was asked. */
  bazaar_catalog_status: "listed" | "missing" | null;
}

/** Hands a row over. A row that cannot be made or kept does not undo a payment. */
export async function tellAudit(
  audit: ((row: BuyerAuditRow) => unknown) | undefined,
  makeRow: () => Promise<BuyerAuditRow>,
): Promise<void> {
  try {
    if (audit) await audit(await makeRow());
  } catch {
    // The outcome says what became of the payment.
  }
}

export interface Ending {
  paymentId: string;
  agentId: string | null;
  url: string;
  requirements: PaymentRequirements;
  transaction: string | null;
  errorReason: string | null;
  /** The seller's header `EXTENSION-RESPONSES`, if it sent one. */
  extensionResponses: string | null;
  isListed: boolean | null;
  nowMs: number;
}

export async function buyerAuditRow(ending: Ending): Promise<BuyerAuditRow> {
  const { paymentId, agentId, url, requirements, transaction, errorReason, isListed, nowMs } = ending;
  const { network, asset, amount, payTo } = requirements;
  const header = ending.extensionResponses;
  const responses = header === null ? undefined : allowedOf(decodeJson(header));
  return {
    payment_id: paymentId,
    event_type: errorReason === null ? "x402_payment_settled" : "x402_payment_failed",
    agent_id: agentId,
    task_id: null,
    mcp_tool: null,
    resource: auditedResource(url),
    network,
    asset,
    max_amount_required: amount,
    pay_to_hash: await payToHash(payTo),
    policy_version: null,
    approval_id: null,
    verify_extension_responses: null,
    settle_extension_responses: responses ?? null,
    settlement_tx: transaction,
    error_reason: errorReason,
    extension_response_status: header === null ? "absent" : responses ? "present" : "malformed",
    bazaar_catalog_status: isListed === null ? null : isListed ? "listed" : "missing",
    created_at: new Date(nowMs).toISOString(),
  };
}
