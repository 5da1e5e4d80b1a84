// Writes what is sold through the gateway into the catalog. Nobody is asked for a 402: the prober leaves these listings
// alone, because their price is not the origin's to state.

import type { CapabilityListing } from "./capability-listing.ts";
import { deriveStatements } from "./derive-listing-store.ts";
import { indexListing } from "./index-listing-store.ts";
import { listingIdOf, textHashOf } from "./listing-identity.ts";

const X402_VERSION = 2;

const SQL = {
  listing: `INSERT INTO listings (id, type, resource, host, method, tool_name, x402_version, bazaar, text_hash,
      owner_pay_to, first_listed_ms, last_updated_ms, next_probe_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ${X402_VERSION}, '{}', '', ?7, ?8, ?8, NULL)
    ON CONFLICT (id) DO NOTHING`,

  text: `INSERT INTO listing_texts (listing_id, pay_to, first_ms, first_settlement, newest_ms, newest_settlement,
      content, text_hash)
    VALUES (?1, ?2, ?3, ?4, ?3, ?4, ?5, ?6)
    ON CONFLICT (listing_id, pay_to) DO UPDATE SET newest_ms = excluded.newest_ms,
      newest_settlement = excluded.newest_settlement, content = excluded.content, text_hash = excluded.text_hash
    WHERE excluded.newest_ms >= newest_ms`,
};

/**
 * Lists a capability and indexes it. Where the resource was first listed by somebody else, that owner's text stays; the
 * capability can be bought all the same.
 */
export async function storeCapabilityListing(
  db: D1Database,
  listing: CapabilityListing,
  capabilityId: string,
  nowMs: number,
): Promise<string> {
  const listingId = await listingIdOf(listing);
  const { type, resource, host, method, toolName, owner } = listing;
  const { bazaar, serviceName, tags, iconUrl, description, mimeType, extensions } = listing;
  const content = JSON.stringify({ serviceName, tags, iconUrl, description, mimeType, bazaar, extensions });
  const bind = (sql: string, ...values: unknown[]) => db.prepare(sql).bind(listingId, ...values);
  await db.batch([
    bind(SQL.listing, type, resource, host, method, toolName, owner, nowMs),
    bind(SQL.text, owner, nowMs, capabilityId, content, await textHashOf(listing)),
    ...deriveStatements(db, listingId),
  ]);
  await indexListing(db, listingId);
  return listingId;
}
