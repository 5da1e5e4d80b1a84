// The buyer's row of a call that was bought from a custodial balance: the gateway's shape, under the gateway's own id of
// the call, so that the two can be laid side by side.

import { auditedResource, payToHash } from "../platform/audit-row.ts";
import { fromBase64Url, sha256, toHex } from "../platform/bytes.ts";
import type { Bought } from "./buy.ts";
import type { Challenge } from "./wire.ts";
import type { BuyerAuditRow } from "./x402-audit.ts";

/** What was called, as a row names it. */
export interface CalledThing {
  url: string | null;
  toolName: string | null;
}

export async function paidCallRow(
  { url, toolName }: CalledThing,
  challenge: Challenge,
  bought: Bought<unknown>,
  agentId: string,
): Promise<BuyerAuditRow> {
  const what = toolName === null ? "gateway_paid_call" : "gateway_paid_mcp_tool";
  return {
    payment_id: await transactionIdOf(challenge.nonce),
    event_type: `${what}_${endingOf(bought)}`,
    agent_id: agentId,
    task_id: null,
    mcp_tool: toolName,
    resource: url === null ? null : auditedResource(url),
    network: null,
    asset: challenge.currency,
    max_amount_required: challenge.amountMinor,
    pay_to_hash: await payToHash(challenge.payTo),
    policy_version: null,
    approval_id: bought.status === "refused" ? (bought.approvalId ?? null) : null,
    verify_extension_responses: null,
    settle_extension_responses: null,
    settlement_tx: null,
    error_reason: errorOf(bought),
    // Nothing of the kind is part of this protocol.
    extension_response_status: "absent",
    bazaar_catalog_status: null,
    created_at: new Date().toISOString(),
  };
}

/** In the gateway's words where it said one: a seller's refusal and a broken answer are the buyer's alone. */
function endingOf(bought: Bought<unknown>): string {
  if (bought.status === "paid") return "completed";
  if (bought.status !== "returned") return bought.status;
  return bought.receipt.failureKind === "timeout" ? "timed_out" : "failed";
}

function errorOf(bought: Bought<unknown>): string | null {
  if (bought.status === "returned") return bought.receipt.failureKind;
  if (bought.status === "refused") return bought.code.slice(0, MAX_CODE_CHARACTERS);
  return bought.status === "failed" ? bought.reason : null;
}

/** A seller's text; all codes of the protocol are shorter. */
const MAX_CODE_CHARACTERS = 64;

/** As the gateway derives it from the nonce's bytes. */
async function transactionIdOf(nonce: string): Promise<string> {
  const bytes = fromBase64Url(nonce) ?? new Uint8Array();
  return `txn_${toHex(await sha256(bytes)).slice(0, 32)}`;
}
