// How a resource is paid for, in steps that an agent can follow: x402 over HTTP, x402 inside MCP, or from a custodial
// balance. The sentences are ours; of a seller's text only the tool's name and URLs appear elsewhere, in fields. Pure.

import type { Resource } from "../bazaar/catalog/resource.ts";
import { type CustodialPrice, custodialPrice } from "./listing-price.ts";

export interface HowToPay {
  transport: "x402-http" | "x402-mcp" | "zanora";
  steps: string[];
  capability?: CustodialPrice;
}

export function howToPay(resource: Resource): HowToPay {
  const capability = custodialPrice(resource);
  if (capability && resource.accepts.length === 0) {
    return { transport: "zanora", steps: CUSTODIAL_STEPS, capability };
  }
  return resource.type === "mcp"
    ? { transport: "x402-mcp", steps: MCP_STEPS }
    : { transport: "x402-http", steps: HTTP_STEPS };
}

const HTTP_STEPS = [
  "Send the request without payment. The answer is 402; its `PAYMENT-REQUIRED` header is base64 JSON with the current `accepts`.",
  "Check that price, payTo and network are what you expect, then sign a payment for one of `accepts`.",
  "Repeat the request with the payment, base64 JSON, in the `PAYMENT-SIGNATURE` header. The `PAYMENT-RESPONSE` header of the answer is the receipt.",
  "Clients such as `@x402/fetch` do all of this.",
];

const MCP_STEPS = [
  "Connect to the MCP server at `resource` and call the tool `toolName` without payment. The result has `isError` true and a PaymentRequired in `structuredContent`, or as JSON in `content[0].text`.",
  "Check that price, payTo and network are what you expect, then sign a payment for one of its `accepts`.",
  'Call the tool again with the payment as an object in `params._meta["x402/payment"]`. The receipt is in `result._meta["x402/payment-response"]`.',
];

const CUSTODIAL_STEPS = [
  "Ask for the resource, or post the `capabilityId` to `challengeUrl`: the answer holds a signed challenge with price and nonce.",
  "Sign a proof for it with your wallet's payment key.",
  'Over HTTP send base64 of the proof\'s JSON in the `x-payment` header; in MCP in `params._meta["zanora.dev/x402-payment"]`.',
];
