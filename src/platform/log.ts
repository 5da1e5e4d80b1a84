// Structured logs: one JSON line per request and per transition. Only ids, states, counts and durations belong in a
// line; never a signature, key, body, header value or RPC URL.

export type LogFields = Record<string, string | number | boolean | null | undefined>;

/** Writes one line `{"event":...,...}`. */
export function log(event: string, fields: LogFields = {}): void {
  console.log(JSON.stringify({ event, ...fields }));
}

/** An alarm is a line an operator should be woken by: `level` is what a log filter matches. */
export function logAlarm(event: string, fields: LogFields = {}): void {
  console.error(JSON.stringify({ event, level: "alarm", ...fields }));
}

/**
 * The name and a shortened message of what was thrown, for the log alone. URLs are cut out: RPC URLs carry keys and
 * libraries put them into messages.
 */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.replaceAll(/\w+:\/\/\S+/g, "[url]").slice(0, MAX_ERROR_CHARACTERS);
}

/** Enough for a message and its cause; a library's dump of a whole request is not wanted in a log line. */
const MAX_ERROR_CHARACTERS = 500;
