// What a seller says of the settlement, in header PAYMENT-RESPONSE: the seller's word, but its hash can be looked up.

import type { PaymentRequirements } from "@x402/core/types";
import { decodeJson } from "../platform/base64-json.ts";

export interface Settlement {
  success: boolean;
  /** Hash on the chain; empty where nothing was charged. */
  transaction: string;
  network: string;
  payer?: string;
  /** What was charged, atomic units, where that may be less than what was signed. */
  amount?: string;
  errorReason?: string;
}

/** Undefined when there is none that can be read. */
export function readSettlement(header: string | null): Settlement | undefined {
  const value = header === null ? undefined : (decodeJson(header) as Partial<Settlement> | null | undefined);
  if (typeof value !== "object" || value === null) return undefined;
  const { success, transaction, network } = value;
  if (typeof success !== "boolean" || typeof transaction !== "string" || typeof network !== "string") {
    return undefined;
  }
  return HASH.test(transaction) ? (value as Settlement) : undefined;
}

/** A hash on any chain, or nothing; other text of a seller's is kept out of rows and logs. */
const HASH = /^[0-9A-Za-z]{0,128}$/;

/** Whether it says that this was settled: on its network, in a transaction unless nothing was charged. */
export function isSettlementOf(settlement: Settlement, { network, amount }: PaymentRequirements): boolean {
  const { success, transaction } = settlement;
  const isCharged = (settlement.amount ?? amount) !== "0";
  return success && settlement.network === network && (transaction !== "" || !isCharged);
}
