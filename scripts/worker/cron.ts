// Cloudflare runs a Worker's cron triggers, Miniflare does not: the local world does it by this small clock. It knows
// as much of cron as wrangler.toml uses: `*` and plain numbers.

const MINUTE_MS = 60_000;

/** Calls `run` at each full minute with every cron that is due then. Does not keep the process alive. */
export function runCrons(crons: readonly string[], run: (cron: string, atMs: number) => void): void {
  const untilNextMinuteMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  setTimeout(() => {
    const atMs = Math.round(Date.now() / MINUTE_MS) * MINUTE_MS;
    for (const cron of crons) if (isDue(cron, atMs)) run(cron, atMs);
    runCrons(crons, run);
  }, untilNextMinuteMs).unref();
}

/** Whether a cron of five fields, in UTC, names this minute. @throws Error for a form that is not known here. */
export function isDue(cron: string, atMs: number): boolean {
  const at = new Date(atMs);
  // Cloudflare counts weekdays from 1, Sunday.
  const now = [
    at.getUTCMinutes(),
    at.getUTCHours(),
    at.getUTCDate(),
    at.getUTCMonth() + 1,
    at.getUTCDay() + 1,
  ];
  const fields = cron.split(" ");
  if (fields.length !== now.length || !fields.every((field) => /^(\*|\d+)$/.test(field))) {
    throw new Error(`the local world cannot run the cron "${cron}"`);
  }
  return fields.every((field, index) => field === "*" || Number(field) === now[index]);
}
