// API keys in D1: hash, tenant and scopes. The key itself is shown once when it is made and never stored.

import { and, eq, isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { apiKeys } from "../db/schema.ts";
import { sha256Hex, toBase64Url, toHex } from "../platform/bytes.ts";
import type { Scope } from "./call.ts";

export interface StoredKey {
  keyId: string;
  tenant: string;
  scopes: readonly Scope[];
  providerId: string | null;
  walletId: string | null;
}

/** The live key with this SHA-256 (hex), or undefined when unknown or revoked. */
export async function findKeyByHash(db: D1Database, hash: string): Promise<StoredKey | undefined> {
  const row = await drizzle(db)
    .select({
      keyId: apiKeys.id,
      tenant: apiKeys.tenant,
      scopes: apiKeys.scopes,
      providerId: apiKeys.providerId,
      walletId: apiKeys.walletId,
    })
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, hash), isNull(apiKeys.revokedAtMs)))
    .get();
  return row && { ...row, scopes: row.scopes.split(" ") as Scope[] };
}

/** Whose key it is. A provider and a wallet are each the tenant of their own id. */
export type KeyHolder = { tenant: string } | { providerId: string } | { walletId: string };

/** Makes a key. The returned `key` is its only copy. */
export async function createKey(
  db: D1Database,
  holder: KeyHolder,
  scopes: readonly Scope[],
  nowMs: number,
): Promise<{ keyId: string; key: string }> {
  const [tenant = ""] = Object.values(holder);
  const keyId = `key_${toHex(crypto.getRandomValues(new Uint8Array(8)))}`;
  const key = `souk_${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`;
  await drizzle(db)
    .insert(apiKeys)
    .values({
      id: keyId,
      hash: await sha256Hex(key),
      tenant,
      ...holder,
      scopes: scopes.join(" "),
      createdAtMs: nowMs,
    });
  return { keyId, key };
}

/** Revokes a key; false when there is no such live key. Isolates stop accepting it within a minute. */
export async function revokeKey(db: D1Database, keyId: string, nowMs: number): Promise<boolean> {
  const revoked = await drizzle(db)
    .update(apiKeys)
    .set({ revokedAtMs: nowMs })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs)))
    .returning({ id: apiKeys.id });
  return revoked.length > 0;
}
