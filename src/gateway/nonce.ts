// The nonce of a challenge: issued without storing anything, recognised when it comes back.
//   base64url( key version 1 | expiry in ms 6 | random 12 | MAC 16 )
// The MAC covers everything in front of it and the terms of the challenge, so a nonce fits one price of one capability
// only. That it is used once is PaidCallObject's business: its name is derived from these bytes.

import type { MacKey } from "../config.ts";
import { assert } from "../platform/assert.ts";
import { fromBase64Url, sha256, toBase64Url, toHex, utf8 } from "../platform/bytes.ts";
import { canonicalJson } from "../platform/canonical-json.ts";
import { isMacOf, MAC_BYTES, macOf } from "../platform/mac.ts";
import type { Terms } from "./wire.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export const NONCE_RANDOM_BYTES = 12;
const EXPIRY_AT = 1;
const RANDOM_AT = 7;
const MAC_AT = RANDOM_AT + NONCE_RANDOM_BYTES;
const NONCE_BYTES = MAC_AT + MAC_BYTES;
/** Says what is MAC-ed: the same keys serve other purposes. */
const PURPOSE = "souk challenge nonce 1\n";

/** Makes the nonce of a challenge from fresh random bytes. */
export async function makeNonce(
  terms: Terms,
  key: MacKey,
  expiresAtMs: number,
  random: Bytes,
): Promise<string> {
  assert(random.length === NONCE_RANDOM_BYTES, "a nonce has 12 random bytes");
  const bytes = new Uint8Array(NONCE_BYTES);
  bytes[0] = key.version;
  new DataView(bytes.buffer).setUint16(EXPIRY_AT, Math.floor(expiresAtMs / 2 ** 32));
  new DataView(bytes.buffer).setUint32(EXPIRY_AT + 2, expiresAtMs % 2 ** 32);
  bytes.set(random, RANDOM_AT);
  bytes.set(await macOf(key.secret, macMessage(bytes, terms)), MAC_AT);
  return toBase64Url(bytes);
}

export interface Nonce {
  bytes: Bytes;
  keyVersion: number;
  expiresAtMs: number;
}

/** The nonce in a text that has exactly the form we issue; another spelling of the same bytes is not it. */
export function readNonce(text: string): Nonce | undefined {
  const bytes = fromBase64Url(text);
  if (bytes?.length !== NONCE_BYTES || toBase64Url(bytes) !== text) return undefined;
  const view = new DataView(bytes.buffer);
  const expiresAtMs = view.getUint16(EXPIRY_AT) * 2 ** 32 + view.getUint32(EXPIRY_AT + 2);
  return { bytes, keyVersion: view.getUint8(0), expiresAtMs };
}

/** Whether we issued this nonce for exactly these terms, under any key that still serves. */
export async function isIssuedFor(nonce: Nonce, terms: Terms, keys: readonly MacKey[]): Promise<boolean> {
  const key = keys.find((candidate) => candidate.version === nonce.keyVersion);
  return key !== undefined && isMacOf(key.secret, macMessage(nonce.bytes, terms), nonce.bytes.slice(MAC_AT));
}

/** The id of the paid call that this nonce may start, and the name of its object. */
export async function transactionIdOf(nonce: Nonce): Promise<string> {
  return `txn_${toHex(await sha256(nonce.bytes)).slice(0, 32)}`;
}

function macMessage(bytes: Bytes, { capabilityId, providerId, amountMinor, currency, payTo }: Terms): Bytes {
  const head = toHex(bytes.slice(0, MAC_AT));
  return utf8(PURPOSE + canonicalJson([head, capabilityId, providerId, amountMinor, currency, payTo]));
}
