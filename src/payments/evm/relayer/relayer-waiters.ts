// Settlements that wait for one of their steps. In memory alone: who waits after a crash asks again. It owns timers,
// and knows nothing of chains. What is read to see whether somebody is done is what that one is answered.

import type { StepProgress } from "./relayer-port.ts";
import { isDecided } from "./relayer-progress.ts";

export interface Waited {
  settlementId: string;
  attempt: string;
  /** Depth the receipt must have; 1 = mined. */
  depth: number;
}

interface Waiter extends Waited {
  wake: (progress: StepProgress[] | null) => void;
}

export class RelayerWaiters {
  readonly #byAttempt = new Map<string, Set<Waiter>>();

  get isEmpty(): boolean {
    return this.#byAttempt.size === 0;
  }

  /** Resolves with the progress it is woken by, or with null after `timeoutMs`, whichever comes first. */
  wait(waited: Waited, timeoutMs: number): Promise<StepProgress[] | null> {
    const key = keyOf(waited.settlementId, waited.attempt);
    return new Promise((resolve) => {
      const leave = (progress: StepProgress[] | null) => {
        clearTimeout(timer);
        const waiters = this.#byAttempt.get(key);
        waiters?.delete(waiter);
        if (waiters?.size === 0) this.#byAttempt.delete(key);
        resolve(progress);
      };
      const waiter = { ...waited, wake: leave };
      const timer = setTimeout(() => leave(null), timeoutMs);
      const waiters = this.#byAttempt.get(key) ?? new Set();
      this.#byAttempt.set(key, waiters.add(waiter));
    });
  }

  /** Wakes those waiters of one attempt who are done; reads its progress only if somebody waits. */
  wakeAttempt(settlementId: string, attempt: string, read: (waited: Waited) => StepProgress[]): void {
    wakeDone([...(this.#byAttempt.get(keyOf(settlementId, attempt)) ?? [])], read);
  }

  /** Wakes those who wait for more than one block and are done: only they care that the head moved. */
  wakeDeep(read: (waited: Waited) => StepProgress[]): void {
    for (const waiters of [...this.#byAttempt.values()]) {
      wakeDone(
        [...waiters].filter(({ depth }) => depth > 1),
        read,
      );
    }
  }
}

/** `waiters` are of one attempt. */
function wakeDone(waiters: readonly Waiter[], read: (waited: Waited) => StepProgress[]): void {
  const [first] = waiters;
  if (first === undefined) return;
  const progress = read(first);
  for (const { depth, wake } of waiters) if (isDecided(progress, depth)) wake(progress);
}

function keyOf(settlementId: string, attempt: string): string {
  return `${settlementId} ${attempt}`;
}
