// Private keys of secp256k1: the public key of one, and signing with one. The curve is the library's, made here of its
// parameters: the library's ready-made one also prepares to hash to curve points, which nothing here does and every
// start would wait for. Everything takes constant time as far as the library does; secp256k1.ts does not, and is for
// public values alone.

import { Field } from "@noble/curves/abstract/modular";
import { weierstrass } from "@noble/curves/abstract/weierstrass";
import { hmac } from "@noble/hashes/hmac";
import { sha256 } from "@noble/hashes/sha2";
import { concatBytes, randomBytes } from "@noble/hashes/utils";
import { G, N, P, type Signature } from "./secp256k1.ts";

const curve = weierstrass({
  Fp: Field(P),
  a: 0n,
  b: 7n,
  n: N,
  h: 1n,
  Gx: G.x,
  Gy: G.y,
  lowS: true,
  hash: sha256,
  hmac: (key, ...messages) => hmac(sha256, key, concatBytes(...messages)),
  randomBytes,
});

/** Above zero and below the curve's order. */
export function isPrivateKey(key: bigint): boolean {
  return key > 0n && key < N;
}

/**
 * 65 bytes: 04, x, y. The generator is read anew, because the library's own first builds a table for thousands of
 * multiplications: three times as long, and a fresh isolate's first answer waits for it.
 */
export function publicKeyOf(key: bigint): Uint8Array {
  const generator = curve.ProjectivePoint.fromHex(curve.ProjectivePoint.BASE.toRawBytes());
  return generator.multiply(key).toRawBytes(false);
}

/** The same hash of 32 bytes and key always give the same signature (RFC 6979), with the lower s. */
export function signHash(hash: Uint8Array, key: bigint): Signature {
  const { r, s, recovery } = curve.sign(hash, key);
  return { r, s, isOdd: recovery === 1 };
}
