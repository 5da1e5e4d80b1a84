// The catalog as worker tests use it: messages delivered as the queue delivers them, addresses of one's own, and the
// discovery routes called from outside. Nothing is probed: the hosts in these tests do not exist.

import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import {
  type CatalogerPorts,
  consumeDeadLetters,
  consumeObservations,
} from "../../src/bazaar/catalog/cataloger.ts";
import { observationHashOf } from "../../src/bazaar/catalog/listing-identity.ts";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";
import { makeObservationId } from "../../src/bazaar/catalog/observation-id.ts";
import { priceInUsdMicros } from "../../src/payments/dollar-price.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Json, someRequirements } from "../support/bazaar.ts";

const ORIGIN = "https://souk.test";
/** As vitest.config.ts gives them to the Worker. */
export const MAC_KEYS = [{ version: 1, secret: new Uint8Array(32).fill(0xab) }];

export type Answer = Json & { items: Json[]; resources: Json[]; pagination: Json; error: string };

export async function get(path: string): Promise<{ status: number; body: Answer }> {
  const response = await exports.default.fetch(`${ORIGIN}${path}`);
  return { status: response.status, body: await response.json<Answer>() };
}

const ports: CatalogerPorts = {
  db: env.DB,
  clock: systemClock,
  priceOf: (...offer) => priceInUsdMicros(new Map(), ...offer),
  requestProbe: async () => {},
};

/** Delivers messages to the cataloger, ten at a time as the queue does; gives what became of each batch. */
export async function deliver(bodies: readonly unknown[], consume = consumeObservations) {
  const results = [];
  for (let i = 0; i < bodies.length; i += 10) {
    const messages = bodies
      .slice(i, i + 10)
      .map((body, k) => ({ id: `${i + k}`, timestamp: new Date(), attempts: 1, body }));
    const batch = createMessageBatch("souk-catalog", messages);
    await consume(batch, ports);
    results.push(await getQueueResult(batch, createExecutionContext()));
  }
  return results;
}

/** Delivers messages that the queue has given up. */
export function deliverDead(bodies: readonly unknown[]) {
  return deliver(bodies, consumeDeadLetters);
}

let addresses = 0x1000;

/** Another address with every call: storage is shared by the tests of a file. */
export function anAddress(): string {
  return `0x${(addresses++).toString(16).padStart(40, "0")}`;
}

export function paying(payTo: string, changes: Json = {}): Json {
  return someRequirements({ payTo, ...changes });
}

export async function listedBy(payTo: string): Promise<Json[]> {
  return (await get(`/discovery/merchant?payTo=${payTo}`)).body.resources;
}

/** The id that verify or settle would have given out for this message's payment. */
export async function observationIdOf(
  { settlementId, observation }: CatalogMessage,
  expiresAtMs = Date.now() + 60_000,
): Promise<string> {
  const hash = await observationHashOf(settlementId, observation);
  return makeObservationId({ hash, expiresAtMs }, MAC_KEYS);
}

/** How the message's observation ended, as its URL says. */
export async function endOf(message: CatalogMessage): Promise<Answer> {
  return (await get(`/discovery/observations/${await observationIdOf(message)}`)).body;
}

/** What `read` gives once it gives something. */
export async function eventually<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 600; i++) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("did not happen within a minute");
}
