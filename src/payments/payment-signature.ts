// The forms of a payer's signature. Pure and total. Only what certainly is no signature is refused here; whether it is
// the payer's is for the mechanism and the chain.

import type { Hex } from "viem";
import { parseErc6492Signature } from "viem/utils";

/** A counterfactual wallet's signature carries the call that deploys it, init code included at the most. */
const MAX_SIGNATURE_BYTES = 32 * 1024;
const ECDSA_BYTES = 65;
/** ERC-6492: what a wrapped signature ends with. */
const WRAPPER_MAGIC = "6492".repeat(16);
const NO_FACTORY = /^0x0{40}$/;

/**
 * The signature as it is checked and broadcast: lower-case hex, and v as 27 or 28 in 65 bytes, because a token's
 * `(v, r, s)` call reverts on the 0 and 1 that libraries let pass. Undefined when it cannot be a signature.
 */
export function normaliseSignature(signature: string): Hex | undefined {
  if (signature.length > 2 + 2 * MAX_SIGNATURE_BYTES || signature.length % 2 !== 0) return undefined;
  if (!/^0x[0-9a-fA-F]+$/.test(signature)) return undefined;
  const hex = signature.toLowerCase() as Hex;
  if (hex.length === 2 + 2 * ECDSA_BYTES) return withRecoveryId(hex);
  return hex.endsWith(WRAPPER_MAGIC) && !isReadableWrapper(hex) ? undefined : hex;
}

function withRecoveryId(hex: Hex): Hex | undefined {
  const v = Number.parseInt(hex.slice(-2), 16);
  if (v === 27 || v === 28) return hex;
  return v === 0 || v === 1 ? `${hex.slice(0, -2) as Hex}${(v + 27).toString(16)}` : undefined;
}

/** A wrapper that names no factory deploys nothing, and the mechanisms read it in two ways. */
function isReadableWrapper(hex: Hex): boolean {
  try {
    const { address, data } = parseErc6492Signature(hex);
    return address !== undefined && data !== undefined && !NO_FACTORY.test(address);
  } catch {
    return false;
  }
}
