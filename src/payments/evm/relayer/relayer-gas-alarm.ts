// Tells the operator that a relayer runs out of gas money, and says it once a while. It owns that memory; refusing is
// relayer-object.ts's.

import type { Address } from "viem";
import type { Clock } from "../../../platform/clock.ts";
import { logAlarm } from "../../../platform/log.ts";
import { costGwei, type Fees, isAffordable } from "./relayer-lane.ts";

/** Room for this many more transfers is the last moment to top up. */
const LOW_TRANSFERS = 200;
const TRANSFER_GAS = 100_000n;
const REPEAT_MS = 60_000;

type Level = "relayer_low_gas" | "relayer_no_gas";

export class RelayerGasAlarm {
  readonly #chainId: number;
  readonly #relayer: Address;
  readonly #clock: Clock;
  readonly #saidAtMs: Record<Level, number> = {
    relayer_low_gas: Number.NEGATIVE_INFINITY,
    relayer_no_gas: Number.NEGATIVE_INFINITY,
  };

  constructor(chainId: number, relayer: Address, clock: Clock) {
    this.#chainId = chainId;
    this.#relayer = relayer;
    this.#clock = clock;
  }

  /** For every balance that is read. */
  watch(balanceWei: bigint, fees: Fees): void {
    const wantedGwei = LOW_TRANSFERS * costGwei(TRANSFER_GAS, fees);
    if (!isAffordable(balanceWei, 0, wantedGwei)) this.#say("relayer_low_gas");
  }

  /** A submit was refused, or a node refused a transaction, for want of gas money. */
  refused(): void {
    this.#say("relayer_no_gas");
  }

  #say(level: Level): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#saidAtMs[level] < REPEAT_MS) return;
    this.#saidAtMs[level] = nowMs;
    logAlarm(level, { chainId: this.#chainId, relayer: this.#relayer });
  }
}
