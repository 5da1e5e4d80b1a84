// What a submit must know of the chain before it may promise anything: fees, balance, the account's nonces, and a
// gas estimate where the caller brings none. It owns these reads: at most one request is out at a time, everyone who
// asks meanwhile shares the next, and what was read serves for a few seconds. Nothing here is written down.

import type { Address, Hex } from "viem";
import type { Clock } from "../../../platform/clock.ts";
import type { JsonRpc, RpcAnswer, RpcCall } from "../json-rpc.ts";
import {
  type EstimateReading,
  readCount,
  readEstimate,
  readHeaderField,
  readQuantity,
} from "./relayer-answers.ts";
import type { RelayerGasAlarm } from "./relayer-gas-alarm.ts";
import { areCredible, type ChainNonces, type Fees, feesFor } from "./relayer-lane.ts";

/** Two blocks of most networks: fees carry a margin for more, and promised gas is counted on top of the balance. */
const FRESH_MS = 4_000;
/** What waits in the pool needs current fees too, lest it be raised to yesterday's. */
const OLD_MS = 10_000;
/** Together with the shared reads, one request of a hundred calls. */
const ESTIMATES_PER_REQUEST = 90;

export interface Readings {
  fees: Fees;
  balanceWei: bigint;
  nonces: ChainNonces;
}

export interface CallToEstimate {
  to: Address;
  data: Hex;
}

interface Asker {
  call: CallToEstimate | null;
  answer: (reading: { readings: Readings | null; estimate: EstimateReading }) => void;
}

/** Nothing was asked about a call. */
export const NO_ESTIMATE: EstimateReading = { kind: "unanswered" };

export class RelayerReadings {
  readonly #rpc: JsonRpc;
  readonly #address: Address;
  readonly #clock: Clock;
  readonly #gasAlarm: RelayerGasAlarm;
  #money: { fees: Fees; balanceWei: bigint; readAtMs: number } | null = null;
  #nonces: ChainNonces | null = null;
  #askers: Asker[] = [];
  #isAsking = false;

  constructor(rpc: JsonRpc, address: Address, clock: Clock, gasAlarm: RelayerGasAlarm) {
    this.#rpc = rpc;
    this.#address = address;
    this.#clock = clock;
    this.#gasAlarm = gasAlarm;
  }

  /** Fees as last read, however old; null before the first read. */
  get lastFees(): Fees | null {
    return this.#money?.fees ?? null;
  }

  /** Fees were never read, or so long ago that no transaction should be repriced by them. */
  get isOld(): boolean {
    return this.#money === null || this.#clock.nowMs() - this.#money.readAtMs > OLD_MS;
  }

  /** The account is used elsewhere: the next allocation asks the chain again. */
  forgetNonces(): void {
    this.#nonces = null;
  }

  /** Gas was spent or refused: the next submit reads the balance again. */
  forgetMoney(): void {
    if (this.#money) this.#money.readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Current readings, and the estimate of `call` if one is given. `readings` is null when the chain did not answer. */
  async current(
    call: CallToEstimate | null,
  ): Promise<{ readings: Readings | null; estimate: EstimateReading }> {
    const readings = this.fresh();
    if (readings && call === null) return { readings, estimate: NO_ESTIMATE };
    return new Promise((answer) => {
      this.#askers.push({ call, answer });
      if (!this.#isAsking) void this.#askAll();
    });
  }

  /** Calls that refresh fees and balance, for a request that is made anyway; `absorb` takes their answers. */
  moneyCalls(): RpcCall[] {
    return [
      { method: "eth_getBlockByNumber", params: ["latest", false] },
      { method: "eth_maxPriorityFeePerGas", params: [] },
      { method: "eth_getBalance", params: [this.#address, "latest"] },
    ];
  }

  absorb(answers: readonly (RpcAnswer | undefined)[]): void {
    const [head, tipAnswer, balanceAnswer] = answers;
    const baseFee = readHeaderField(head, "baseFeePerGas");
    const tip = tipAnswer?.ok ? readQuantity(tipAnswer.result) : null;
    const balanceWei = balanceAnswer?.ok ? readQuantity(balanceAnswer.result) : null;
    if (baseFee === null || tip === null || balanceWei === null) return;
    const fees = feesFor(baseFee, tip);
    this.#money = { fees, balanceWei, readAtMs: this.#clock.nowMs() };
    this.#gasAlarm.watch(balanceWei, fees);
  }

  /** What was read a moment ago and still serves; null when the chain must be asked. */
  fresh(): Readings | null {
    if (this.#money === null || this.#nonces === null) return null;
    if (this.#clock.nowMs() - this.#money.readAtMs > FRESH_MS) return null;
    return { fees: this.#money.fees, balanceWei: this.#money.balanceWei, nonces: this.#nonces };
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#askers.length > 0) await this.#askOnce();
    } finally {
      this.#isAsking = false;
    }
  }

  async #askOnce(): Promise<void> {
    const askers = this.#askers.splice(0, ESTIMATES_PER_REQUEST);
    const estimates = askers.flatMap(({ call }) => (call === null ? [] : this.#estimateCall(call)));
    const shared = this.fresh() ? [] : [...this.moneyCalls(), ...this.#nonceCalls()];
    const answers = await this.#rpc.batch([...shared, ...estimates]);
    if (shared.length > 0) {
      this.absorb(answers);
      this.#absorbNonces(answers.slice(this.moneyCalls().length));
    }
    const readings = this.fresh();
    let next = shared.length;
    for (const { call, answer } of askers) {
      const reply = call === null ? undefined : answers[next++];
      answer({ readings, estimate: reply ? readEstimate(reply) : NO_ESTIMATE });
    }
  }

  #estimateCall({ to, data }: CallToEstimate): RpcCall {
    return { method: "eth_estimateGas", params: [{ from: this.#address, to, data }] };
  }

  #nonceCalls(): RpcCall[] {
    return ["latest", "pending"].map((tag) => ({
      method: "eth_getTransactionCount",
      params: [this.#address, tag],
    }));
  }

  #absorbNonces([latest, waiting]: (RpcAnswer | undefined)[]): void {
    const mined = readCount(latest);
    const pending = readCount(waiting);
    if (mined === null || pending === null || !areCredible({ mined, pending })) return;
    this.#nonces ??= { mined, pending };
  }
}
