// Settled payments and probes for tests inside workerd, without a chain: a message as the settlement object sends it,
// through the Worker's own queue handler. What it asks of the prober is caught, so that the test says when to probe.

import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { HostRules } from "../../src/bazaar/catalog/host-rules.ts";
import { listingIdOf } from "../../src/bazaar/catalog/listing-identity.ts";
import { consumeProbes, type ProberPorts } from "../../src/bazaar/prober/prober.ts";
import type { Env } from "../../src/config.ts";
import worker from "../../src/index.ts";
import { aMessage, type MessageOptions } from "../support/bazaar.ts";

/** The local world's: sellers' servers of tests stand on loopback. */
export const LOCAL_RULES: HostRules = { ownHosts: ["souk.test"], allowLoopback: true };

export function proberPorts(nowMs: number, change: Partial<ProberPorts> = {}): ProberPorts {
  return {
    db: env.DB,
    clock: { nowMs: () => nowMs },
    priceOf: (_network, _asset, amountAtomic) => Number(amountAtomic),
    rules: LOCAL_RULES,
    userAgent: "souk-prober/1 (test)",
    ...change,
  };
}

/** Lists what a settled payment brought; gives the listing's id and what the cataloger asked of the prober. */
export async function settleListing(options: MessageOptions): Promise<{ id: string; asked: string[] }> {
  const message = aMessage(options, LOCAL_RULES);
  const asked: string[] = [];
  const send = async (body: { listingId: string }) => void asked.push(body.listingId);
  const own = { ...env, PROBE_QUEUE: { send } } as unknown as Env;
  const batch = createMessageBatch("souk-catalog", [asMessage(message)]);
  await worker.queue(batch, own);
  expect((await getQueueResult(batch, createExecutionContext())).explicitAcks).toHaveLength(1);
  return { id: await listingIdOf(message.observation), asked };
}

/** Delivers one probe message. */
export async function probeListing(
  listingId: string,
  nowMs: number,
  change: Partial<ProberPorts> = {},
): Promise<void> {
  const batch = createMessageBatch("souk-probe", [asMessage({ listingId })]);
  await consumeProbes(batch, proberPorts(nowMs, change));
  expect((await getQueueResult(batch, createExecutionContext())).ackAll).toBe(true);
}

function asMessage(body: unknown) {
  return { id: "1", timestamp: new Date(), attempts: 1, body };
}

let addresses = 0x9000;
/** One that no other test of the file has. */
export function anAddress(): string {
  return `0x${(addresses++).toString(16).padStart(40, "0")}`;
}
