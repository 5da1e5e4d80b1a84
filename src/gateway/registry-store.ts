// The registry in D1: wallets' public keys, providers, capabilities, and the index of decided paid calls. No balance and
// no state of a call is ever read from here.

import { and, eq, getTableColumns, lt, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
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

/** Parameters that D1 takes in one statement. */
const MAX_PARAMETERS = 100;
const RECORDS_PER_STATEMENT = Math.floor(MAX_PARAMETERS / Object.keys(getTableColumns(paidCalls)).length);

/**
 * Writes decided calls into the index, each once however often it is told, and opens the breaker of a capability when
 * one of its failures was one too many. A record that comes late pauses from its own time on, so it never opens a
 * breaker that would be closed by now.
 */
export async function recordPaidCalls(db: D1Database, calls: readonly PaidCallRecord[]): Promise<void> {
  const d1 = drizzle(db);
  const inserts = [];
  for (let from = 0; from < calls.length; from += RECORDS_PER_STATEMENT) {
    const group = calls.slice(from, from + RECORDS_PER_STATEMENT);
    inserts.push(d1.insert(paidCalls).values(group).onConflictDoNothing());
  }
  const openings = latestFailures(calls).map((failure) => openBreaker(d1, failure));
  const [first, ...others] = [...inserts, ...openings];
  if (first) await d1.batch([first, ...others]);
}

/** Of every capability the last failure that its breaker counts. */
function latestFailures(calls: readonly PaidCallRecord[]): PaidCallRecord[] {
  const counted = calls.filter(
    ({ failureKind }) => failureKind === "provider_error" || failureKind === "timeout",
  );
  const inOrder = counted.sort((left, right) => left.decidedAtMs - right.decidedAtMs);
  return [...new Map(inOrder.map((call) => [call.capabilityId, call])).values()];
}

function openBreaker(d1: DrizzleD1Database, { capabilityId, decidedAtMs }: PaidCallRecord) {
  const recentFailures = sql`(SELECT COUNT(*) FROM (
    SELECT failure_kind FROM paid_calls
    WHERE capability_id = ${capabilityId} AND decided_at_ms > ${decidedAtMs - BREAKER_WITHIN_MS}
      AND (failure_kind IS NULL OR failure_kind <> 'client_error')
    ORDER BY decided_at_ms DESC LIMIT ${BREAKER_LAST_CALLS}
  ) WHERE failure_kind IS NOT NULL)`;
  const pausedUntilMs = decidedAtMs + BREAKER_PAUSE_MS;
  return d1
    .update(capabilities)
    .set({ pausedUntilMs })
    .where(
      and(
        eq(capabilities.id, capabilityId),
        lt(capabilities.pausedUntilMs, pausedUntilMs),
        sql`${recentFailures} >= ${BREAKER_FAILURES}`,
      ),
    );
}

/** A fresh id: the prefix and 32 random hex digits. */
export function newId(prefix: "wal" | "prv" | "cap"): string {
  return `${prefix}_${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
}
