// SettlementObject: the life of one payment, named by the payment's id. It owns who is told of the one success, and
// that an outcome is stored before anybody is told. The first call, a repeat and the alarm run the same `advance`,
// driven by the stored row; memory holds only who waits and what is under way. A refused payment leaves nothing
// behind: the tables are made by the claim.

import { DurableObject } from "cloudflare:workers";
import { type Env, loadConfig, type Network } from "../../config.ts";
import { assert } from "../../platform/assert.ts";
import { toHex } from "../../platform/bytes.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { describeError, log, logAlarm } from "../../platform/log.ts";
import { RelayerClient, relayerName, relayerOf } from "../evm/relayer/relayer-client.ts";
import type { RelayerPort } from "../evm/relayer/relayer-port.ts";
import { type SettleVerdict, verifyToSettle } from "../evm/verify-to-settle.ts";
import type { SettleAnswer, SettleCall } from "./settle-payment.ts";
import { failureReason } from "./settle-reasons.ts";
import { advance, type Verified } from "./settlement-advance.ts";
import {
  attendOutcome,
  type Deliveries,
  type EndedSettlement,
  type SettledCredit,
} from "./settlement-aftermath.ts";
import { type Refused, refused, type SettlementContext } from "./settlement-context.ts";
import { describeSettlement, type SettlementRecord } from "./settlement-record.ts";
import { type Settlement, SettlementRows } from "./settlement-rows.ts";
import { BACKSTOP_MS, nextLookMs } from "./settlement-schedule.ts";
import { claimedBy, isTerminal, tell } from "./settlement-states.ts";

/** How long one alarm goes on with an unfinished payment before it rests until the next. */
const ALARM_ADVANCE_MS = 10_000;
/** After a relayer's restart or a lost reply. */
const RETRY_MS = 500;
/** Steps wait by themselves; should one come back at once with nothing done, the relayer is not asked in a circle. */
const IDLE_MS = 50;

export abstract class SettlementObject extends DurableObject<Env> {
  /** Pays in what was paid for another purpose than a payment: bound in index.ts, for payments know no wallets. */
  protected abstract credit(message: SettledCredit): Promise<void>;
  /** Tells the audit how it ended. */
  protected abstract audit(message: EndedSettlement): Promise<void>;

  /** Replaced by tests to move this object's time. Timers and alarms run on the machine's. */
  clock: Clock = systemClock;
  readonly #rows: SettlementRows;
  readonly #context: SettlementContext;
  /** By fingerprint: identical calls share one verification, and a stranger's call has its own. */
  readonly #verifying = new Map<string, Promise<SettleVerdict>>();
  #advancing: Promise<Refused | null> | null = null;
  #advanceUntilMs = 0;
  /** A claim made since this memory began and not submitted yet: nothing of it can be out. */
  #fresh: { attempt: string; verified: Verified } | null = null;

  readonly #deliveries: Deliveries = {
    observation: (message) => this.env.CATALOG_QUEUE.send(message),
    audit: (message) => this.audit(message),
    credit: (message) => this.credit(message),
  };

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#rows = new SettlementRows(ctx.storage);
    this.#context = {
      rows: this.#rows,
      // Through the object, whose clock may be replaced later.
      clock: { nowMs: () => this.clock.nowMs() },
      network: (id) => this.#network(id),
      relayer: (settlement) => this.#relayer(settlement),
      noteRevert: (settlement) => this.#noteRevert(settlement),
      arm: () => this.#arm(),
      // Takes effect at once, alarm included; the output gate waits for its durability.
      forget: () => {
        void ctx.storage.deleteAll();
        this.#rows.forget();
      },
    };
  }

  /** Settles, joins or answers from what is stored. Waits at most `settleWaitMs`, counted from this call's start. */
  async settle(call: SettleCall): Promise<SettleAnswer> {
    const deadlineMs = this.clock.nowMs() + loadConfig(this.env).settleWaitMs;
    let settlement = this.#rows.read();
    if (!settlement) {
      const verdict = await this.#verifyOnce(call);
      if (!verdict.ok) return refused(verdict.reason);
      // Nodes this slow would leave a claim that nobody waits for, sent by an old verification.
      if (this.clock.nowMs() >= deadlineMs) return refused("unexpected_settle_error");
      // Read again and claimed in one turn: whoever comes first after its verification has the claim.
      settlement = this.#rows.read() ?? this.#claim(call, verdict);
    }
    const { fingerprint, purpose, life } = settlement;
    if (fingerprint !== call.fingerprint || purpose !== call.purpose) {
      return { success: false, reason: "duplicate_settlement", transaction: life.transaction };
    }
    return (await this.#advanceUntil(deadlineMs)) ?? this.#tell(call);
  }

  /** The record, for its own tenant; null reads for any. Makes nothing: an unknown id leaves no object. */
  show(tenant: string | null): SettlementRecord | null {
    const settlement = this.#rows.read();
    return settlement && (tenant === null || settlement.tenant === tenant)
      ? describeSettlement(settlement)
      : null;
  }

  /** Does at once what follows an outcome and is due. Answers whether what was paid is credited. */
  async attend(): Promise<boolean> {
    await this.alarm();
    return this.#rows.read()?.isCredited === true;
  }

  /** May come late, twice, or while a call waits: what is stored says what to do. */
  override async alarm(): Promise<void> {
    try {
      const settlement = this.#rows.read();
      if (settlement && isTerminal(settlement.life)) {
        await attendOutcome(this.#context, settlement, this.#deliveries);
      } else if (settlement) {
        await this.#advanceUntil(this.clock.nowMs() + ALARM_ADVANCE_MS);
      }
    } catch (error) {
      // An alarm that throws is repeated six times and then never again.
      logAlarm("settlement_alarm_failed", { object: this.ctx.id.name, cause: describeError(error) });
    }
    this.#arm();
  }

  #verifyOnce(call: SettleCall): Promise<SettleVerdict> {
    const running = this.#verifying.get(call.fingerprint);
    if (running) return running;
    const { payment, settlementId, fingerprint } = call;
    const network = this.#network(payment.network);
    const relayer = relayerOf(payment, settlementId, network.relayers());
    const verifying = verifyToSettle(payment, network, relayer, this.clock.nowMs()).finally(() =>
      this.#verifying.delete(fingerprint),
    );
    this.#verifying.set(fingerprint, verifying);
    return verifying;
  }

  /** One synchronous write: who claims, which relayer, the payment, a new attempt, and the alarm. */
  #claim(call: SettleCall, verified: Verified): Settlement {
    const nowMs = this.clock.nowMs();
    const { claimant, ...rest } = call;
    const { payment, settlementId } = rest;
    const attempt = toHex(crypto.getRandomValues(new Uint8Array(16)));
    const relayer = relayerOf(payment, settlementId, this.#network(payment.network).relayers());
    const settlement = this.#rows.create({ ...rest, attempt, relayer }, claimedBy(claimant), nowMs);
    void this.ctx.storage.setAlarm(nowMs + BACKSTOP_MS);
    this.#fresh = { attempt, verified };
    log("settlement_claimed", { settlementId });
    return settlement;
  }

  /** What this call is told when its waiting ends, stored in the turn in which the outcome is read. */
  #tell(call: SettleCall): SettleAnswer {
    const settlement = this.#rows.read();
    // Released in the moment in which this call's waiting ended.
    if (settlement?.fingerprint !== call.fingerprint) return refused("unexpected_settle_error");
    const { told, life } = tell(settlement.life, call.claimant);
    if (life !== settlement.life) this.#rows.saveLife(life, this.clock.nowMs());
    const { transaction } = life;
    switch (told) {
      case "success":
        return { success: true, transaction, isReplay: false };
      case "replayed_success":
        return { success: true, transaction, isReplay: true };
      case "duplicate":
        return { success: false, reason: "duplicate_settlement", transaction };
      case "pending":
        return { success: false, reason: "settlement_pending", transaction };
      case "failed":
        assert(life.failure, `settlement ${call.settlementId} says why it failed`);
        return { success: false, reason: failureReason(settlement.payment, life.failure), transaction };
    }
  }

  /**
   * Waits until the outcome or `untilMs` while the one course of `advance` runs, starting it if none does. Answers
   * the refusal when the claim was released.
   */
  async #advanceUntil(untilMs: number): Promise<Refused | null> {
    this.#advanceUntilMs = Math.max(this.#advanceUntilMs, untilMs);
    while (this.clock.nowMs() < untilMs) {
      const settlement = this.#rows.read();
      if (!settlement || isTerminal(settlement.life)) return null;
      this.#advancing ??= this.#keepAdvancing().finally(() => {
        this.#advancing = null;
      });
      const released = await within(untilMs - this.clock.nowMs(), this.#advancing);
      if (released) return released;
    }
    return null;
  }

  async #keepAdvancing(): Promise<Refused | null> {
    const leftMs = () => Math.max(0, this.#advanceUntilMs - this.clock.nowMs());
    while (leftMs() > 0) {
      const settlement = this.#rows.read();
      if (!settlement || isTerminal(settlement.life)) return null;
      const { settlementId, attempt } = settlement;
      const fresh = this.#fresh?.attempt === attempt ? this.#fresh.verified : null;
      this.#fresh = null;
      try {
        const released = await advance(this.#context, settlement, fresh, leftMs);
        if (released) return released;
        if (this.#rows.read() === settlement) await pause(IDLE_MS);
      } catch (error) {
        log("settlement_step_failed", { settlementId, cause: describeError(error) });
        await pause(RETRY_MS);
      }
    }
    return null;
  }

  #arm(): void {
    const settlement = this.#rows.read();
    if (!settlement) return;
    const atMs = nextLookMs(settlement, this.#rows.nextMessage(), this.clock.nowMs());
    void this.ctx.storage.setAlarm(atMs);
  }

  #network(id: string): Network {
    const network = loadConfig(this.env).networks.get(id);
    assert(network, `network ${id} of a settlement is configured`);
    return network;
  }

  /** A brake, not a record: one that is lost is made up for by the payer's next revert. */
  async #noteRevert({ settlementId, payment }: Settlement): Promise<void> {
    const { chainId, payer } = payment;
    const told = this.#network(payment.network)
      .relayers()
      .map((relayer) =>
        this.env.RELAYERS.getByName(relayerName(chainId, relayer)).noteRevert(settlementId, payer),
      );
    for (const result of await Promise.allSettled(told)) {
      if (result.status === "rejected") log("revert_not_noted", { cause: describeError(result.reason) });
    }
  }

  #relayer({ settlementId, attempt, relayer, payment }: Settlement): RelayerClient {
    const name = relayerName(payment.chainId, relayer);
    const stub = (): RelayerPort => this.env.RELAYERS.getByName(name);
    return new RelayerClient(stub, settlementId, attempt, payment);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The promise's value, or null after `ms`. */
function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), Math.max(0, ms));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
