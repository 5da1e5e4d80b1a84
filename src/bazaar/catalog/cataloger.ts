// Consumes the catalog queue: each message is stored and indexed by itself, so that one that cannot be stored neither
// holds up nor repeats the others. What cannot be stored is retried by the queue and then comes back as a dead letter,
// which ends as a visible `rejected`. Owns the storage and the queue's acknowledgements.

import type { Clock } from "../../platform/clock.ts";
import { describeError, log, logAlarm } from "../../platform/log.ts";
import { type PriceOf, storeObservation } from "./catalog-store.ts";
import { indexListing } from "./index-listing-store.ts";
import { readCatalogMessage, readMessageName } from "./observation.ts";
import { recordLost } from "./observation-store.ts";

export interface CatalogerPorts {
  db: D1Database;
  clock: Clock;
  priceOf: PriceOf;
  /** Has the prober ask a listing's origin soon. What is due stands in the catalog: a lost request only takes longer. */
  requestProbe(listingId: string): Promise<unknown>;
}

/** Lists what settled payments brought. One message after the other: two of one listing must not race here. */
export async function consumeObservations(
  batch: MessageBatch<unknown>,
  ports: CatalogerPorts,
): Promise<void> {
  for (const message of batch.messages) {
    try {
      await catalog(message.body, ports);
      message.ack();
    } catch (error) {
      log("catalog_failed", {
        messageId: message.id,
        attempts: message.attempts,
        cause: describeError(error),
      });
      message.retry();
    }
  }
}

async function catalog(body: unknown, ports: CatalogerPorts): Promise<void> {
  const reading = readCatalogMessage(body);
  if (!reading.ok) throw new Error(`unreadable message: ${reading.field}`);
  const { settlementId } = reading.message;
  const { listingId, isProbeDue } = await storeObservation(ports.db, reading.message, {
    priceOf: ports.priceOf,
    nowMs: ports.clock.nowMs(),
  });
  await indexListing(ports.db, listingId);
  log("catalogued", { settlementId, listingId });
  if (isProbeDue) await requestProbe(listingId, ports);
}

async function requestProbe(listingId: string, ports: CatalogerPorts): Promise<void> {
  try {
    await ports.requestProbe(listingId);
  } catch (error) {
    log("probe_request_failed", { listingId, cause: describeError(error) });
  }
}

/** Ends what the catalog queue gave up. */
export async function consumeDeadLetters(batch: MessageBatch<unknown>, ports: CatalogerPorts): Promise<void> {
  for (const message of batch.messages) {
    const name = readMessageName(message.body);
    logAlarm("observation_lost", { messageId: message.id, settlementId: name?.settlementId ?? null });
    try {
      if (name) await recordLost(ports.db, name, ports.clock.nowMs());
      message.ack();
    } catch (error) {
      log("dead_letter_failed", { messageId: message.id, cause: describeError(error) });
      message.retry();
    }
  }
}
