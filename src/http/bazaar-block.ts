// The bazaar block of a verify or settle body, read for the EXTENSION-RESPONSES header and the catalog. What it holds,
// or a bug in reading it, never changes the answer about the payment.

import { type BlockReading, type PayloadWithBlock, readBazaarBlock } from "../bazaar/block/extension.ts";
import { describeError, log } from "../platform/log.ts";
import type { Call } from "./call.ts";
import { hostRulesOf } from "./extension-responses.ts";

/** Reads the block of a body that decodePayment has accepted. */
export function readBlockOf(call: Call): BlockReading {
  const { paymentPayload, paymentRequirements } = call.body as {
    paymentPayload: PayloadWithBlock;
    paymentRequirements: unknown;
  };
  // Most payments bring none.
  if (!Object.hasOwn(Object(paymentPayload.extensions), "bazaar")) return { kind: "absent" };
  try {
    return readBazaarBlock(paymentPayload, paymentRequirements, hostRulesOf(call));
  } catch (error) {
    log("bazaar_block_failed", { requestId: call.requestId, cause: describeError(error) });
    return { kind: "absent" };
  }
}
