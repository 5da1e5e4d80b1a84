// One paid call, named by its transaction id: one object per challenge nonce, which is what makes a nonce work once.
// A call from the Worker and the alarm drive the same stored row. A decision is one synchronous write; the money
// follows it, until acknowledged. `ok:true` goes to one call only: whoever is told so runs the seller's handler.
//
// Never: an await between reading the state and writing a decision; a money step before the decision is stored.

import { DurableObject } from "cloudflare:workers";
import { type Env, loadConfig } from "../config.ts";
import { assert } from "../platform/assert.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { describeError, log, logAlarm } from "../platform/log.ts";
import { recordOf, recordSoon, wasRecorded } from "./call-records.ts";
import {
  ABANDONED,
  AUTHORIZING_MS,
  type Decision,
  decidedByTime,
  type PaidCall,
  receiptFieldsOf,
  wakeAtMs,
} from "./paid-call.ts";
import type { AuthorizeAnswer, AuthorizeRequest, DecisionAnswer, PaidCallPort } from "./paid-call-port.ts";
import { PaidCallTables } from "./paid-call-tables.ts";
import { signReceipt } from "./receipt.ts";
import { type PaidCallRecord, recordPaidCalls } from "./registry-store.ts";
import { type KeyRing, ringsOf } from "./signing-keys.ts";
import type { HoldAnswer, WalletPort } from "./wallet-port.ts";
import type { FailureKind, Receipt } from "./wire.ts";

/** Longer than any wallet needs, shorter than a seller waits. */
const HOLD_WAIT_MS = 10_000;
/** An alarm in the past fires at once, again and again. */
const SOONEST_ALARM_MS = 1_000;
/** From this many failed rounds on somebody should look. */
const ROUNDS_BEFORE_ALARM = 5;

const REPLAYED = {
  ok: false,
  code: "NONCE_REPLAYED",
  reason: "this challenge was used before",
} as const satisfies AuthorizeAnswer;

const UNAVAILABLE = {
  ok: false,
  code: "UNAVAILABLE",
  reason: "the wallet did not answer; send the same proof again",
} as const satisfies AuthorizeAnswer;

export class PaidCallObject extends DurableObject<Env> implements PaidCallPort {
  /** A field, so that a test can move this object's time. */
  clock: Clock = systemClock;
  readonly #tables = new PaidCallTables(this.ctx.storage.sql);
  /** As it was last set by this memory. */
  #alarmAtMs = Number.POSITIVE_INFINITY;
  #holding: Promise<AuthorizeAnswer> | undefined;
  #settling: Promise<void> | undefined;

  /** Takes the hold. Calls with the same proof that come while it is being taken share it; one is told `ok:true`. */
  async authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer> {
    const call = this.#current() ?? this.#start(request);
    if (call.state === "authorizing" && call.proofHash === request.proofHash) {
      this.#holding ??= this.#hold(call, request.callId).finally(() => {
        this.#holding = undefined;
      });
      const answer = await this.#holding;
      if (!answer.ok) return answer;
    }
    const held = this.#tables.read();
    const isMine = held?.state === "held" && held.callId === request.callId;
    return isMine ? { ok: true, transactionId: held.transactionId } : REPLAYED;
  }

  async complete(providerId: string, responseHash: string): Promise<DecisionAnswer> {
    const decision = { state: "completed", responseHash, failureKind: null, errorText: null } as const;
    return this.#decideHeld(
      providerId,
      decision,
      ({ decision: stored }) => stored?.state === "completed" && stored.responseHash === responseHash,
    );
  }

  async fail(
    providerId: string,
    failureKind: Exclude<FailureKind, "timeout">,
    errorText: string,
  ): Promise<DecisionAnswer> {
    const decision = { state: "failed", responseHash: null, failureKind, errorText } as const;
    return this.#decideHeld(providerId, decision, ({ decision: stored }) => stored?.state === "failed");
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    try {
      const call = this.#current();
      if (!call) return;
      if (call.decision) await this.#carryOut();
      const after = this.#tables.read();
      const now = this.clock.nowMs();
      if (after?.isRecorded && after.isSettled && now >= wakeAtMs(after, now)) return this.#forget();
    } catch (error) {
      this.#noteFailure(error);
    }
    this.#wake();
  }

  /** The row as it is now: what time alone decides is decided here, by whoever looks first. */
  #current(): PaidCall | undefined {
    const call = this.#tables.read();
    const byTime = call && decidedByTime(call, this.clock.nowMs());
    return byTime ? this.#decide(byTime, undefined) : call;
  }

  #start(request: AuthorizeRequest): PaidCall {
    const nowMs = this.clock.nowMs();
    const { callId, ...terms } = request;
    this.#tables.start(terms, callId, nowMs, nowMs + loadConfig(this.env).gateway.holdMs);
    return this.#wake();
  }

  async #hold(call: PaidCall, callId: string): Promise<AuthorizeAnswer> {
    this.#tables.countHoldSent();
    let answer: HoldAnswer;
    try {
      answer = await within(
        HOLD_WAIT_MS,
        this.#wallet(call.walletId).hold(holdRequestOf(call, this.clock.nowMs())),
      );
    } catch (error) {
      log("hold_unanswered", { transactionId: call.transactionId, cause: describeError(error) });
      return UNAVAILABLE;
    }
    const now = this.#current();
    if (now?.state !== "authorizing") return REPLAYED;
    if (answer.ok) {
      this.#tables.setHeld(callId, answer.policyVersion, answer.approvalId);
      this.#wake();
      return { ok: true, transactionId: call.transactionId };
    }
    if (now.holdsSent === 1) await this.#forget();
    // An earlier hold got no answer and may still arrive: only a tombstone in the wallet keeps it from being taken.
    else this.#decide(ABANDONED, undefined);
    return answer.code === "CANCELLED" ? REPLAYED : answer;
  }

  async #decideHeld(
    providerId: string,
    decision: Decision,
    isRepeat: (call: PaidCall) => boolean,
  ): Promise<DecisionAnswer> {
    const ring = await this.#ring();
    let call = this.#current();
    if (call?.providerId !== providerId) return { ok: false, reason: "unknown" };
    if (call.state === "held") call = this.#decide(decision, ring?.current.id);
    if (!call.decision || call.state === "abandoned") return { ok: false, reason: "not_held" };
    await this.#followUp();
    const receipt = await this.#receipt();
    return isRepeat(call) ? { ok: true, receipt } : { ok: false, reason: "decided", receipt };
  }

  /** The one write that ends a call. Whoever decides carries it out; an alarm within a minute does it if that is cut off. */
  #decide(decision: Decision, signingKeyId: string | undefined): PaidCall {
    this.#tables.setDecided(decision, this.clock.nowMs(), signingKeyId ?? null);
    const call = this.#wake(AUTHORIZING_MS);
    log("paid_call_decided", { transactionId: call.transactionId, state: call.state });
    return call;
  }

  /** Moves the money now and tells the registry soon. What fails is the alarm's; the decision stands either way. */
  async #followUp(): Promise<void> {
    try {
      await this.#settle();
    } catch (error) {
      this.#noteFailure(error);
      return;
    }
    const record = this.#unrecorded();
    if (record) recordSoon(this.env.DB, record, this.ctx);
  }

  async #carryOut(): Promise<void> {
    await this.#settle();
    const record = this.#unrecorded();
    if (!record) return;
    await recordPaidCalls(this.env.DB, [record]);
    this.#tables.setRecorded();
  }

  /** What the registry still has to learn; that it has nothing to learn is noted. */
  #unrecorded(): PaidCallRecord | undefined {
    const call = this.#tables.read();
    if (!call || call.isRecorded) return undefined;
    const record = recordOf(call);
    if (record && !wasRecorded(call.transactionId)) return record;
    this.#tables.setRecorded();
    return undefined;
  }

  #settle(): Promise<void> {
    this.#settling ??= this.#moveMoney().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  /** Every step is idempotent by the transaction id; capture before credit, so that no money is made. */
  async #moveMoney(): Promise<void> {
    const call = this.#tables.read();
    if (!call?.decision || call.isSettled) return;
    const { transactionId, amountMinor, decision } = call;
    const { state, atMs } = decision;
    const wallet = this.#wallet(call.walletId);
    if (state === "completed") {
      await wallet.capture(transactionId, atMs);
      const id = `credit:${transactionId}`;
      const credit = { source: "call", id, amountMinor, transactionId, atMs } as const;
      const credited = await this.#wallet(call.payTo).credit(credit);
      assert(credited.ok, "a payee's credit is never refused");
    } else if (state === "abandoned") {
      await wallet.cancel(transactionId, atMs);
    } else {
      await wallet.release(transactionId, decision.errorText ?? state, atMs);
    }
    const receipt = await this.#sign(call);
    this.#tables.setSettled(receipt?.signingKeyId ?? null, receipt?.signature ?? null);
  }

  async #receipt(): Promise<Receipt> {
    const call = this.#tables.read();
    const fields = call && receiptFieldsOf(call);
    assert(fields, "a decided call has a receipt");
    const { signingKeyId, signature } = call.decision ?? {};
    if (signingKeyId && signature) return { ...fields, signingKeyId, signature };
    const receipt = await this.#sign(call);
    assert(receipt, "a receipt can be signed");
    return receipt;
  }

  async #sign(call: PaidCall): Promise<Receipt | undefined> {
    const ring = await this.#ring();
    const fields = receiptFieldsOf(call);
    if (!ring || !fields) return undefined;
    return signReceipt(fields, ring.signer(call.decision?.signingKeyId ?? "") ?? ring.current);
  }

  async #ring(): Promise<KeyRing | undefined> {
    return (await ringsOf(loadConfig(this.env).gateway))?.receipt;
  }

  #wallet(walletId: string): WalletPort {
    return this.env.WALLETS.getByName(walletId);
  }

  /**
   * Sets the alarm for what the row needs next, in the same turn as the write before it. One that rings before that, or
   * at most `lateMs` after it, is left as it is: whatever it finds, it sets the next.
   */
  #wake(lateMs = 0): PaidCall {
    const call = this.#tables.read();
    assert(call, "a call that wakes has a row");
    const nowMs = this.clock.nowMs();
    const atMs = Math.max(wakeAtMs(call, nowMs), nowMs + SOONEST_ALARM_MS);
    if (this.#alarmAtMs <= atMs + lateMs) return call;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs);
    return call;
  }

  async #forget(): Promise<void> {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    this.#tables.forget();
    await Promise.all([this.ctx.storage.deleteAlarm(), this.ctx.storage.deleteAll()]);
  }

  #noteFailure(error: unknown): void {
    const call = this.#tables.read();
    if (!call) return;
    this.#tables.countFailedRound();
    const fields = { transactionId: call.transactionId, state: call.state, cause: describeError(error) };
    if (call.failedRounds >= ROUNDS_BEFORE_ALARM) logAlarm("paid_call_stuck", fields);
    else log("paid_call_delayed", fields);
    this.#wake();
  }
}

function holdRequestOf(call: PaidCall, nowMs: number) {
  const { transactionId, keyFingerprint, agentId, capabilityId, providerId, amountMinor, currency } = call;
  return { transactionId, keyFingerprint, agentId, capabilityId, providerId, amountMinor, currency, nowMs };
}

async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
