// `aPaymentRequired({...})`: what a seller's server answers before it is paid, in version 2. Takes the same options as
// a payment's builder, so that what the origin says and what a buyer echoes are one text unless a test parts them.

import { aPayload, type PayloadOptions } from "./bazaar.ts";

export function aPaymentRequired(options: PayloadOptions & { accepts?: unknown[] } = {}) {
  const [payload, requirements] = aPayload(options);
  return {
    x402Version: 2,
    error: "Payment required",
    resource: payload.resource as Record<string, unknown>,
    accepts: options.accepts ?? [requirements],
    extensions: payload.extensions as Record<string, unknown>,
  };
}
