// Use case of POST /v1/x402/authorize. In this order: the proof's form, whose capability it is, the buyer's signature,
// that we issued this nonce for these terms, its expiry, the breaker; then the one object that can take the hold.
// Nothing is stored before the last step. This file owns no effect but the reads of the registry's memory.

import type { MacKey } from "../config.ts";
import { pausedForSeconds } from "./breaker.ts";
import { isIssuedFor, transactionIdOf } from "./nonce.ts";
import type { AuthorizeAnswer, PaidCallPort } from "./paid-call-port.ts";
import { isSignedBy, proofHashOf, readProof } from "./proof.ts";
import {
  forgetWalletKey,
  rememberedCapability,
  rememberedWalletKey,
  type WalletKey,
} from "./registry-cache.ts";
import type { HoldRefusal } from "./wallet-port.ts";
import type { Proof } from "./wire.ts";

export interface AuthorizePorts {
  db: D1Database;
  macKeys: readonly MacKey[];
  /** Asks the call's object, once more if the way to it broke. */
  paidCall(transactionId: string): Pick<PaidCallPort, "authorize">;
}

export type AuthorizeRefusalCode =
  | "INVALID_PROOF"
  | "INVALID_SIGNATURE"
  | "CHALLENGE_MISMATCH"
  | "CHALLENGE_EXPIRED"
  | "CAPABILITY_UNAVAILABLE";

export type AuthorizeCallAnswer =
  | AuthorizeAnswer
  | HoldRefusal<AuthorizeRefusalCode>
  /** No such capability of this provider. */
  | { ok: false; code: "UNKNOWN_CAPABILITY" };

/** `callId` names the HTTP request: of all calls with one nonce, one is told `ok:true`. */
export async function authorizeCall(
  ports: AuthorizePorts,
  submitted: unknown,
  providerId: string,
  callId: string,
  nowMs: number,
): Promise<AuthorizeCallAnswer> {
  const reading = readProof(submitted);
  if (!reading.ok) return refuse("INVALID_PROOF", reading.problem);
  const { proof, nonce } = reading;

  const capability = await rememberedCapability(ports.db, proof.capabilityId, nowMs);
  if (capability?.providerId !== providerId) return { ok: false, code: "UNKNOWN_CAPABILITY" };

  const key = await signingKeyOf(ports.db, proof, nowMs);
  if (!key) return refuse("INVALID_SIGNATURE", "not signed with the wallet's payment key");
  const { payTo } = capability;
  if (!(await isIssuedFor(nonce, { ...proof, payTo }, ports.macKeys))) {
    return refuse("CHALLENGE_MISMATCH", "this nonce was not issued for these terms");
  }
  if (nowMs >= nonce.expiresAtMs) return refuse("CHALLENGE_EXPIRED", "the challenge has expired");
  if (pausedForSeconds(capability.pausedUntilMs, nowMs) > 0) {
    return refuse("CAPABILITY_UNAVAILABLE", "the provider failed too often; it is paused for a minute");
  }

  const { walletId, agentId, capabilityId, amountMinor, currency } = proof;
  const transactionId = await transactionIdOf(nonce);
  return ports.paidCall(transactionId).authorize({
    ...{ transactionId, callId, walletId, agentId, capabilityId, providerId, currency, payTo },
    proofHash: await proofHashOf(proof),
    amountMinor: BigInt(amountMinor),
    nonce: proof.nonce,
    keyFingerprint: key.fingerprint,
  });
}

function refuse(code: AuthorizeRefusalCode, reason: string): HoldRefusal<AuthorizeRefusalCode> {
  return { ok: false, code, reason };
}

/** The wallet's key, if it signed this. A key that does not fit may be an older one than the registry's: look again. */
async function signingKeyOf(db: D1Database, proof: Proof, nowMs: number): Promise<WalletKey | undefined> {
  const remembered = await rememberedWalletKey(db, proof.walletId, nowMs);
  if (!remembered) return undefined;
  if (await isSignedBy(proof, remembered.publicKey)) return remembered;
  forgetWalletKey(proof.walletId);
  const fresh = await rememberedWalletKey(db, proof.walletId, nowMs);
  if (!fresh || fresh.fingerprint === remembered.fingerprint) return undefined;
  return (await isSignedBy(proof, fresh.publicKey)) ? fresh : undefined;
}
