// RelayerObject: one gas-paying account on one chain, named `<chain id>:<address in lower case>`. It owns the
// account's nonce: settlements submit calls, it stores each as an intent, signs, sends and watches until the chain has
// mined it. Storage is the truth; memory holds only timers, waiters and what was last read of the chain.
//
// It never holds up other calls while it waits for a node, and it answers nothing that is not stored yet.

import { DurableObject } from "cloudflare:workers";
import type { Address } from "viem";
import { type Env, loadConfig } from "../../../config.ts";
import { assert } from "../../../platform/assert.ts";
import { type Clock, systemClock } from "../../../platform/clock.ts";
import { log, logAlarm } from "../../../platform/log.ts";
import { JsonRpc } from "../json-rpc.ts";
import { RelayerGasAlarm } from "./relayer-gas-alarm.ts";
import { costGwei, gasLimitFor, isAffordable } from "./relayer-lane.ts";
import { RelayerLoop } from "./relayer-loop.ts";
import { pausedUntilMs, REVERTS_MAX } from "./relayer-payer-pause.ts";
import type { Lane } from "./relayer-poll.ts";
import type { CancelAnswer, RelayerPort, StepProgress, SubmitAnswer, SubmitRequest } from "./relayer-port.ts";
import { isDecided, progressOf } from "./relayer-progress.ts";
import { NO_ESTIMATE, RelayerReadings } from "./relayer-readings.ts";
import { RelayerRows } from "./relayer-rows.ts";
import type { IntentRow } from "./relayer-schema.ts";
import { signIntent } from "./relayer-signing.ts";
import { allocate } from "./relayer-slots.ts";

/** An attempt at a node ends after this; a poll that hangs delays everyone. */
const RPC_ATTEMPT_MS = 3_000;
const RPC_TOTAL_MS = 6_000;

const RETRY_BUSY_SECONDS = 2;
const RETRY_RPC_SECONDS = 2;
const RETRY_NO_GAS_SECONDS = 60;

type Refusal = Extract<SubmitAnswer, { ok: false }>;

export class RelayerObject extends DurableObject<Env> implements RelayerPort {
  /** Replaced by tests to move this object's time. Timers and alarms run on the machine's. */
  clock: Clock = systemClock;
  readonly #rows: RelayerRows;
  readonly #loop: RelayerLoop;
  #lane: Lane | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#rows = new RelayerRows(ctx.storage);
    this.#loop = new RelayerLoop(this.#rows, () => this.#openLane(), ctx.storage);
  }

  /**
   * Promises to send the call, or refuses before anything is written. The order: known already; limits; what must be
   * read of the chain; then one synchronous write of the intent, which is the allocation of its nonce; signing from
   * what was written; the signed bytes stored; the answer. Sending is the loop's.
   */
  async submit(request: SubmitRequest): Promise<SubmitAnswer> {
    const lane = this.#openLane();
    const early = this.#known(request);
    if (early) return this.#answer(lane, early);
    if (lane === null || lane.key === null) {
      logAlarm("relayer_not_configured", { relayer: this.#rows.laneName() });
      return refuse("busy", RETRY_NO_GAS_SECONDS);
    }
    const refusal = this.#overLimits(lane, request);
    if (refusal) return refusal;

    // An estimate from before the authorization died proves nothing: then the node is asked.
    const isDead = this.clock.nowMs() / 1_000 >= request.validBeforeSeconds;
    const given = isDead ? null : request.call.estimatedGas;
    const fresh = given === null ? null : lane.readings.fresh();
    const { readings, estimate } = fresh
      ? { readings: fresh, estimate: NO_ESTIMATE }
      : await lane.readings.current(given === null ? request.call : null);

    // Others ran while the chain was asked. From here to the write none does: what is checked is what is written upon.
    const late = fresh ? null : (this.#known(request) ?? this.#overLimits(lane, request));
    if (late) return this.#answer(lane, late);
    if (estimate.kind === "reverts") return refuse("would_revert", 0);
    const needed = given ?? (estimate.kind === "gas" ? estimate.gas : null);
    if (readings === null || needed === null) return refuse("rpc_unavailable", RETRY_RPC_SECONDS);
    const gas = gasLimitFor(needed, request.call.gasCap);
    if (gas === null) return refuse("would_revert", 0);
    const cost = costGwei(gas, readings.fees);
    if (!isAffordable(readings.balanceWei, this.#rows.slots.reservedGwei(), cost)) {
      lane.gasAlarm.refused();
      return refuse("no_gas", RETRY_NO_GAS_SECONDS);
    }
    const { settlementId, attempt, step, payer, validBeforeSeconds } = request;
    const { to, data, gasCap } = request.call;
    const intent = { settlementId, attempt, step, payer, to, data, gasCap, validBeforeSeconds };
    const offer = { gas, fees: readings.fees };
    const nonce = this.#rows.write(() =>
      allocate(this.#rows, intent, offer, readings.nonces, this.clock.nowMs()),
    );
    log("relayer_intent", { chainId: lane.chainId, settlementId, step, nonce });
    const stored = this.#known(request);
    assert(stored, "an intent just written is found");
    return this.#answer(lane, stored);
  }

  /** A tombstone when no transfer was promised for this attempt, else its hashes that are or may be out. */
  async cancel(settlementId: string, attempt: string): Promise<CancelAnswer> {
    const lane = this.#openLane();
    const transfer = this.#rows.intents.find(settlementId, attempt, "transfer");
    if (!transfer) {
      this.#rows.addTombstone(settlementId, attempt, this.clock.nowMs());
      this.#loop.rest();
      return { cancelled: true };
    }
    return { cancelled: false, hashes: signIntent(this.#rows, transfer, lane) };
  }

  async noteRevert(settlementId: string, payer: Address): Promise<void> {
    this.#rows.addRevert(settlementId, payer, this.clock.nowMs());
  }

  /**
   * Answers the attempt's steps once the newest of them has a receipt `depth` deep or is given up, or after
   * `timeoutMs`; at once for an attempt that is not known, with no steps.
   */
  async waitFor(
    settlementId: string,
    attempt: string,
    depth: number,
    timeoutMs: number,
  ): Promise<StepProgress[]> {
    const lane = this.#openLane();
    const now = this.#progress(settlementId, attempt);
    if (lane === null || timeoutMs <= 0 || isDecided(now, depth)) return now;
    const decided = await this.#loop.wait({ settlementId, attempt, depth }, timeoutMs);
    return decided ?? this.#progress(settlementId, attempt);
  }

  /** The backstop: takes the loop up after memory was lost, watches what is not final, forgets what is old. */
  override async alarm(): Promise<void> {
    await this.#loop.alarm();
  }

  /** The lane as its name and the configuration say; null while its network is not configured. */
  #openLane(): Lane | null {
    if (this.#lane) return this.#lane;
    const name = this.#rows.laneName() ?? this.ctx.id.name;
    assert(name, "a relayer is reached by its name");
    const [chain, address] = name.split(":") as [string, Address];
    const chainId = Number(chain);
    const network = loadConfig(this.env).networks.get(`eip155:${chainId}`);
    if (network === undefined) return null;
    this.#rows.nameLane(name);
    const position = network.relayers().findIndex((relayer) => relayer.toLowerCase() === address);
    const key = network.relayerKeys[position] ?? null;
    const rpc = new JsonRpc({
      rpcUrls: network.rpcUrls,
      chainId,
      attemptTimeoutMs: RPC_ATTEMPT_MS,
      totalTimeoutMs: RPC_TOTAL_MS,
    });
    // Through the object, whose clock may be replaced later.
    const clock: Clock = { nowMs: () => this.clock.nowMs() };
    const gasAlarm = new RelayerGasAlarm(chainId, address, clock);
    const readings = new RelayerReadings(rpc, address, clock, gasAlarm);
    const view = { height: null, standingHeight: null, minedCount: 0, watchedAtMs: 0, isUnresolved: true };
    const rows = this.#rows;
    this.#lane = { chainId, address, key, network, rows, rpc, readings, gasAlarm, clock, view };
    return this.#lane;
  }

  /** What an earlier submit or cancel of this attempt left behind. */
  #known({ settlementId, attempt, step, call }: SubmitRequest): IntentRow | Refusal | null {
    const intent = this.#rows.intents.find(settlementId, attempt, step);
    if (intent) {
      const isSame = intent.to_address === call.to.toLowerCase() && intent.data === call.data.toLowerCase();
      assert(isSame, `step ${step} of settlement ${settlementId} keeps its call`);
      return intent;
    }
    return this.#rows.isTombstoned(settlementId, attempt) ? refuse("cancelled", 0) : null;
  }

  #overLimits({ network }: Lane, { payer }: SubmitRequest): Refusal | null {
    const pausedMs = pausedUntilMs(this.#rows.newestRevertsMs(payer, REVERTS_MAX)) - this.clock.nowMs();
    if (pausedMs > 0) return refuse("payer_paused", Math.ceil(pausedMs / 1_000));
    const { total, ofPayer } = this.#rows.intents.countWaiting(payer);
    const isOver = total >= network.maxQueued || ofPayer >= Math.floor(network.maxQueued / 2);
    return isOver ? refuse("busy", RETRY_BUSY_SECONDS) : null;
  }

  /** Signs what is not signed, and answers once the bytes are stored. */
  #answer(lane: Lane | null, stored: IntentRow | Refusal): SubmitAnswer {
    if ("ok" in stored) return stored;
    const hash = signIntent(this.#rows, stored, lane).at(-1);
    assert(hash, `intent ${stored.id} is signed`);
    this.#loop.wake();
    return { ok: true, hash };
  }

  #progress(settlementId: string, attempt: string): StepProgress[] {
    return progressOf(this.#rows, settlementId, attempt, this.#lane?.view.standingHeight ?? null);
  }
}

function refuse(reason: Refusal["reason"], retryAfterSeconds: number): Refusal {
  return { ok: false, reason, retryAfterSeconds };
}
