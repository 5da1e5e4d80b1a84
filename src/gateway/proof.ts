// The buyer's payment proof: who pays for which challenge, signed with the wallet's payment key. Reading is strict:
// exactly nine members, each in its one spelling, because the signature covers the meaning and not the text.

import { fromBase64, sha256Hex } from "../platform/bytes.ts";
import { canonicalJson, signedBytes } from "../platform/canonical-json.ts";
import { SIGNATURE_BYTES, verifyEd25519 } from "../platform/ed25519.ts";
import { CURRENCY_PATTERN, readMinor } from "./money.ts";
import { type Nonce, readNonce } from "./nonce.ts";
import type { Proof } from "./wire.ts";

export type ProofReading = { ok: true; proof: Proof; nonce: Nonce } | { ok: false; problem: string };

/** Loose on purpose: an id that nobody has is answered as unknown by whoever looks it up. */
const ID = /^[\x21-\x7e]{1,100}$/;
const CURRENCY = new RegExp(CURRENCY_PATTERN);
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

const CHECKS: Record<keyof Proof, (text: string) => boolean> = {
  walletId: (text) => ID.test(text),
  agentId: isAgentName,
  capabilityId: (text) => ID.test(text),
  providerId: (text) => ID.test(text),
  amountMinor: (text) => readMinor(text) !== undefined,
  currency: (text) => CURRENCY.test(text),
  nonce: (text) => readNonce(text) !== undefined,
  issuedAt: (text) => ISO_UTC.test(text) && !Number.isNaN(Date.parse(text)),
  signature: (text) => fromBase64(text)?.length === SIGNATURE_BYTES,
};

/**
 * Whether a text can name an agent: 1 to 100 characters without control characters or space at its ends. `*` means
 * all unnamed agents (policy.ts) and is nobody's name.
 */
export function isAgentName(text: string): boolean {
  const fits = text.length >= 1 && text.length <= 100 && text !== "*";
  return fits && text.isWellFormed() && text.trim() === text && !/\p{Cc}/u.test(text);
}

/** Reads a proof as it came in the body. A problem names the member, never repeats its value. */
export function readProof(value: unknown): ProofReading {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, problem: "the proof is not an object" };
  }
  const members = value as Record<string, unknown>;
  for (const [name, fits] of Object.entries(CHECKS)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (typeof member !== "string" || !fits(member)) {
      return { ok: false, problem: `${name} is missing or not in its form` };
    }
  }
  if (Object.keys(members).length !== Object.keys(CHECKS).length) {
    return { ok: false, problem: "the proof has members that the signature does not cover" };
  }
  const proof = members as unknown as Proof;
  const nonce = readNonce(proof.nonce);
  return nonce ? { ok: true, proof, nonce } : { ok: false, problem: "nonce is not in its form" };
}

/** Whether the proof is signed by this raw public key. */
export async function isSignedBy(proof: Proof, publicKey: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const signature = fromBase64(proof.signature);
  return signature !== undefined && verifyEd25519(publicKey, signature, signedBytes(proof));
}

/** Identity of a proof whatever its key order was: 64 hex digits. Two proofs of one nonce differ in it. */
export async function proofHashOf(proof: Proof): Promise<string> {
  return sha256Hex(canonicalJson(proof));
}
