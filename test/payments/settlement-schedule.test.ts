// When a settlement's object looks again, what its endings are called, and when a payer is paused.

import { describe, expect, it } from "vitest";
import { pausedUntilMs, REVERTS_MAX } from "../../src/payments/evm/relayer/relayer-payer-pause.ts";
import { type Decline, declineReason, failureReason } from "../../src/payments/settlement/settle-reasons.ts";
import type { Settlement } from "../../src/payments/settlement/settlement-rows.ts";
import {
  messageRetryMs,
  nextLookMs,
  retentionEndMs,
} from "../../src/payments/settlement/settlement-schedule.ts";
import { claimedBy } from "../../src/payments/settlement/settlement-states.ts";
import { decodedPayment } from "../support/decoded-payment.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = 1_800_000_000_000;

function settlement(change: Partial<Settlement> = {}): Settlement {
  return {
    settlementId: "0".repeat(32),
    fingerprint: "f",
    tenant: "shop",
    purpose: "payment",
    paymentIdentifier: null,
    attempt: "a",
    relayer: "0x0000000000000000000000000000000000000001",
    payment: decodedPayment({ validBeforeSeconds: BigInt(start / 1_000) + 60n }),
    life: claimedBy("alice"),
    createdAtMs: start,
    updatedAtMs: start,
    outcomeAtMs: null,
    finalAtMs: null,
    hasObservation: false,
    audited: "{}",
    outbox: [],
    ...change,
  };
}

const settled = { ...claimedBy("alice"), state: "settled" as const };

describe("the next look", () => {
  it("comes after a quarter of the payment's age, between five seconds and an hour", () => {
    const at = (ageMs: number) => nextLookMs(settlement(), null, start + ageMs) - (start + ageMs);
    expect(at(0)).toBe(5_000);
    expect(at(60_000)).toBe(15_000);
    expect(at(10 * HOUR)).toBe(HOUR);
  });

  it("goes on until the outcome is final, and then rests until the retention ends", () => {
    const watched = settlement({ life: settled, outcomeAtMs: start });
    expect(nextLookMs(watched, null, start + 60_000)).toBe(start + 75_000);
    const final = settlement({ life: settled, outcomeAtMs: start, finalAtMs: start + 1 });
    expect(nextLookMs(final, null, start + 2)).toBe(start + 1 + 90 * DAY);
  });

  it("comes for a message that is due, at once for one that is late, and never in the past", () => {
    const final = settlement({ life: settled, outcomeAtMs: start, finalAtMs: start });
    const message = { kind: "observation" as const, dueAtMs: start + 500, failures: 1 };
    expect(nextLookMs(final, message, start)).toBe(start + 500);
    expect(nextLookMs(final, message, start + 9_000)).toBe(start + 9_000);
  });

  it("retries messages at growing distances up to ten minutes", () => {
    expect([1, 2, 3, 20].map(messageRetryMs)).toEqual([2_000, 4_000, 8_000, 600_000]);
  });
});

describe("retention", () => {
  it("is 90 days from finality, and never ends while the authorization could still be charged", () => {
    expect(retentionEndMs(settlement({ finalAtMs: start }))).toBe(start + 90 * DAY);
    const open = decodedPayment({ validBeforeSeconds: BigInt((start + 400 * DAY) / 1_000) });
    expect(retentionEndMs(settlement({ finalAtMs: start, payment: open }))).toBe(start + 400 * DAY);
    const forEver = decodedPayment({ validBeforeSeconds: 2n ** 256n - 1n });
    const kept = settlement({ life: settled, finalAtMs: start, payment: forEver });
    expect(retentionEndMs(kept)).toBeGreaterThan(start + 1_000_000 * DAY);
    expect(nextLookMs(kept, null, start)).toBe(start + 90 * DAY);
  });
});

describe("reasons", () => {
  it("names a proved failure by scheme", () => {
    expect(failureReason({ scheme: "exact" }, "reverted")).toBe("invalid_exact_evm_transaction_failed");
    expect(failureReason({ scheme: "upto" }, "reverted")).toBe("invalid_upto_evm_transaction_failed");
    expect(failureReason({ scheme: "exact" }, "cancelled")).toBe("invalid_exact_evm_nonce_already_used");
    expect(failureReason({ scheme: "upto" }, "expired")).toBe("invalid_transaction_state");
  });

  it.each([
    ["busy", "relayer_busy"],
    ["no_gas", "relayer_no_gas"],
    ["would_revert", "invalid_exact_evm_transaction_simulation_failed"],
    ["payer_paused", "rate_limited"],
    ["cancelled", "unexpected_settle_error"],
    ["rpc_unavailable", "unexpected_settle_error"],
  ] as const)("a relayer that took nothing because of %s is %s", (reason, worded) => {
    const decline: Decline = { ok: false, reason, retryAfterSeconds: 0 };
    expect(declineReason({ method: "eip3009" }, decline)).toBe(worded);
  });
});

describe("a payer's pause", () => {
  it("follows three reverts within an hour and lasts an hour from the last", () => {
    expect(REVERTS_MAX).toBe(3);
    expect(pausedUntilMs([])).toBe(0);
    expect(pausedUntilMs([start, start - 1])).toBe(0);
    expect(pausedUntilMs([start, start - 1, start - HOUR])).toBe(start + HOUR);
    expect(pausedUntilMs([start, start - 1, start - HOUR - 1])).toBe(0);
  });
});
