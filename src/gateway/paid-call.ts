// The life of one challenge nonce, as rules over a stored row: which states there are, what time alone decides, when the
// object must wake, and what the receipt says. PaidCallObject stores, calls and wakes.
//   authorizing -> held -> completed | failed | timed_out
//   authorizing -> abandoned       (a refused hold deletes the row: the nonce is fresh again)

import { unreachable } from "../platform/assert.ts";
import { receiptIdOf } from "./receipt.ts";
import type { FailureKind, ReceiptFields } from "./wire.ts";

export type PaidCallState = "authorizing" | "held" | "completed" | "failed" | "timed_out" | "abandoned";

/** Fixed when the call starts. */
export interface PaidCallTerms {
  transactionId: string;
  proofHash: string;
  walletId: string;
  agentId: string;
  capabilityId: string;
  providerId: string;
  amountMinor: bigint;
  currency: string;
  payTo: string;
  nonce: string;
  keyFingerprint: string;
}

export interface PaidCall extends PaidCallTerms {
  state: PaidCallState;
  /** The one HTTP request that was or may be told `ok:true`. */
  callId: string;
  startedAtMs: number;
  /** From here on nobody can complete or fail the call, however late the alarm is. */
  expiresAtMs: number;
  /** Holds asked for so far. With more than one, an answer to an earlier one was lost. */
  holdsSent: number;
  policyVersion: number | null;
  approvalId: string | null;
  decision: StoredDecision | null;
  /** The money has followed the decision. */
  isSettled: boolean;
  /** The registry knows of it. */
  isRecorded: boolean;
  /** Failed rounds of carrying the decision out: sets the pace of the next. */
  failedRounds: number;
}

/** What one synchronous write fixes for ever. */
export interface Decision {
  state: Exclude<PaidCallState, "authorizing" | "held">;
  responseHash: string | null;
  failureKind: FailureKind | null;
  /** The provider's words, cleaned; for owner and provider only. */
  errorText: string | null;
}

export interface StoredDecision extends Decision {
  atMs: number;
  signingKeyId: string | null;
  /** Stored once the money moved, so that a receipt outlives its key. */
  signature: string | null;
}

/** A wallet that did not answer for this long is not going to; the buyer's money must not hang on it. */
export const AUTHORIZING_MS = 60_000;

/** Repeats get their receipt, and the nonce's story can be told, for this long. */
export const KEPT_MS = 90 * 24 * 60 * 60 * 1_000;

/** Rounds of carrying out a decision: soon at first, and never given up. */
const FIRST_ROUND_MS = 2_000;
const SLOWEST_ROUND_MS = 5 * 60_000;

/** What has become of an undecided call by the passing of time alone. */
export function decidedByTime(call: PaidCall, nowMs: number): Decision | undefined {
  if (call.state === "authorizing" && nowMs >= call.startedAtMs + AUTHORIZING_MS) return ABANDONED;
  if (call.state === "held" && nowMs >= call.expiresAtMs) return TIMED_OUT;
  return undefined;
}

export const ABANDONED: Decision = {
  state: "abandoned",
  responseHash: null,
  failureKind: null,
  errorText: null,
};

const TIMED_OUT: Decision = {
  state: "timed_out",
  responseHash: null,
  failureKind: "timeout",
  errorText: "neither completed nor failed in time",
};

/** When the object has to look at the call again. */
export function wakeAtMs(call: PaidCall, nowMs: number): number {
  switch (call.state) {
    case "authorizing":
      return call.startedAtMs + AUTHORIZING_MS;
    case "held":
      return call.expiresAtMs;
    case "completed":
    case "failed":
    case "timed_out":
    case "abandoned": {
      if (call.isSettled && call.isRecorded) return (call.decision?.atMs ?? nowMs) + KEPT_MS;
      return nowMs + Math.min(FIRST_ROUND_MS * 2 ** call.failedRounds, SLOWEST_ROUND_MS);
    }
    default:
      return unreachable(call.state);
  }
}

/** What the receipt of a decided call says; undefined for a call that has none. */
export function receiptFieldsOf(call: PaidCall): ReceiptFields | undefined {
  const { decision, transactionId } = call;
  if (!decision || decision.state === "abandoned") return undefined;
  return {
    receiptId: receiptIdOf(transactionId),
    transactionId,
    status: decision.state === "completed" ? "completed" : "failed",
    capabilityId: call.capabilityId,
    providerId: call.providerId,
    walletId: call.walletId,
    agentId: call.agentId,
    amountMinor: String(call.amountMinor),
    currency: call.currency,
    payTo: call.payTo,
    nonce: call.nonce,
    responseHash: decision.responseHash,
    failureKind: decision.failureKind,
    issuedAt: new Date(decision.atMs).toISOString(),
  };
}
