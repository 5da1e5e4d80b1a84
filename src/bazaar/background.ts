// What runs without a request: the queues' messages and the schedules. Finds the consumer by the queue's name and the
// job by its cron, as wrangler.toml writes them. Owns no effect itself.

import { type CatalogerPorts, consumeDeadLetters, consumeObservations } from "./catalog/cataloger.ts";
import { keepCatalog } from "./catalog/housekeeping.ts";
import { forgetNonces } from "./prober/decision-store.ts";
import { consumeProbes, type ProberPorts, probeDue } from "./prober/prober.ts";

export interface BackgroundPorts extends CatalogerPorts, ProberPorts {}

/** The Worker's queue handler: observations, the dead letters of their queue, and listings to probe. */
export function makeQueueConsumer<Env>(portsOf: (env: Env) => BackgroundPorts) {
  return (batch: MessageBatch<unknown>, env: Env): Promise<void> => {
    if (batch.queue.endsWith("-dead")) return consumeDeadLetters(batch, portsOf(env));
    if (batch.queue.endsWith("-probe")) return consumeProbes(batch, portsOf(env));
    return consumeObservations(batch, portsOf(env));
  };
}

const EVERY_MINUTE = "* * * * *";

/** The Worker's scheduled handler: probes every minute, tidies up every hour. */
export function makeScheduler<Env>(portsOf: (env: Env) => BackgroundPorts) {
  return async ({ cron }: ScheduledController, env: Env): Promise<void> => {
    const ports = portsOf(env);
    if (cron === EVERY_MINUTE) return probeDue(ports);
    await keepCatalog(ports);
    await forgetNonces(ports.db, ports.clock.nowMs());
  };
}
