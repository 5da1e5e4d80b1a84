// The wire shapes of the paid-call routes: they parse the requests and describe the answers (CONTRACT.md section 4).

import type { JsonSchema } from "./json-schema.ts";

const text: JsonSchema = { type: "string" };
const textOrNull: JsonSchema = { type: ["string", "null"] };

export const CHALLENGE_BODY: JsonSchema = {
  type: "object",
  required: ["capabilityId"],
  properties: { capabilityId: text },
};

export const CHALLENGE: JsonSchema = {
  type: "object",
  required: [
    ...["capabilityId", "providerId", "amountMinor", "currency", "nonce", "expiresAt", "payTo"],
    ...["signature", "signingKeyId"],
  ],
  properties: {
    capabilityId: text,
    providerId: text,
    amountMinor: text,
    currency: text,
    nonce: text,
    expiresAt: text,
    payTo: text,
    signature: text,
    signingKeyId: text,
  },
};

/** The proof's own form is judged with codes of its own. */
export const AUTHORIZE_BODY: JsonSchema = {
  type: "object",
  required: ["proof"],
  properties: { proof: {} },
};

export const AUTHORIZED: JsonSchema = {
  type: "object",
  required: ["ok", "transactionId"],
  properties: { ok: { const: true }, transactionId: text },
};

export const REFUSED: JsonSchema = {
  type: "object",
  required: ["ok", "code", "reason"],
  properties: {
    ok: { const: false },
    code: {
      enum: [
        ...[
          "INVALID_PROOF",
          "INVALID_SIGNATURE",
          "NONCE_REPLAYED",
          "CHALLENGE_EXPIRED",
          "CHALLENGE_MISMATCH",
        ],
        ...["POLICY_DENIED", "APPROVAL_REQUIRED", "BUDGET_EXCEEDED", "INSUFFICIENT_BALANCE", "WALLET_FROZEN"],
        ...["CAPABILITY_UNAVAILABLE", "UNAVAILABLE"],
      ],
    },
    reason: text,
    decision: { type: "object", required: ["rule", "effect"], properties: { rule: text, effect: text } },
    approvalId: text,
  },
};

export const COMPLETE_BODY: JsonSchema = {
  type: "object",
  required: ["transactionId", "responseBodyBase64"],
  properties: { transactionId: text, responseBodyBase64: text },
};

export const FAIL_BODY: JsonSchema = {
  type: "object",
  required: ["transactionId", "error"],
  properties: { transactionId: text, error: text, kind: { enum: ["provider_error", "client_error"] } },
};

export const RECEIPT: JsonSchema = {
  type: "object",
  required: [
    ...["receiptId", "transactionId", "status", "capabilityId", "providerId", "walletId", "agentId"],
    ...["amountMinor", "currency", "payTo", "nonce", "responseHash", "failureKind", "issuedAt"],
    ...["signingKeyId", "signature"],
  ],
  properties: {
    receiptId: text,
    transactionId: text,
    status: { enum: ["completed", "failed"] },
    capabilityId: text,
    providerId: text,
    walletId: text,
    agentId: text,
    amountMinor: text,
    currency: text,
    payTo: text,
    nonce: text,
    responseHash: textOrNull,
    failureKind: { enum: ["provider_error", "client_error", "timeout", null] },
    issuedAt: text,
    signingKeyId: text,
    signature: text,
  },
};

export const DECIDED: JsonSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      properties: { code: { enum: ["CALL_DECIDED", "CALL_NOT_HELD"] }, message: text },
    },
    receipt: RECEIPT,
  },
};

export const KEY_QUERY: JsonSchema = { type: "object", properties: { signingKeyId: text } };

export const PUBLIC_KEY: JsonSchema = {
  type: "object",
  required: ["signingKeyId", "algorithm", "publicKey", "spki"],
  properties: { signingKeyId: text, algorithm: { const: "ed25519" }, publicKey: text, spki: text },
};
