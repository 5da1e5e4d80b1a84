// A settlement as its tenant may see it (GET /settlements/:id, CONTRACT.md section 1). Pure.

import { failureReason } from "./settle-reasons.ts";
import type { Settlement } from "./settlement-rows.ts";
import type { SettlementState } from "./settlement-states.ts";

export interface SettlementRecord {
  id: string;
  state: SettlementState;
  /** Empty while nothing is sent, and for an upto charge of 0. */
  transaction: string;
  network: string;
  payer: string;
  payTo: string;
  /** What is charged, in atomic units. */
  amount: string;
  asset: string;
  errorReason?: string;
  /** The block of an answered success vanished from the chain. */
  reorged?: true;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

export function describeSettlement(settlement: Settlement): SettlementRecord {
  const { settlementId, life, payment, createdAtMs, updatedAtMs } = settlement;
  return {
    id: settlementId,
    state: life.state,
    transaction: life.transaction,
    network: payment.network,
    payer: payment.payer,
    payTo: payment.payTo,
    amount: payment.amountAtomic.toString(),
    asset: payment.asset,
    ...(life.failure && { errorReason: failureReason(payment, life.failure) }),
    ...(life.isReorged && { reorged: true as const }),
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
  };
}
