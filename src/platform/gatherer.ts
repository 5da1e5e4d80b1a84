// Gathers what one isolate has to write, so that a burst of it is one write. What is lost on the way, with the isolate or
// because the write failed, somebody who keeps it has to write again.

import { systemClock } from "./clock.ts";
import { describeError, log } from "./log.ts";

/** Nobody waits for what is gathered; people who look soon should find it. */
export const GATHER_MS = 500;

/** A gathering that was cut off with its request must not be the isolate's last. */
const GATHERED_BY_MS = 10_000;

export class Gatherer<Item> {
  readonly #name: string;
  readonly #maxWaiting: number;
  #waiting: Item[] = [];
  /** When the gathering under way began; null when there is none. */
  #sinceMs: number | null = null;

  /** `maxWaiting`: one write's worth. Of a greater burst, the rest is left to whoever keeps it. */
  constructor(name: string, maxWaiting: number) {
    this.#name = name;
    this.#maxWaiting = maxWaiting;
  }

  /** Whoever begins a gathering writes it: each isolate's `write`s do the same. */
  add(
    item: Item,
    write: (items: readonly Item[]) => Promise<unknown>,
    ctx: Pick<ExecutionContext, "waitUntil">,
  ): void {
    if (this.#waiting.length < this.#maxWaiting) this.#waiting.push(item);
    const nowMs = systemClock.nowMs();
    if (this.#sinceMs !== null && nowMs < this.#sinceMs + GATHERED_BY_MS) return;
    this.#sinceMs = nowMs;
    ctx.waitUntil(this.#writeSoon(write));
  }

  async #writeSoon(write: (items: readonly Item[]) => Promise<unknown>): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    const gathered = this.#waiting;
    this.#waiting = [];
    this.#sinceMs = null;
    try {
      await write(gathered);
    } catch (error) {
      log(`${this.#name}_postponed`, { count: gathered.length, cause: describeError(error) });
    }
  }
}
