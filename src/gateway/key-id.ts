// Ids of the platform's signing keys, derived from their public half: whoever has a key can check its id.

import { sha256, toHex } from "../platform/bytes.ts";

export type RingKind = "challenge" | "receipt";

const ID_PREFIX: Record<RingKind, string> = { challenge: "chk_", receipt: "rck_" };

/** `chk_` or `rck_` and 32 hex digits of the public key's SHA-256. */
export async function keyIdOf(kind: RingKind, publicKey: Uint8Array<ArrayBuffer>): Promise<string> {
  return ID_PREFIX[kind] + toHex(await sha256(publicKey)).slice(0, 32);
}
