// The offer in an observation: what was just paid, as the seller asked for it, in the shape that discovery shows.

import { isRecord } from "../block/block-rules.ts";

export interface Offer {
  scheme: string;
  /** `extra.assetTransferMethod`; empty where none was declared. */
  method: string;
  network: string;
  /** EVM addresses in lower case. */
  asset: string;
  payTo: string;
  amount: string;
  /** PaymentRequirements as shown: addresses as the seller wrote them. */
  requirements: Record<string, unknown>;
}

/** `paidAtomic`: what the requirements ask to move now. */
export type OfferReading = { ok: true; offer: Offer; paidAtomic: string } | { ok: false; reason: string };

/** Holds an EIP-712 domain, a transfer method and a fee payer many times over. */
const MAX_EXTRA_BYTES = 2_048;
const AMOUNT = /^(0|[1-9][0-9]{0,77})$/;
const NETWORK = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

/**
 * Reads the offer from the server's requirements. `accepted` is what the buyer accepted: in upto's settle the
 * requirements carry the charge, and the price that was offered is the ceiling in there.
 */
export function readOffer(requirements: unknown, accepted: unknown): OfferReading {
  if (!isRecord(requirements)) return refuse("", "must be an object");
  const { scheme, network, asset, payTo, maxTimeoutSeconds } = requirements;
  const extra = requirements.extra ?? {};
  const amount = offeredAmount(requirements, accepted);
  if (!isText(scheme, 32)) return refuse(".scheme", "must be a name");
  if (typeof network !== "string" || !NETWORK.test(network)) return refuse(".network", "must be a CAIP-2 id");
  if (!isText(asset, 128)) return refuse(".asset", "must be an address");
  if (!isText(payTo, 128)) return refuse(".payTo", "must be an address");
  if (!isAmount(amount) || !isAmount(requirements.amount)) {
    return refuse(".amount", "must be a decimal string");
  }
  if (!isRecord(extra)) return refuse(".extra", "must be an object");
  const extraBytes = new TextEncoder().encode(JSON.stringify(extra)).byteLength;
  if (extraBytes > MAX_EXTRA_BYTES) return refuse(".extra", `is larger than ${MAX_EXTRA_BYTES} bytes`);
  const timeout = Number.isSafeInteger(maxTimeoutSeconds) ? { maxTimeoutSeconds } : {};
  return {
    ok: true,
    paidAtomic: requirements.amount,
    offer: {
      scheme,
      method: isText(extra.assetTransferMethod, 32) ? extra.assetTransferMethod : "",
      network,
      asset: comparableAddress(network, asset),
      payTo: comparableAddress(network, payTo),
      amount,
      requirements: { scheme, network, amount, asset, payTo, ...timeout, extra },
    },
  };
}

/** Addresses in the form in which they are compared: EVM without regard to case, all others exactly. */
export function comparableAddress(network: string, address: string): string {
  return network.startsWith("eip155:") ? address.toLowerCase() : address;
}

function offeredAmount(requirements: Record<string, unknown>, accepted: unknown): unknown {
  const { scheme, amount } = requirements;
  const ceiling = isRecord(accepted) ? accepted.amount : undefined;
  if (scheme !== "upto" || !isAmount(amount) || !isAmount(ceiling)) return amount;
  return BigInt(ceiling) > BigInt(amount) ? ceiling : amount;
}

function isAmount(value: unknown): value is string {
  return typeof value === "string" && AMOUNT.test(value);
}

function isText(value: unknown, max: number): value is string {
  return typeof value === "string" && value.length <= max && /^[\x21-\x7e]+$/.test(value);
}

function refuse(field: string, problem: string): { ok: false; reason: string } {
  return { ok: false, reason: `paymentRequirements${field} ${problem}` };
}
