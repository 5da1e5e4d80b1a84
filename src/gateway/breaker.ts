// The breaker of a capability: a provider that fails too often is not offered for a while, so that buyers' money is not
// held for nothing. The counting is one statement in registry-store.ts; here are its numbers and what they mean.

/** Of the last this many calls that count ... */
export const BREAKER_LAST_CALLS = 20;
/** ... within this time ... */
export const BREAKER_WITHIN_MS = 60_000;
/** ... this many failures open it, ... */
export const BREAKER_FAILURES = 5;
/** ... for this long. By then the failures are too old to count: it closes by itself. */
export const BREAKER_PAUSE_MS = 60_000;

/** Whole seconds until the breaker closes; 0 when it is closed. `client_error` never counts: the buyer was wrong. */
export function pausedForSeconds(pausedUntilMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((pausedUntilMs - nowMs) / 1_000));
}
