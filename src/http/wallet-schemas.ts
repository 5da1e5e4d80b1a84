// The wire shapes of wallets and the registry: they parse the requests and describe the answers (CONTRACT.md section 4b).

import { CURRENCY_PATTERN, MINOR_PATTERN } from "../gateway/money.ts";
import type { JsonSchema } from "./json-schema.ts";

const text: JsonSchema = { type: "string" };
const minor: JsonSchema = { type: "string", pattern: MINOR_PATTERN };
/** A bound may also be nothing at all. */
const bound: JsonSchema = { type: "string", pattern: "^(0|[1-9][0-9]{0,14})$" };
const currency: JsonSchema = { type: "string", pattern: CURRENCY_PATTERN };
const url: JsonSchema = { type: "string", maxLength: 2_048 };
const agentId: JsonSchema = { type: "string", minLength: 1, maxLength: 100 };
/** Ids an owner lists, and rules an owner writes: more than anyone keeps in mind. */
const ids: JsonSchema = { type: "array", maxItems: 1_000, items: { type: "string", maxLength: 100 } };
const MAX_RULES = 100;

const RULE: JsonSchema = {
  type: "object",
  required: ["field", "op", "value", "currency", "then"],
  additionalProperties: false,
  properties: {
    agentId,
    field: { const: "amountMinor" },
    op: { enum: [">", ">=", "<", "<=", "=="] },
    value: bound,
    currency,
    // biome-ignore lint/suspicious/noThenProperty: the contract's word
    then: { enum: ["deny", "require_approval"] },
  },
};

const BUDGET: JsonSchema = {
  type: "object",
  required: ["per", "amountMinor"],
  additionalProperties: false,
  properties: { agentId, per: { enum: ["day", "month"] }, amountMinor: bound },
};

export const POLICY: JsonSchema = {
  type: "object",
  required: ["rules", "budgets"],
  additionalProperties: false,
  properties: {
    rules: { type: "array", maxItems: MAX_RULES, items: RULE },
    budgets: { type: "array", maxItems: MAX_RULES, items: BUDGET },
    perCallMaxMinor: bound,
    capabilities: ids,
    providers: ids,
  },
};

export const NEW_WALLET: JsonSchema = {
  type: "object",
  required: ["currency", "publicKey"],
  additionalProperties: false,
  properties: { currency, publicKey: text },
};

export const WALLET_MADE: JsonSchema = {
  type: "object",
  required: ["walletId", "ownerKey"],
  properties: { walletId: text, ownerKey: text },
};

export const WALLET: JsonSchema = {
  type: "object",
  required: ["walletId", "currency", "availableMinor", "heldMinor", "frozen", "policy"],
  properties: {
    walletId: text,
    currency: text,
    availableMinor: text,
    heldMinor: text,
    frozen: { type: "boolean" },
    policy: POLICY,
  },
};

/** Below a billion dollars: a price in millionths (dollar-price.ts) is exact up to nine. */
const topUpMinor: JsonSchema = { type: "string", pattern: "^[1-9][0-9]{0,10}$" };

export const NEW_TOP_UP: JsonSchema = {
  type: "object",
  required: ["amountMinor"],
  additionalProperties: false,
  properties: { amountMinor: topUpMinor },
};

export const TOP_UP: JsonSchema = {
  type: "object",
  required: ["settlementId", "state", "amountMinor", "credited"],
  properties: {
    settlementId: text,
    state: { enum: ["broadcast", "settled"] },
    amountMinor: text,
    credited: { type: "boolean" },
  },
};

export const ENTRY: JsonSchema = {
  type: "object",
  required: ["id", "kind", "amountMinor", "at"],
  properties: {
    id: text,
    kind: { enum: ["credit", "debit", "hold", "capture", "release"] },
    amountMinor: text,
    transactionId: text,
    reason: text,
    at: text,
  },
};

export const ENTRIES_QUERY: JsonSchema = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1 },
    cursor: { type: "string", pattern: "^[1-9][0-9]{0,14}$" },
  },
};

export const ENTRIES: JsonSchema = {
  type: "object",
  required: ["entries", "cursor"],
  properties: { entries: { type: "array", items: ENTRY }, cursor: { type: ["string", "null"] } },
};

export const NEW_ENTRY: JsonSchema = {
  type: "object",
  required: ["amountMinor", "reason"],
  additionalProperties: false,
  properties: { amountMinor: minor, reason: { type: "string", minLength: 1, maxLength: 200 } },
};

export const FROZEN: JsonSchema = {
  type: "object",
  required: ["frozen"],
  additionalProperties: false,
  properties: { frozen: { type: "boolean" } },
};

export const PAYMENT_KEY: JsonSchema = {
  type: "object",
  required: ["publicKey"],
  additionalProperties: false,
  properties: { publicKey: text },
};

const APPROVAL_STATUSES = ["pending", "approved", "denied", "used", "expired"];

export const APPROVAL: JsonSchema = {
  type: "object",
  required: ["approvalId", "agentId", "capabilityId", "amountMinor", "currency", "status", "expiresAt"],
  properties: {
    approvalId: text,
    agentId: text,
    capabilityId: text,
    amountMinor: text,
    currency: text,
    status: { enum: APPROVAL_STATUSES },
    expiresAt: text,
  },
};

export const APPROVALS_QUERY: JsonSchema = {
  type: "object",
  properties: { status: { type: "string", enum: APPROVAL_STATUSES } },
};

export const APPROVALS: JsonSchema = {
  type: "object",
  required: ["approvals"],
  properties: { approvals: { type: "array", items: APPROVAL } },
};

export const NEW_PROVIDER: JsonSchema = {
  type: "object",
  required: ["name", "walletId"],
  additionalProperties: false,
  properties: { name: { type: "string", minLength: 1, maxLength: 100 }, walletId: text },
};

export const PROVIDER_MADE: JsonSchema = {
  type: "object",
  required: ["providerId"],
  properties: { providerId: text },
};

export const NEW_CAPABILITY: JsonSchema = {
  type: "object",
  required: ["providerId", "name", "description", "url", "amountMinor", "currency", "challengeUrl"],
  additionalProperties: false,
  properties: {
    providerId: text,
    name: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", maxLength: 2_000 },
    url,
    method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
    toolName: { type: "string", minLength: 1, maxLength: 128 },
    inputSchema: { type: "object" },
    amountMinor: minor,
    currency,
    challengeUrl: url,
  },
};

export const CAPABILITY_MADE: JsonSchema = {
  type: "object",
  required: ["capabilityId"],
  properties: { capabilityId: text },
};
