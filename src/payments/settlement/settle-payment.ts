// The settle use case: names the payment and the caller, asks the Idempotency-Key's object if there is a key, then the
// payment's own object. Pure but for the calls to those objects, which it is given. A call that an object's restart
// cut off is repeated once with the same claimant: every method of the objects is idempotent for it.

import type { Hex } from "viem";
import { withOneRepeat } from "../../platform/one-repeat.ts";
import type { Payment } from "../payment.ts";
import type { Reason } from "../reasons.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { paymentId } from "./payment-id.ts";

/** One settle call, as the payment's object gets it. */
export interface SettleCall {
  settlementId: string;
  fingerprint: string;
  payment: Payment;
  tenant: string;
  /** Who receives the one success: the same for every repeat of one caller, different for all others. */
  claimant: string;
  purpose: string;
  paymentIdentifier: string | null;
  observation: string | null;
  audited: string;
}

export type SettleAnswer =
  | {
      success: true;
      /** Empty for an upto charge of 0. */
      transaction: Hex | "";
      /** The same claimant was told before. */
      isReplay: boolean;
    }
  | { success: false; reason: Reason; transaction: Hex | ""; retryAfterSeconds?: number };

export interface SettleRequest {
  payment: Payment;
  tenant: string;
  /** As sent, 1 to 255 printable characters; null without one. */
  idempotencyKey: string | null;
  /** The buyer's `payment-identifier`: recorded, never a replay key, since the buyer may send one twenty times. */
  paymentIdentifier: string | null;
  /** `PAYMENT_PURPOSE`, or what else the money is for. */
  purpose: string;
  /** Who receives the one success, where that is not the caller alone: all calls of one beneficiary hear the same. */
  beneficiary?: string;
  /** Opaque JSON for the catalog, at most 80 KB; null when there is nothing to list. */
  observation: string | null;
  /** Opaque JSON for the audit, a few kilobytes: what the payment was for. */
  audited: string;
}

export const PAYMENT_PURPOSE = "payment";

/** The objects, and randomness, as the caller has them. */
export interface SettlePorts {
  settlement(settlementId: string): { settle(call: SettleCall): Promise<SettleAnswer> };
  idempotencyKey(name: string): { bind(fingerprint: string): Promise<"bound" | "conflict"> };
  /** Names the object of a tenant's key. */
  nameKey(tenant: string, key: string): Promise<string>;
  /** Never the same twice: a claimant of its own for a call without a key. */
  randomId(): string;
}

/** @throws when an object failed twice, or failed in a way that a repeat does not mend. */
export async function settlePayment(
  request: SettleRequest,
  ports: SettlePorts,
): Promise<{ settlementId: string; answer: SettleAnswer }> {
  const { payment, tenant, idempotencyKey, beneficiary, ...rest } = request;
  const settlementId = await paymentId(payment);
  const fingerprint = await fingerprintOf(settlementId, payment, tenant);
  let claimant = beneficiary === undefined ? `call:${ports.randomId()}` : `for:${beneficiary}`;
  if (idempotencyKey !== null) {
    const name = await ports.nameKey(tenant, idempotencyKey);
    const binding = await withOneRepeat(() => ports.idempotencyKey(name).bind(fingerprint));
    if (binding === "conflict") {
      return { settlementId, answer: { success: false, reason: "idempotency_conflict", transaction: "" } };
    }
    claimant = `key:${name}`;
  }
  const call: SettleCall = { settlementId, fingerprint, payment, tenant, claimant, ...rest };
  const answer = await withOneRepeat(() => ports.settlement(settlementId).settle(call));
  return { settlementId, answer };
}
