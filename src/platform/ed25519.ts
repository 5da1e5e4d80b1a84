// Ed25519 by WebCrypto: keys from raw bytes, signing, verifying. Small and without knowledge of what is signed.
// Private seeds never leave this file as anything but a CryptoKey that cannot be exported.

import { assert } from "./assert.ts";
import { fromBase64Url, fromHex } from "./bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export const PUBLIC_KEY_BYTES = 32;
export const SEED_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** WebCrypto refuses a raw private seed: this is the DER that turns 32 bytes into PKCS#8 (RFC 8410). */
const PKCS8_PREFIX = bytesOfHex("302e020100300506032b657004220420");
/** The DER in front of a raw public key in SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = bytesOfHex("302a300506032b6570032100");

export interface Signer {
  /** 32 raw bytes. */
  publicKey: Bytes;
  /** 64 bytes; the same message always gives the same signature (RFC 8032). */
  sign(message: Bytes): Promise<Bytes>;
}

/** A signer from its 32-byte seed. Throws on another length: seeds are checked where they are read. */
export async function signerFromSeed(seed: Bytes): Promise<Signer> {
  const pkcs8 = concat(PKCS8_PREFIX, seed);
  // Exportable only for as long as it takes to learn the public half.
  const exportable = await crypto.subtle.importKey("pkcs8", pkcs8, ALGORITHM, true, ["sign"]);
  const jwk = (await crypto.subtle.exportKey("jwk", exportable)) as { x?: string };
  const publicKey = fromBase64Url(jwk.x ?? "");
  assert(publicKey?.length === PUBLIC_KEY_BYTES, "a public key has 32 bytes");
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, ALGORITHM, false, ["sign"]);
  return {
    publicKey,
    sign: async (message) => new Uint8Array(await crypto.subtle.sign(ALGORITHM.name, key, message)),
  };
}

/** Whether `signature` is the raw public key's over `message`. Wrong lengths and invalid points are just false. */
export async function verifyEd25519(publicKey: Bytes, signature: Bytes, message: Bytes): Promise<boolean> {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  try {
    const key = await crypto.subtle.importKey("raw", publicKey, ALGORITHM, false, ["verify"]);
    return await crypto.subtle.verify(ALGORITHM.name, key, signature, message);
  } catch {
    return false; // Not a point of the curve.
  }
}

/** SubjectPublicKeyInfo of a raw public key: what most other libraries read. */
export function spkiOf(publicKey: Bytes): Bytes {
  return concat(SPKI_PREFIX, publicKey);
}

const ALGORITHM = { name: "Ed25519" };

function concat(left: Bytes, right: Bytes): Bytes {
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

function bytesOfHex(hex: string): Bytes {
  const bytes = fromHex(hex);
  assert(bytes, "a constant is hex");
  return bytes;
}
