// The id under which anyone can ask how a `processing` ended. Nothing is stored when it is given out: the id itself says
// until when it may be pending, and a MAC keeps others from making ids. Owns HMAC and SHA-256, no other effect.
//
//   base64url( key version, 1 byte | expiry, seconds, 4 bytes | hash of payment id and listing, 16 | MAC, 16 )

import type { MacKey } from "../../config.ts";
import { assert } from "../../platform/assert.ts";
import { fromBase64Url, fromHex, toBase64Url, toHex, utf8 } from "../../platform/bytes.ts";
import { isMacOf, MAC_BYTES, macOf } from "../../platform/mac.ts";

export interface ObservationId {
  /** 32 hex digits, as `observationHashOf` makes them: the key of the observation's row. */
  hash: string;
  /** From then on, without a row, the payment counts as not settled. */
  expiresAtMs: number;
}

const HASH_BYTES = 16;
const SIGNED_BYTES = 1 + 4 + HASH_BYTES;

/** After `validBefore` no settlement can begin, and the catalog needs minutes at most. */
const AFTER_VALID_BEFORE_MS = 15 * 60_000;
export const MAX_PENDING_MS = 24 * 3_600_000;

/** When an id given out by verify stops being pending: 15 minutes after `validBefore`, at most in 24 hours. */
export function expiryOfVerify(validBeforeSeconds: bigint, nowMs: number): number {
  const latest = BigInt(nowMs + MAX_PENDING_MS);
  const wanted = validBeforeSeconds * 1_000n + BigInt(AFTER_VALID_BEFORE_MS);
  return Number(wanted < latest ? wanted : latest);
}

/** When an id given out by settle stops being pending: the catalog writes its row long before. */
export function expiryOfSettle(nowMs: number): number {
  return nowMs + MAX_PENDING_MS;
}

/** Makes the id with the first key. `hash`: 32 hex digits. */
export async function makeObservationId(
  { hash, expiresAtMs }: ObservationId,
  keys: readonly MacKey[],
): Promise<string> {
  const [key] = keys;
  const hashBytes = fromHex(hash);
  assert(key !== undefined, "an observation id needs a MAC key");
  assert(hashBytes?.length === HASH_BYTES, "an observation hash has 16 bytes");
  const signed = new Uint8Array(SIGNED_BYTES);
  signed[0] = key.version;
  new DataView(signed.buffer).setUint32(1, Math.ceil(expiresAtMs / 1_000));
  signed.set(hashBytes, 5);
  return toBase64Url(new Uint8Array([...signed, ...(await macOf(key.secret, purposed(signed)))]));
}

/** Reads an id that one of the keys made, spelled as it was made; undefined for everything else. */
export async function readObservationId(
  id: string,
  keys: readonly MacKey[],
): Promise<ObservationId | undefined> {
  const bytes = fromBase64Url(id);
  if (bytes?.length !== SIGNED_BYTES + MAC_BYTES || toBase64Url(bytes) !== id) return undefined;
  const key = keys.find((candidate) => candidate.version === bytes[0]);
  if (!key) return undefined;
  const signed = bytes.slice(0, SIGNED_BYTES);
  if (!(await isMacOf(key.secret, purposed(signed), bytes.slice(SIGNED_BYTES)))) return undefined;
  return { hash: toHex(signed.slice(5)), expiresAtMs: new DataView(signed.buffer).getUint32(1) * 1_000 };
}

/** The purpose is part of what is signed: the same keys sign other things. */
const PURPOSE = utf8("souk observation id");

function purposed(signed: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...PURPOSE, ...signed]);
}
