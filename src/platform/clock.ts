// The one source of time. Rules take `nowMs` as an argument; objects hold a Clock as a field, so that a test can
// move an object's time without moving the machine's. Never read Date.now() anywhere else.

/** Wall-clock time in integer milliseconds since the epoch. */
export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
