// Asking a Durable Object once more. The runtime marks errors after which a new stub may reach the object again; the
// object may have acted on the first call, so only what is idempotent is asked this way.

/** Asks, and asks once more when the first try broke on the way. `ask` makes its own stub: a broken one stays broken. */
export async function withOneRepeat<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!isTransient(error)) throw error;
    return await ask();
  }
}

/** Whether the way to the object broke, or the object was restarted under the call. An overloaded one is not asked again. */
export function isTransient(error: unknown): boolean {
  const { retryable, durableObjectReset, overloaded } = error as Record<string, unknown>;
  return (retryable === true || durableObjectReset === true) && overloaded !== true;
}
