// A decoded payment: parsed once, then checked, signed over and broadcast as this one object. Pure data that survives
// structured clone, so that the Worker can hand it to a Durable Object as it is.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";

export type Scheme = "exact" | "upto";
/** How the asset moves: EIP-3009 `transferWithAuthorization`, or the x402 Permit2 proxies. */
export type TransferMethod = "eip3009" | "permit2";

export interface Payment {
  scheme: Scheme;
  method: TransferMethod;
  /** CAIP-2, canonical. */
  network: string;
  chainId: number;
  payer: Address;
  /** From the requirements: the resource server is the authority. */
  payTo: Address;
  asset: Address;
  /** `requirements.amount`. exact: the price. upto: the ceiling at verify, the charge at settle. Atomic units. */
  amountAtomic: bigint;
  /** What the payer signed: EIP-3009 `value` or Permit2 `permitted.amount`. Atomic units. */
  signedAtomic: bigint;
  /** EIP-3009: 0x and 64 lower-case hex digits. Permit2: canonical decimal. */
  nonce: string;
  validAfterSeconds: bigint;
  /** EIP-3009 `validBefore`, Permit2 `deadline`. */
  validBeforeSeconds: bigint;
  /** 65-byte signatures have v 27 or 28; others as sent, lower-case hex. */
  signature: Hex;
  /** upto: `witness.facilitator`, the only account that may settle. */
  facilitator: Address | null;
  /** What the published mechanisms are given: the same values, normalised. */
  payload: PaymentPayload;
  requirements: PaymentRequirements;
}

/** Whom the payer signed to pay; `payTo`, or the payment is refused. */
export function signedReceiver({ method, payload }: Payment): Address {
  const inner = payload.payload as Record<string, { to: Address; witness: { to: Address } } | undefined>;
  const receiver = method === "eip3009" ? inner.authorization?.to : inner.permit2Authorization?.witness.to;
  if (receiver === undefined) throw new Error("assertion failed: a decoded payment holds what was signed");
  return receiver;
}
