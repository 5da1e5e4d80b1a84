// The body of verify and settle as JSON Schema, for the OpenAPI document. Plain data over the patterns that
// decode-payment.ts reads by; a test keeps the two together. It describes a body that can get a verdict; decoding
// answers every other body itself, because the order of its questions is part of the contract.

import { ADDRESS_PATTERN, AMOUNT_PATTERN, BYTES32_PATTERN, NETWORK_PATTERN } from "./payment-fields.ts";

/** The part of JSON Schema that is needed here. */
type PlainSchema = {
  type?: "object" | "string" | "integer";
  properties?: Record<string, PlainSchema>;
  required?: string[];
  pattern?: string;
  const?: number;
  anyOf?: PlainSchema[];
  description?: string;
};

const address: PlainSchema = { type: "string", pattern: ADDRESS_PATTERN };
const amount: PlainSchema = { type: "string", pattern: AMOUNT_PATTERN };
const network: PlainSchema = { type: "string", pattern: NETWORK_PATTERN };
const text: PlainSchema = { type: "string" };

const terms = { scheme: text, network, asset: address, amount, payTo: address };
const TERMS = ["scheme", "network", "asset", "amount", "payTo"];

function object(
  properties: Record<string, PlainSchema>,
  required: string[] = Object.keys(properties),
): PlainSchema {
  return { type: "object", required, properties };
}

const eip3009 = object({
  signature: text,
  authorization: object({
    from: address,
    to: address,
    value: amount,
    validAfter: amount,
    validBefore: amount,
    nonce: { type: "string", pattern: BYTES32_PATTERN },
  }),
});

const permit2 = object({
  signature: text,
  permit2Authorization: object({
    from: address,
    permitted: object({ token: address, amount }),
    spender: address,
    nonce: amount,
    deadline: amount,
    witness: object({ to: address, facilitator: address, validAfter: amount }, ["to", "validAfter"]),
  }),
});

export const PAYMENT_REQUEST_SCHEMA: PlainSchema = object({
  x402Version: { const: 2 },
  paymentPayload: object(
    {
      x402Version: { const: 2 },
      resource: { description: "What is paid for; never a reason to refuse" },
      accepted: object(terms),
      payload: { anyOf: [eip3009, permit2] },
      extensions: { description: "`bazaar` is read; everything else is ignored" },
    },
    ["x402Version", "accepted", "payload"],
  ),
  paymentRequirements: object(
    {
      ...terms,
      maxTimeoutSeconds: { type: "integer" },
      extra: {
        type: "object",
        properties: { name: text, version: text, assetTransferMethod: text, facilitatorAddress: address },
      },
    },
    [...TERMS, "maxTimeoutSeconds"],
  ),
});
