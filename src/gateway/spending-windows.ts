// Budget windows: the UTC day and month in which a hold was made. A release gives back to the window of its hold,
// not to the one in which it happens.

export type Per = "day" | "month";

/** `2026-09-24` or `2026-09`, in UTC. */
export function windowOf(per: Per, atMs: number): string {
  return new Date(atMs).toISOString().slice(0, per === "day" ? 10 : 7);
}
