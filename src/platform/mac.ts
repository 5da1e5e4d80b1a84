// HMAC-SHA-256, cut to 16 bytes: for things that go out, come back, and must be recognised as ours without storage.
// Whoever calls this puts a purpose in front of the message, so that one use's MAC never passes as another's.

import { assert } from "./assert.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** 128 bits: a forger has one guess per request. */
export const MAC_BYTES = 16;

/** The MAC of a message under a 32-byte secret. */
export async function macOf(secret: Bytes, message: Bytes): Promise<Bytes> {
  const key = await importedKey(secret);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, message)).slice(0, MAC_BYTES);
}

/** Whether `mac` is the message's, compared in time that depends on neither. */
export async function isMacOf(secret: Bytes, message: Bytes, mac: Bytes): Promise<boolean> {
  const right = await macOf(secret, message);
  let difference = right.length ^ mac.length;
  for (let i = 0; i < right.length; i++) difference |= (right[i] ?? 0) ^ (mac[i] ?? 0);
  return difference === 0;
}

/**
 * Importing costs more than signing; a secret lives as long as the isolate's Config. What is kept is the key and not the
 * promise of it: a promise belongs to the request that made it, and others would wait for ever if that ended first.
 */
const imported = new WeakMap<Bytes, CryptoKey>();

async function importedKey(secret: Bytes): Promise<CryptoKey> {
  assert(secret.length === 32, "a MAC secret has 32 bytes");
  const known = imported.get(secret);
  if (known) return known;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  imported.set(secret, key);
  return key;
}
