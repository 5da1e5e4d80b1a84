// Our own verification of the usual payment: EIP-3009, signed by a plain account. It asks the chain nothing that the
// reader did not ask already, and recovers the signer while that answer is on its way. Whatever is not usual (a payer
// with code, a transfer that the chain refuses) is left to the published mechanism, over the same answers; the two
// are held equal by test/differential.test.ts.

import { keccak_256 } from "@noble/hashes/sha3";
import { fromHex, toHex } from "../../platform/bytes.ts";
import { recoverPublicKey } from "../../platform/secp256k1.ts";
import { judgeAuthorization } from "../judge-terms.ts";
import type { Payment } from "../payment.ts";
import type { Reason } from "../reasons.ts";
import { authorizationDigest } from "./authorization-digest.ts";
import type { PaymentReader } from "./reader.ts";

export type PlainVerdict =
  | { kind: "valid" }
  | { kind: "invalid"; reason: Reason }
  /** For the published mechanism to judge. */
  | { kind: "unusual" };

/** 65 bytes as hex with 0x. */
const ECDSA_SIGNATURE_CHARACTERS = 132;

/** Judges in the mechanism's order: payer's code, signature, what was signed, asset's code, simulated transfer. */
export async function judgePlainTransfer(
  payment: Payment,
  reader: PaymentReader,
  nowSeconds: number,
): Promise<PlainVerdict> {
  const { method, signature, payer } = payment;
  if (method !== "eip3009" || signature.length !== ECDSA_SIGNATURE_CHARACTERS) return { kind: "unusual" };
  const signer = recoverSigner(payment);
  if (await reader.payerHasCode()) return { kind: "unusual" };
  if (signer !== payer.toLowerCase()) return { kind: "invalid", reason: "invalid_exact_evm_signature" };
  const reason = judgeAuthorization(payment, nowSeconds);
  if (reason) return { kind: "invalid", reason };
  if (!(await reader.assetHasCode())) return { kind: "invalid", reason: "asset_not_deployed_contract" };
  return (await reader.transferRuns()) ? { kind: "valid" } : { kind: "unusual" };
}

/** The account whose key made the signature of 65 bytes, in lower case; null where no key can have made it. */
export function recoverSigner(payment: Payment): string | null {
  const { signature } = payment;
  const key = recoverPublicKey(BigInt(`0x${toHex(authorizationDigest(payment))}`), {
    r: BigInt(signature.slice(0, 66)),
    s: BigInt(`0x${signature.slice(66, 130)}`),
    isOdd: signature.endsWith("1c"),
  });
  if (key === null) return null;
  const bytes = fromHex(word(key.x) + word(key.y));
  return bytes ? `0x${toHex(keccak_256(bytes).subarray(12))}` : null;
}

/** 64 hex digits. */
function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
