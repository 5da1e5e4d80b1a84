// One row per route: who may call it (CONTRACT), and a call that works. The tests that walk over them are
// every-route.test.ts; a new route needs a row here.

import { SELLER, TOPUP_ACCOUNT } from "../../scripts/local-variables.ts";
import { encodeJson } from "../../src/platform/base64-json.ts";
import { toBase64 } from "../../src/platform/bytes.ts";
import { aCapability, type Cast, type Wire } from "../support/cast.ts";
import { aPayment } from "../support/payments.ts";

/** `owned`: another tenant with the same scope is told that there is no such thing. */
export type Wanted =
  | { kind: "none" }
  | { kind: "key"; scope: string; owned?: boolean }
  | { kind: "provider"; owned?: boolean }
  | { kind: "owner"; of: "buyer" | "cautious" }
  | { kind: "operator" };

export interface Row {
  wanted: Wanted;
  /** Made anew for each request: most things can be done once. */
  call: (cast: Cast) => Promise<Wire> | Wire;
  /** What the working call answers. */
  status: number;
  /** As good as `status`: what is answered when a busy machine takes its time. */
  lateStatus?: number;
}

const NONE = { kind: "none" } as const;
const OPERATOR = { kind: "operator" } as const;
const PROVIDER = { kind: "provider", owned: true } as const;

const payments: Record<string, Row> = {
  "POST /verify": {
    wanted: { kind: "key", scope: "payments:verify" },
    call: async () => ({ body: await aPayment() }),
    status: 200,
  },
  "POST /settle": {
    wanted: { kind: "key", scope: "payments:settle" },
    call: async () => ({ body: await aPayment() }),
    status: 200,
  },
  "GET /settlements/{id}": {
    wanted: { kind: "key", scope: "payments:read", owned: true },
    call: async (cast) => ({ path: `/settlements/${await cast.settle()}` }),
    status: 200,
  },
  "GET /supported": { wanted: NONE, call: () => ({}), status: 200 },
  "POST /supported": { wanted: NONE, call: () => ({}), status: 200 },
};

const discovery: Record<string, Row> = {
  "GET /discovery/resources": {
    wanted: NONE,
    call: () => ({ path: "/discovery/resources?type=http&limit=5" }),
    status: 200,
  },
  "GET /discovery/search": {
    wanted: NONE,
    call: () => ({ path: "/discovery/search?query=weather&maxUsdPrice=1" }),
    status: 200,
  },
  "GET /discovery/merchant": {
    wanted: NONE,
    call: () => ({ path: `/discovery/merchant?payTo=${SELLER.address}` }),
    status: 200,
  },
  "GET /bazaar/resources": {
    wanted: NONE,
    call: () => ({ path: "/bazaar/resources?limit=5" }),
    status: 200,
  },
  "GET /bazaar/merchant": {
    wanted: NONE,
    call: () => ({ path: `/bazaar/merchant?payTo=${SELLER.address}` }),
    status: 200,
  },
  "GET /bazaar/search": {
    wanted: NONE,
    call: () => ({ path: "/bazaar/search?query=weather&maxUsdPrice=1" }),
    status: 200,
  },
  "GET /discovery/observations/{id}": {
    wanted: NONE,
    call: ({ observationId }) => ({ path: `/discovery/observations/${observationId}` }),
    status: 200,
  },
  "POST /discovery/validate": {
    wanted: NONE,
    call: ({ seller }) => ({ body: { resource: `${seller.url}/weather` } }),
    status: 200,
  },
  "POST /discovery/claims": {
    wanted: NONE,
    call: async (cast) => ({ body: await cast.claim("reprobe") }),
    status: 200,
  },
  "POST /v1/listings/{id}/hide": {
    wanted: OPERATOR,
    call: ({ listingId }) => ({ path: `/v1/listings/${listingId}/hide`, body: { reason: "test" } }),
    status: 200,
  },
  "POST /v1/listings/{id}/restore": {
    wanted: OPERATOR,
    call: ({ listingId }) => ({ path: `/v1/listings/${listingId}/restore`, body: { reason: "test" } }),
    status: 200,
  },
};

const faces: Record<string, Row> = {
  "GET /": { wanted: NONE, call: () => ({ path: "/?query=weather&network=&maxUsdPrice=1" }), status: 200 },
  "GET /listings/{id}": {
    wanted: NONE,
    call: ({ listingId }) => ({ path: `/listings/${listingId}` }),
    status: 200,
  },
  "GET /providers/{payTo}": {
    wanted: NONE,
    call: () => ({ path: `/providers/${SELLER.address}?offset=0` }),
    status: 200,
  },
  "GET /style.css": { wanted: NONE, call: () => ({}), status: 200 },
  "GET /copy.js": { wanted: NONE, call: () => ({}), status: 200 },
  "GET /icon.svg": { wanted: NONE, call: () => ({}), status: 200 },
  "POST /mcp": {
    wanted: NONE,
    call: () => ({ body: { jsonrpc: "2.0", id: 1, method: "tools/list" } }),
    status: 200,
  },
};

const b402: Record<string, Row> = {
  "GET /bazaar/resources": { wanted: NONE, call: () => ({ path: "/bazaar/resources?limit=5" }), status: 200 },
  "GET /bazaar/merchant": {
    wanted: NONE,
    call: () => ({ path: `/bazaar/merchant?payTo=${SELLER.address}` }),
    status: 200,
  },
  "GET /bazaar/search": {
    wanted: NONE,
    call: () => ({ path: "/bazaar/search?query=weather&maxUsdPrice=1" }),
    status: 200,
  },
};

const gateway: Record<string, Row> = {
  "POST /v1/x402/challenge": {
    wanted: PROVIDER,
    call: ({ stall }) => ({ body: { capabilityId: stall.capabilityId } }),
    status: 200,
  },
  "POST /v1/x402/authorize": {
    wanted: PROVIDER,
    call: async (cast) => ({ body: { proof: await cast.prove(cast.buyer) } }),
    status: 200,
  },
  "POST /v1/x402/complete": {
    wanted: PROVIDER,
    call: async (cast) => ({ body: { transactionId: await cast.hold(), responseBodyBase64: "e30=" } }),
    status: 200,
  },
  "POST /v1/x402/fail": {
    wanted: PROVIDER,
    call: async (cast) => ({
      body: { transactionId: await cast.hold(), error: "asked for the moon", kind: "client_error" },
    }),
    status: 200,
  },
  "GET /v1/platform/public-key": { wanted: NONE, call: () => ({}), status: 200 },
  "GET /v1/platform/receipt-keys/{signingKeyId}": {
    wanted: NONE,
    call: async (cast) => ({ path: `/v1/platform/receipt-keys/${(await cast.receipt()).signingKeyId}` }),
    status: 200,
  },
};

const wallets: Record<string, Row> = {
  "POST /v1/wallets": {
    wanted: OPERATOR,
    call: ({ buyer }) => ({ body: { currency: "USD", publicKey: toBase64(buyer.payment.publicKey) } }),
    status: 201,
  },
  "GET /v1/wallets/{id}": ofBuyer("", 200),
  "GET /v1/wallets/{id}/entries": ofBuyer("/entries?limit=2", 200),
  "GET /v1/wallets/{id}/approvals": ofBuyer("/approvals?status=pending", 200),
  "PUT /v1/wallets/{id}/policy": ofBuyer("/policy", 200, () => ({ rules: [], budgets: [] })),
  "PUT /v1/wallets/{id}/frozen": ofBuyer("/frozen", 200, () => ({ frozen: false })),
  "PUT /v1/wallets/{id}/payment-key": ofBuyer("/payment-key", 200, ({ buyer }) => ({
    publicKey: toBase64(buyer.payment.publicKey),
  })),
  "POST /v1/wallets/{id}/credits": entry("credits"),
  "POST /v1/wallets/{id}/debits": entry("debits"),
  "POST /v1/wallets/{id}/topups": {
    wanted: NONE,
    call: async ({ buyer }) => ({
      path: `/v1/wallets/${buyer.walletId}/topups`,
      body: { amountMinor: "100" },
      headers: { "payment-signature": await aTopUp(1_000_000n) },
    }),
    status: 200,
    lateStatus: 202,
  },
  "POST /v1/wallets/{id}/approvals/{approvalId}/approve": approval("approve"),
  "POST /v1/wallets/{id}/approvals/{approvalId}/deny": approval("deny"),
};

async function aTopUp(amount: bigint): Promise<string> {
  const { paymentPayload } = await aPayment({ payTo: TOPUP_ACCOUNT.address, amount });
  return encodeJson(paymentPayload);
}

const operator: Record<string, Row> = {
  "GET /v1/audit": {
    wanted: { kind: "key", scope: "audit:read" },
    call: () => ({ path: "/v1/audit?limit=2&kind=settlement" }),
    status: 200,
  },
  "POST /v1/providers": {
    wanted: OPERATOR,
    call: ({ buyer }) => ({ body: { name: "A provider", walletId: buyer.walletId } }),
    status: 201,
  },
  "POST /v1/capabilities": {
    wanted: OPERATOR,
    call: ({ stall }) => ({ body: aCapability(stall.providerId) }),
    status: 201,
  },
  "POST /v1/keys": {
    wanted: OPERATOR,
    call: () => ({ body: { tenant: "someone", scopes: ["payments:verify"] } }),
    status: 201,
  },
  "DELETE /v1/keys/{id}": {
    wanted: OPERATOR,
    call: async (cast) => ({
      path: `/v1/keys/${(await cast.createKey({ tenant: "passing" }, ["audit:read"])).keyId}`,
    }),
    status: 204,
  },
  "GET /health": { wanted: NONE, call: () => ({}), status: 200 },
  "GET /openapi.json": { wanted: NONE, call: () => ({}), status: 200 },
};

export const ROWS: Record<string, Row> = {
  ...payments,
  ...discovery,
  ...b402,
  ...faces,
  ...gateway,
  ...wallets,
  ...operator,
};

function ofBuyer(rest: string, status: number, body?: (cast: Cast) => unknown): Row {
  return {
    wanted: { kind: "owner", of: "buyer" },
    call: (cast) => ({
      path: `/v1/wallets/${cast.buyer.walletId}${rest}`,
      ...(body === undefined ? {} : { body: body(cast) }),
    }),
    status,
  };
}

function entry(kind: "credits" | "debits"): Row {
  return {
    wanted: OPERATOR,
    call: ({ buyer }) => ({
      path: `/v1/wallets/${buyer.walletId}/${kind}`,
      body: { amountMinor: "10", reason: "test" },
      headers: { "idempotency-key": crypto.randomUUID() },
    }),
    status: 201,
  };
}

function approval(verdict: "approve" | "deny"): Row {
  return {
    wanted: { kind: "owner", of: "cautious" },
    call: async (cast) => ({
      path: `/v1/wallets/${cast.cautious.walletId}/approvals/${await cast.pendingApproval()}/${verdict}`,
    }),
    status: 200,
  };
}
