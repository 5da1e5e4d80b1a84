// A payer whose transfers revert burns our gas: the balance is moved away, or the authorization cancelled, between our
// check and the block. Three such settlements within an hour, and the payer is refused for an hour. Pure.

export const REVERTS_MAX = 3;
const WINDOW_MS = 60 * 60 * 1_000;
const PAUSE_MS = 60 * 60 * 1_000;

/**
 * Until when a payer is refused, in epoch milliseconds; 0 for never.
 *
 * @param newestFirst - times of the payer's last `REVERTS_MAX` reverted settlements.
 */
export function pausedUntilMs(newestFirst: readonly number[]): number {
  const newest = newestFirst[0];
  const last = newestFirst[REVERTS_MAX - 1];
  if (newest === undefined || last === undefined || newest - last > WINDOW_MS) return 0;
  return newest + PAUSE_MS;
}
