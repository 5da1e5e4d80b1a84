// The signed challenge that starts a paid call: a price, valid for minutes, payable once. Nothing is stored for it.

import type { MacKey } from "../config.ts";
import { makeNonce } from "./nonce.ts";
import { type SigningKey, signatureOver } from "./signing-keys.ts";
import type { Challenge, Terms } from "./wire.ts";

/** Issues a challenge over `terms` with 12 fresh random bytes. */
export async function makeChallenge(
  terms: Terms,
  expiresAtMs: number,
  random: Uint8Array<ArrayBuffer>,
  macKey: MacKey,
  signingKey: SigningKey,
): Promise<Challenge> {
  const { capabilityId, providerId, amountMinor, currency, payTo } = terms;
  const nonce = await makeNonce(terms, macKey, expiresAtMs, random);
  const expiresAt = new Date(expiresAtMs).toISOString();
  const unsigned = { capabilityId, providerId, amountMinor, currency, nonce, expiresAt, payTo };
  return {
    ...unsigned,
    signature: await signatureOver(signingKey, unsigned),
    signingKeyId: signingKey.id,
  };
}
