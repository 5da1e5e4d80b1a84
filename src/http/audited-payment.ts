// What the audit keeps of a settled payment, from the request to the row: what it was for and what its bazaar block was
// answered, restricted to what may be kept of that. A settlement carries the first half as opaque JSON.

import type { BlockReading } from "../bazaar/block/extension.ts";
import { walletOfTopUp } from "../gateway/top-up.ts";
import type { EndedSettlement } from "../payments/settlement/settlement-aftermath.ts";
import { auditedResource, type ExtensionResponses, payToHash } from "../platform/audit-row.ts";
import { addSettlements, type NewSettlement } from "./audit-store.ts";

export interface AuditedPayment {
  resource: string | null;
  toolName: string | null;
  extensions: ExtensionResponses | null;
}

/** Of a body that was decoded: its `resource` is the buyer's word and may be anything. */
export function auditedOf(body: unknown, block: BlockReading): AuditedPayment {
  const { resource } = (body as { paymentPayload: { resource?: { url?: unknown } | null } }).paymentPayload;
  const url = resource?.url;
  return {
    resource: typeof url === "string" ? auditedResource(url) : null,
    toolName: block.kind === "accepted" ? (block.observation.toolName ?? null) : null,
    extensions: extensionsOf(block),
  };
}

function extensionsOf(block: BlockReading): AuditedPayment["extensions"] {
  switch (block.kind) {
    case "absent":
      return null;
    case "accepted":
      return { bazaar: { status: "processing" } };
    case "rejected":
      return { bazaar: { status: "rejected", rejectedReason: block.reason } };
  }
}

/** Writes the audit's row of a settlement that ended. May be called twice. */
export async function auditSettlement(db: D1Database, ended: EndedSettlement): Promise<void> {
  await addSettlements(db, [await auditedRow(ended)]);
}

export async function auditedRow(ended: EndedSettlement): Promise<NewSettlement> {
  const { settlementId, tenant, state, errorReason, network, asset, amount, endedAtMs } = ended;
  const { resource, toolName, extensions } = JSON.parse(ended.audited) as AuditedPayment;
  return {
    ...{ settlementId, tenant, state, errorReason, resource, toolName, network, asset, amount, endedAtMs },
    walletId: walletOfTopUp(ended.purpose),
    payToHash: await payToHash(ended.payTo),
    extensionResponses: extensions && JSON.stringify(extensions),
    transactionHash: ended.transaction,
  };
}
