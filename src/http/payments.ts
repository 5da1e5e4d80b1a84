// The x402 face without settling: POST /verify and /supported. A handler reads, calls one use case, answers. Verify
// touches neither storage nor objects.

import { PAYMENT_REQUEST_SCHEMA } from "../payments/payment-schema.ts";
import { paymentId } from "../payments/settlement/payment-id.ts";
import { describeSupported } from "../payments/supported.ts";
import { rpcOf, verifyPayment } from "../payments/verify-payment.ts";
import { json } from "./answers.ts";
import { readBlockOf } from "./bazaar-block.ts";
import type { Call, Route } from "./call.ts";
import { headersAfterVerify } from "./extension-responses.ts";
import type { JsonSchema } from "./json-schema.ts";
import { moneyProblem, refusePayment } from "./payment-answers.ts";
import { readPayment } from "./read-payment.ts";

async function verify(call: Call): Promise<Response> {
  const read = await readPayment(call, "verify");
  if (!read.ok) return read.response;
  const { payment, network } = read;
  const { payer, validBeforeSeconds } = payment;

  const nowMs = call.clock.nowMs();
  const asked = verifyPayment(payment, { network, rpc: rpcOf(network), nowMs, purpose: "verify" });
  // While the chain is asked; what it finds says nothing about the payment.
  const block = readBlockOf(call);
  const verdict = await asked;
  if (!verdict.ok) return refusePayment("verify", { reason: verdict.reason, network: network.id, payer });

  if (block.kind === "absent") return json({ isValid: true, payer });
  const known = { paymentId: await paymentId(payment), validBeforeSeconds };
  const headers = await headersAfterVerify(block, known, { macKeys: call.config.macKeys, nowMs });
  return json({ isValid: true, payer }, 200, headers);
}

/** A facilitator that must not serve money supports nothing. */
function supported({ config }: Call): Response {
  return json(describeSupported(moneyProblem(config) === null ? config.networks.values() : []));
}

const text: JsonSchema = { type: "string" };

const VERDICT: JsonSchema = {
  type: "object",
  required: ["isValid"],
  properties: {
    isValid: { type: "boolean" },
    invalidReason: text,
    invalidMessage: text,
    payer: text,
    extra: { type: "object" },
  },
};

const SUPPORTED: JsonSchema = {
  type: "object",
  required: ["kinds", "extensions", "signers"],
  properties: {
    kinds: {
      type: "array",
      items: {
        type: "object",
        required: ["x402Version", "scheme", "network"],
        properties: { x402Version: { const: 2 }, scheme: text, network: text, extra: { type: "object" } },
      },
    },
    extensions: { type: "array", items: text },
    signers: { type: "object", additionalProperties: { type: "array", items: text } },
  },
};

const SUPPORTED_ROUTE = {
  path: "/supported",
  face: "api",
  credential: { kind: "none" },
  summary: "Schemes, networks and settling accounts",
  answers: { 200: SUPPORTED },
  handle: supported,
} as const;

export const paymentRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/verify",
    face: "verify",
    credential: { kind: "key", scope: "payments:verify", openable: true },
    summary: "May this payment be settled? Moves and stores nothing",
    body: PAYMENT_REQUEST_SCHEMA,
    bodyIsReadByHandler: true,
    isHot: true,
    answers: { 200: VERDICT, 400: VERDICT, 429: VERDICT, 502: VERDICT, 503: VERDICT },
    handle: verify,
  },
  { ...SUPPORTED_ROUTE, method: "GET" },
  { ...SUPPORTED_ROUTE, method: "POST" },
];
