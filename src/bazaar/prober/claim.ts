// A payTo's signed word about its own offers: take them out of the bazaar, or have the origin asked again. Pure: who
// signed, for which service, until when. That a nonce acts once is the store's business.

import type { Hex } from "viem";
import { recoverMessageAddress } from "viem/utils";
import { canonicalJson } from "../../platform/canonical-json.ts";

export type ClaimAction = "delist" | "reprobe";

export interface Claim {
  action: ClaimAction;
  listingId: string;
  /** The service that is spoken to: a claim for one bazaar means nothing to another. */
  origin: string;
  /** ISO 8601 in UTC. */
  expiresAt: string;
  /** Any text that this payTo has not used before. */
  nonce: string;
  /** The EVM address whose key signs. */
  payTo: string;
  /** EIP-191 over canonical JSON of the other six. */
  signature: string;
}

/** Long enough for a person and a hardware wallet, too short to be worth stealing. */
export const MAX_CLAIM_LIFE_MS = 600_000;

export type ClaimReading =
  | { ok: true; expiresMs: number; signer: string }
  | {
      ok: false;
      reason: "wrong_origin" | "bad_expiry" | "expired" | "expires_too_late" | "not_signed_by_pay_to";
    };

/**
 * Checks a claim whose fields are of the right form. `ownOrigins` are the origins that this service answers under.
 * `signer` is the payTo as the catalog compares it. Contract wallets cannot make claims: their signature is a call.
 */
export async function readClaim(
  claim: Claim,
  { ownOrigins, nowMs }: { ownOrigins: readonly string[]; nowMs: number },
): Promise<ClaimReading> {
  if (!ownOrigins.includes(claim.origin)) return { ok: false, reason: "wrong_origin" };
  const expiresMs = Date.parse(claim.expiresAt);
  if (!Number.isFinite(expiresMs)) return { ok: false, reason: "bad_expiry" };
  if (expiresMs <= nowMs) return { ok: false, reason: "expired" };
  if (expiresMs > nowMs + MAX_CLAIM_LIFE_MS) return { ok: false, reason: "expires_too_late" };
  const signer = claim.payTo.toLowerCase();
  return (await signerOf(claim)) === signer
    ? { ok: true, expiresMs, signer }
    : { ok: false, reason: "not_signed_by_pay_to" };
}

/** The text that is signed, byte for byte. */
export function claimText({ action, listingId, origin, expiresAt, nonce, payTo }: Claim): string {
  return canonicalJson({ action, listingId, origin, expiresAt, nonce, payTo });
}

async function signerOf(claim: Claim): Promise<string | undefined> {
  try {
    const signature = claim.signature as Hex;
    return (await recoverMessageAddress({ message: claimText(claim), signature })).toLowerCase();
  } catch {
    return undefined; // No point on the curve, or of another length: a signature by nobody.
  }
}
