// What buyers, sellers and the gateway say to each other about a paid call, as types and nothing else: the SDK is built
// from this file without the Worker behind it. CONTRACT.md section 4.

/** What a challenge offers and its nonce is bound to. */
export interface Terms {
  capabilityId: string;
  providerId: string;
  amountMinor: string;
  currency: string;
  payTo: string;
}

/** CONTRACT.md section 4. `amountMinor` is a decimal string, `expiresAt` ISO 8601, `payTo` the payee's wallet. */
export interface Challenge extends Terms {
  nonce: string;
  expiresAt: string;
  /** Base64 ed25519 over the canonical JSON of everything else but `signingKeyId`. */
  signature: string;
  signingKeyId: string;
}

/** CONTRACT.md section 4; `signature` is base64 ed25519 over the canonical JSON of the other eight. */
export interface Proof {
  walletId: string;
  /** The buyer's own name for the agent that pays; budgets may be set for it. */
  agentId: string;
  capabilityId: string;
  providerId: string;
  amountMinor: string;
  currency: string;
  nonce: string;
  /** ISO 8601 in UTC, by the buyer's clock: recorded by nobody, decides nothing. */
  issuedAt: string;
  signature: string;
}

/** Why the buyer got the money back. `client_error` never counts towards the breaker; the other two do. */
export type FailureKind = "provider_error" | "client_error" | "timeout";

/** What a receipt says, before its signature. CONTRACT.md section 4. */
export interface ReceiptFields {
  receiptId: string;
  transactionId: string;
  status: "completed" | "failed";
  capabilityId: string;
  providerId: string;
  walletId: string;
  agentId: string;
  amountMinor: string;
  currency: string;
  payTo: string;
  nonce: string;
  /** Lower-case hex SHA-256 of the exact response bytes; null on a failed call. */
  responseHash: string | null;
  failureKind: FailureKind | null;
  /** ISO 8601: the moment of the decision. */
  issuedAt: string;
}

export interface Receipt extends ReceiptFields {
  signingKeyId: string;
  /** Base64 ed25519 over the canonical JSON of the fields. */
  signature: string;
}

export type Effect = "deny" | "require_approval";

/** Names the rule that decided; goes to the seller and the buyer. `rule` is a path into the policy. */
export interface Decision {
  rule: string;
  effect: Effect;
  agentId?: string;
  field?: string;
  op?: string;
  value?: string;
  currency?: string;
  per?: "day" | "month";
}
