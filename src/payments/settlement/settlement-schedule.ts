// When a settlement's object looks again: one alarm serves the unfinished payment, its outbox, the watch for
// reorgs and the retention. Pure.

import type { Message, Settlement } from "./settlement-rows.ts";
import { isTerminal } from "./settlement-states.ts";

/** First look after a claim: a call that is still waiting goes on by itself, one that died is taken up here. */
export const BACKSTOP_MS = 10_000;
/** Looks at one payment come ever more seldom, each after a quarter of the time that has passed. */
const LOOK_MIN_MS = 5_000;
const LOOK_MAX_MS = 60 * 60 * 1_000;
/** The chain keeps the nonce for ever; the record is for questions about it. */
const RETENTION_MS = 90 * 24 * 60 * 60 * 1_000;
/** Alarms are set no further ahead than this; a far one is set again when it rings. */
const ALARM_AHEAD_MAX_MS = RETENTION_MS;
const MESSAGE_RETRY_FIRST_MS = 2_000;
const MESSAGE_RETRY_MAX_MS = 10 * 60 * 1_000;

/** When to look next, in epoch milliseconds; never in the past. */
export function nextLookMs(settlement: Settlement, message: Message | null, nowMs: number): number {
  const due = [lookAtMs(settlement, nowMs)];
  if (message) due.push(message.dueAtMs);
  return Math.max(nowMs, Math.min(...due, nowMs + ALARM_AHEAD_MAX_MS));
}

function lookAtMs(settlement: Settlement, nowMs: number): number {
  const { life, createdAtMs, outcomeAtMs, finalAtMs } = settlement;
  if (!isTerminal(life)) return nowMs + lookDelayMs(nowMs - createdAtMs);
  if (finalAtMs === null) return nowMs + lookDelayMs(nowMs - (outcomeAtMs ?? nowMs));
  return retentionEndMs(settlement);
}

function lookDelayMs(ageMs: number): number {
  return Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, ageMs / 4));
}

/**
 * When the record may go. Never before the authorization is dead: a charge of 0 leaves it open on the chain, and a
 * forgotten settlement could be charged again.
 */
export function retentionEndMs({ finalAtMs, payment }: Settlement): number {
  if (finalAtMs === null) return Number.POSITIVE_INFINITY;
  return Math.max(finalAtMs + RETENTION_MS, Number(payment.validBeforeSeconds) * 1_000);
}

/** Wait after the `failures`-th failed delivery in a row (from 1): 2 s, doubling, at most 10 minutes. */
export function messageRetryMs(failures: number): number {
  return Math.min(MESSAGE_RETRY_MAX_MS, MESSAGE_RETRY_FIRST_MS * 2 ** (failures - 1));
}
