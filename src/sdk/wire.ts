// The names and encodings of the paid-call protocol, the same for buyers and sellers, over HTTP and over MCP.

import type { Challenge, Receipt } from "../gateway/wire.ts";

export type { Challenge, Decision, FailureKind, Proof, Receipt } from "../gateway/wire.ts";

/** Carries base64 of the proof's JSON. x402 version 1 uses the same header: the shape tells them apart. */
export const PAYMENT_HEADER = "x-payment";
/** Carries base64 of the receipt's JSON. */
export const RECEIPT_HEADER = "x-zanora-receipt";

/** In an MCP result's `_meta`: the challenge itself. */
export const CHALLENGE_META = "zanora.dev/x402-challenge";
/** In an MCP request's `params._meta`: base64 of the proof's JSON. */
export const PAYMENT_META = "zanora.dev/x402-payment";
/** Generic x402 clients use this key; a text there is a proof, an object an x402 payment. */
export const X402_PAYMENT_META = "x402/payment";
/** In an MCP result's `_meta`: base64 of the receipt's JSON. */
export const RECEIPT_META = "zanora.dev/x402-receipt";

/** Whether the members that a challenge must have are there, as texts. That it is signed is another question. */
export function looksLikeChallenge(value: unknown): value is Challenge {
  return hasTexts(value, CHALLENGE_MEMBERS);
}

/** Whether the members that a receipt must have are there. That it is signed is another question. */
export function looksLikeReceipt(value: unknown): value is Receipt {
  return hasTexts(value, RECEIPT_MEMBERS);
}

const CHALLENGE_MEMBERS = [
  ...["capabilityId", "providerId", "amountMinor", "currency", "nonce", "expiresAt", "payTo"],
  ...["signature", "signingKeyId"],
];
const RECEIPT_MEMBERS = [
  ...["receiptId", "transactionId", "status", "capabilityId", "providerId", "walletId", "agentId"],
  ...["amountMinor", "currency", "payTo", "nonce", "issuedAt", "signingKeyId", "signature"],
];

function hasTexts(value: unknown, members: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return members.every((member) => typeof (value as Record<string, unknown>)[member] === "string");
}

/** What stands in a payment: a proof of this protocol, an x402 payment, or neither (also when it claims to be both). */
export function kindOfPayment(value: unknown): "proof" | "x402" | "neither" {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "neither";
  const members = value as Record<string, unknown>;
  const isProof = ["walletId", "capabilityId", "nonce"].every((name) => typeof members[name] === "string");
  const isX402 = Number.isInteger(members.x402Version);
  if (isProof === isX402) return "neither";
  return isProof ? "proof" : "x402";
}
