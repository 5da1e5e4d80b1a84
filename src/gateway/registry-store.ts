// The registry in D1: wallets' public keys, providers, capabilities, and the index of decided paid calls. No balance and
// no state of a call is ever read from here.

import { and, eq, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { capabilities, paidCalls, providers, wallets } from "../db/schema.ts";
import { toHex } from "../platform/bytes.ts";
import { BREAKER_FAILURES, BREAKER_LAST_CALLS, BREAKER_PAUSE_MS, BREAKER_WITHIN_MS } from "./breaker.ts";

export type StoredCapability = typeof capabilities.$inferSelect;
export type PaidCallRecord = typeof paidCalls.$inferInsert;

/** What a challenge needs of a capability: its price and where its money goes. */
export interface SoldCapability extends StoredCapability {
  payTo: string;
}

export async function findSoldCapability(db: D1Database, id: string): Promise<SoldCapability | undefined> {
  const row = await drizzle(db)
    .select({ capability: capabilities, payTo: providers.walletId })
    .from(capabilities)
    .innerJoin(providers, eq(providers.id, capabilities.providerId))
    .where(eq(capabilities.id, id))
    .get();
  return row && { ...row.capability, payTo: row.payTo };
}

export async function findWallet(db: D1Database, id: string) {
  return drizzle(db).select().from(wallets).where(eq(wallets.id, id)).get();
}

export async function findProvider(db: D1Database, id: string) {
  return drizzle(db).select().from(providers).where(eq(providers.id, id)).get();
}

export async function addWallet(
  db: D1Database,
  wallet: { id: string; currency: string; publicKey: string; createdAtMs: number },
): Promise<void> {
  await drizzle(db).insert(wallets).values(wallet);
}

/** Publishes a rotated payment key, unless a newer rotation was published before. */
export async function setWalletKey(
  db: D1Database,
  id: string,
  publicKey: string,
  keyVersion: number,
): Promise<void> {
  await drizzle(db)
    .update(wallets)
    .set({ publicKey, keyVersion })
    .where(and(eq(wallets.id, id), lt(wallets.keyVersion, keyVersion)));
}

export async function addProvider(
  db: D1Database,
  provider: { name: string; walletId: string },
  nowMs: number,
): Promise<string> {
  const id = newId("prv");
  await drizzle(db)
    .insert(providers)
    .values({ id, ...provider, createdAtMs: nowMs });
  return id;
}

export type NewCapability = Omit<StoredCapability, "id" | "pausedUntilMs" | "createdAtMs">;

export async function addCapability(
  db: D1Database,
  capability: NewCapability,
  nowMs: number,
): Promise<string> {
  const id = newId("cap");
  await drizzle(db)
    .insert(capabilities)
    .values({ id, ...capability, createdAtMs: nowMs });
  return id;
}

/**
 * Writes a decided call into the index, once, and opens the capability's breaker when this failure was one too many.
 * A record that comes late pauses from its own time on, so it never opens a breaker that would be closed by now.
 */
export async function recordPaidCall(db: D1Database, call: PaidCallRecord): Promise<void> {
  const d1 = drizzle(db);
  const insert = d1.insert(paidCalls).values(call).onConflictDoNothing();
  const counts = call.failureKind === "provider_error" || call.failureKind === "timeout";
  if (!counts) {
    await insert;
    return;
  }
  const recentFailures = sql`(SELECT COUNT(*) FROM (
    SELECT failure_kind FROM paid_calls
    WHERE capability_id = ${call.capabilityId} AND decided_at_ms > ${call.decidedAtMs - BREAKER_WITHIN_MS}
      AND (failure_kind IS NULL OR failure_kind <> 'client_error')
    ORDER BY decided_at_ms DESC LIMIT ${BREAKER_LAST_CALLS}
  ) WHERE failure_kind IS NOT NULL)`;
  const pausedUntilMs = call.decidedAtMs + BREAKER_PAUSE_MS;
  const open = d1
    .update(capabilities)
    .set({ pausedUntilMs })
    .where(
      and(
        eq(capabilities.id, call.capabilityId),
        lt(capabilities.pausedUntilMs, pausedUntilMs),
        sql`${recentFailures} >= ${BREAKER_FAILURES}`,
      ),
    );
  await d1.batch([insert, open]);
}

/** A fresh id: the prefix and 32 random hex digits. */
export function newId(prefix: "wal" | "prv" | "cap"): string {
  return `${prefix}_${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
}
