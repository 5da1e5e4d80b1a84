// Which payment is this? One signed authorization is one payment, whatever else stands around it: the chain lets it
// move money once, so Souk has one settlement for it. Pure; the id is also the name of the settlement's object.

import { sha256Hex } from "../../platform/bytes.ts";
import type { Payment } from "../payment.ts";

/** What identifies a payment on its chain. */
export type PaymentIdentity = Pick<Payment, "method" | "chainId" | "asset" | "payer" | "nonce">;

/** A well-formed id; anything else names no settlement and must touch no object. */
export const PAYMENT_ID_PATTERN = /^[0-9a-f]{32}$/;

/**
 * The canonical key (CONTRACT.md "Settle"). EIP-3009 keeps its nonces per token and payer, Permit2 per owner alone:
 * one Permit2 nonce can move one token once, so the token is no part of it.
 */
export function paymentKey(identity: PaymentIdentity): string {
  const { method, chainId } = identity;
  const payer = identity.payer.toLowerCase();
  switch (method) {
    case "eip3009":
      return `eip3009:${chainId}:${identity.asset.toLowerCase()}:${payer}:${identity.nonce.toLowerCase()}`;
    case "permit2":
      return `permit2:${chainId}:${payer}:${BigInt(identity.nonce)}`;
  }
}

/** 32 lower-case hex digits. */
export async function paymentId(identity: PaymentIdentity): Promise<string> {
  return (await sha256Hex(paymentKey(identity))).slice(0, 32);
}
