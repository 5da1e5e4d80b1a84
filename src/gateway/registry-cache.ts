// What the isolate remembers of the registry, so that a challenge reads no storage. This file owns that memory. Seconds
// old at most: a new price, an opened breaker or a rotated key is seen within them; that a rotated key stops at once is
// the wallet object's check, not this one's.

import { fromBase64, sha256, toHex } from "../platform/bytes.ts";
import { findSoldCapability, findWallet, type SoldCapability } from "./registry-store.ts";

const REMEMBER_MS = 10_000;
/** A few megabytes at most; the oldest leaves first. */
const MAX_REMEMBERED = 2_000;

export interface WalletKey {
  publicKey: Uint8Array<ArrayBuffer>;
  /** 64 hex digits of the public key's SHA-256. */
  fingerprint: string;
}

export async function fingerprintOf(publicKey: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(await sha256(publicKey));
}

/** A capability with its payee, or undefined. Unknown ones are not remembered. */
export function rememberedCapability(
  db: D1Database,
  id: string,
  nowMs: number,
): Promise<SoldCapability | undefined> {
  return remember(capabilities, id, nowMs, () => findSoldCapability(db, id));
}

/** A wallet's payment key, or undefined when there is no such wallet. */
export function rememberedWalletKey(
  db: D1Database,
  id: string,
  nowMs: number,
): Promise<WalletKey | undefined> {
  return remember(walletKeys, id, nowMs, async () => {
    const wallet = await findWallet(db, id);
    const publicKey = wallet && fromBase64(wallet.publicKey);
    return publicKey && { publicKey, fingerprint: await fingerprintOf(publicKey) };
  });
}

/** For the one who finds that a remembered key does not fit: the next look goes to the registry. */
export function forgetWalletKey(id: string): void {
  walletKeys.delete(id);
}

type Memory<T> = Map<string, { value: T; untilMs: number }>;

const capabilities: Memory<SoldCapability> = new Map();
const walletKeys: Memory<WalletKey> = new Map();

async function remember<T>(
  memory: Memory<T>,
  id: string,
  nowMs: number,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const known = memory.get(id);
  if (known && nowMs < known.untilMs) return known.value;
  const value = await find();
  memory.delete(id);
  if (value === undefined) return undefined;
  memory.set(id, { value, untilMs: nowMs + REMEMBER_MS });
  const oldest = memory.keys().next().value;
  if (memory.size > MAX_REMEMBERED && oldest !== undefined) memory.delete(oldest);
  return value;
}
