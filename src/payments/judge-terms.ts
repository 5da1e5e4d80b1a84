// What can be judged of a payment without the chain: does it pay what the requirements ask, to whom, in which token,
// within its window, and does this facilitator take it? Pure. The requirements come from the resource server and are
// the authority; what the client accepted and what the payer signed are compared with them.

import type { ExactPermit2Payload, UptoPermit2Payload } from "@x402/evm";
import type { Address } from "viem";
import { isAddressEqual } from "viem/utils";
import { EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS } from "./evm/contracts.ts";
import { type Token, tokenOf } from "./networks.ts";
import { type Payment, signedReceiver } from "./payment.ts";
import type { Reason } from "./reasons.ts";

/** Time a transaction needs to reach a block: an authorization that ends sooner would revert on the chain. */
export const BLOCK_MARGIN_SECONDS = 6n;

export interface TermsContext {
  tokens: readonly Token[];
  relayers(): readonly Address[];
  nowSeconds: number;
  /** verify: an upto payment is for its ceiling. settle: the charge may be anything up to it. */
  purpose: "verify" | "settle";
}

/**
 * The first reason to refuse before the chain is asked, in the mechanisms' own order; null when there is none. What a
 * mechanism looks at only after the signature is `judgeAuthorization`'s.
 */
export function judgeTerms(payment: Payment, context: TermsContext): Reason | null {
  const token = tokenOf(context, payment.asset);
  if (!token) return "asset_not_allowed";
  return (
    judgeAgreement(payment, context.purpose) ??
    (payment.method === "permit2" ? judgePermit(payment, context) : null) ??
    judgeMinimum(payment, token)
  );
}

/**
 * EIP-3009: receiver, window and value of what was signed. The mechanism judges them after the signature, so that of
 * several faults a wrong signature is named first; its answer is ours, word for word.
 */
export function judgeAuthorization(payment: Payment, nowSeconds: number): Reason | null {
  if (!isAddressEqual(signedReceiver(payment), payment.payTo)) return "invalid_exact_evm_recipient_mismatch";
  return (
    judgeWindow(payment, nowSeconds) ??
    (payment.signedAtomic === payment.amountAtomic
      ? null
      : "invalid_exact_evm_payload_authorization_value_mismatch")
  );
}

/** The client's own copy of the terms against the server's. Only scheme and network are compared by the mechanisms. */
function judgeAgreement(payment: Payment, purpose: TermsContext["purpose"]): Reason | null {
  const { payload, requirements, scheme, method, amountAtomic } = payment;
  const { accepted } = payload;
  if (accepted.scheme !== scheme) {
    if (scheme === "upto") return "invalid_upto_evm_scheme";
    return method === "permit2" ? "unsupported_payload_type" : "invalid_exact_evm_scheme";
  }
  if (method === "eip3009" && !(requirements.extra.name && requirements.extra.version)) {
    return "invalid_exact_evm_missing_eip712_domain";
  }
  if (accepted.network !== requirements.network) {
    return scheme === "upto" ? "invalid_upto_evm_network_mismatch" : "invalid_exact_evm_network_mismatch";
  }
  if (accepted.asset !== requirements.asset) return "permit2_token_mismatch";
  if (accepted.payTo !== requirements.payTo) {
    return method === "eip3009"
      ? "invalid_exact_evm_recipient_mismatch"
      : "invalid_permit2_recipient_mismatch";
  }
  // An upto charge differs from the ceiling that was accepted.
  const isCharge = scheme === "upto" && purpose === "settle";
  if (!isCharge && BigInt(accepted.amount) !== amountAtomic) {
    return method === "eip3009"
      ? "invalid_exact_evm_payload_authorization_value_mismatch"
      : "permit2_amount_mismatch";
  }
  return null;
}

/** What the payer's permit binds. */
function judgePermit(payment: Payment, context: TermsContext): Reason | null {
  const { payload, payTo, asset, facilitator, scheme } = payment;
  const { permit2Authorization } = payload.payload as unknown as ExactPermit2Payload | UptoPermit2Payload;
  const { spender, permitted } = permit2Authorization;
  const proxy = scheme === "upto" ? UPTO_PROXY_ADDRESS : EXACT_PROXY_ADDRESS;
  if (!isAddressEqual(spender, proxy)) return "invalid_permit2_spender";
  if (!isAddressEqual(signedReceiver(payment), payTo)) return "invalid_permit2_recipient_mismatch";
  if (facilitator !== null && !context.relayers().some((relayer) => isAddressEqual(relayer, facilitator))) {
    return "upto_facilitator_mismatch";
  }
  return (
    judgeWindow(payment, context.nowSeconds) ??
    judgePermitted(payment, context.purpose) ??
    (isAddressEqual(permitted.token, asset) ? null : "permit2_token_mismatch")
  );
}

/** By our clock, never by the last block's time: an idle chain is old. */
function judgeWindow(payment: Payment, nowSeconds: number): Reason | null {
  const now = BigInt(nowSeconds);
  const isEip3009 = payment.method === "eip3009";
  if (payment.validBeforeSeconds < now + BLOCK_MARGIN_SECONDS) {
    return isEip3009 ? "invalid_exact_evm_payload_authorization_valid_before" : "permit2_deadline_expired";
  }
  if (payment.validAfterSeconds > now) {
    return isEip3009 ? "invalid_exact_evm_payload_authorization_valid_after" : "permit2_not_yet_valid";
  }
  return null;
}

/** Exactly equal: less is theft, more is a price nobody asked for. Only an upto charge may be below what was signed. */
function judgePermitted(payment: Payment, purpose: TermsContext["purpose"]): Reason | null {
  const { scheme, amountAtomic, signedAtomic } = payment;
  if (scheme === "upto" && purpose === "settle") {
    return amountAtomic > signedAtomic ? "invalid_upto_evm_payload_settlement_exceeds_amount" : null;
  }
  return signedAtomic === amountAtomic ? null : "permit2_amount_mismatch";
}

/** Ours alone. An upto charge may be any part of the ceiling, so there the ceiling counts. */
function judgeMinimum({ scheme, amountAtomic, signedAtomic }: Payment, token: Token): Reason | null {
  const amount = scheme === "upto" ? signedAtomic : amountAtomic;
  return amount < token.minimumAtomic ? "amount_below_minimum" : null;
}
