// Broken assertions are bugs of ours: they throw, are logged with their message, and become INTERNAL on the wire.
// Expected outcomes never come through here; they are Results.

/** Throws when an invariant of ours does not hold. `message` goes to the log only, never to a client. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Compile-time proof that a switch over a union is exhaustive. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unreachable ${JSON.stringify(value)}`);
}
