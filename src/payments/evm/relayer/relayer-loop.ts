// The rhythm of one relayer: one poll at a time while somebody waits or something is due, an alarm behind it. It owns
// the timers, the alarm and the waiters of one object, and runs on the machine's time.

import { systemClock } from "../../../platform/clock.ts";
import { describeError, logAlarm } from "../../../platform/log.ts";
import { type Lane, type PollReport, poll } from "./relayer-poll.ts";
import type { StepProgress } from "./relayer-port.ts";
import { progressOf } from "./relayer-progress.ts";
import { forgetOld, nextForgetMs } from "./relayer-retention.ts";
import type { RelayerRows } from "./relayer-rows.ts";
import { RelayerWaiters, type Waited } from "./relayer-waiters.ts";

/** Polls start at least this far apart while nothing new is to be sent: the one RPC cost that does not grow with work. */
export const POLL_MS = 250;
/** What was just submitted waits this long for others to travel with: a block may come at any moment. */
export const GATHER_MS = 100;
/** A node that does not answer is asked ever less often, down to this. */
const POLL_MAX_MS = 2_000;
/** Should memory be lost while something is out, the alarm takes the loop up again. */
const BACKSTOP_MS = 10_000;
/** Everything is mined and only finality is awaited. */
const WATCH_MS = 30_000;
/** A send due within this is waited for in memory; a later one is the alarm's. */
const SOON_MS = 1_000;

export class RelayerLoop {
  readonly #rows: RelayerRows;
  /** Null while the relayer's network is not configured. */
  readonly #openLane: () => Lane | null;
  readonly #storage: DurableObjectStorage;
  readonly #waiters = new RelayerWaiters();
  #polling: Promise<void> | null = null;
  #timer: { atMs: number; id: ReturnType<typeof setTimeout> } | null = null;
  #polledAtMs = 0;
  /** Submitted since the last poll began. */
  #hasNew = false;
  #failedPolls = 0;
  #alarmAtMs = Number.POSITIVE_INFINITY;

  constructor(rows: RelayerRows, openLane: () => Lane | null, storage: DurableObjectStorage) {
    this.#rows = rows;
    this.#openLane = openLane;
    this.#storage = storage;
  }

  /** Something is to be sent: a poll as soon as the rhythm allows, and the alarm should that be lost. */
  wake(): void {
    this.#hasNew = true;
    this.#pollSoon();
  }

  #pollSoon(): void {
    this.#arm(BACKSTOP_MS);
    this.#pollAt(this.#polledAtMs + this.#rhythmMs());
  }

  #rhythmMs(): number {
    if (this.#failedPolls > 0) return Math.min(POLL_MAX_MS, POLL_MS * 2 ** this.#failedPolls);
    return this.#hasNew ? GATHER_MS : POLL_MS;
  }

  /** Resolves with the attempt's progress when its newest step is decided at this depth; null after `timeoutMs`. */
  wait(waited: Waited, timeoutMs: number): Promise<StepProgress[] | null> {
    const woken = this.#waiters.wait(waited, timeoutMs);
    this.#pollSoon();
    return woken;
  }

  /** The alarm fired: a poll, some tidying, and the next alarm. Never throws, for after some failures nobody calls. */
  async alarm(): Promise<void> {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    try {
      await this.#turn();
      forgetOld(this.#rows, this.#nowMs());
    } catch (error) {
      logAlarm("relayer_alarm_failed", { error: describeError(error) });
    } finally {
      this.rest();
    }
  }

  /** Sets the alarm that what is stored asks for; none when everything is done and forgotten. */
  rest(): void {
    const forgetAtMs = nextForgetMs(this.#rows);
    if (this.#rows.hasWork()) this.#arm(BACKSTOP_MS);
    else if (this.#rows.slots.hasUnfinal()) this.#arm(WATCH_MS);
    else if (forgetAtMs !== null) this.#arm(Math.max(WATCH_MS, forgetAtMs - this.#nowMs()));
  }

  #arm(delayMs: number): void {
    const atMs = systemClock.nowMs() + delayMs;
    if (this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.#storage.setAlarm(atMs);
  }

  #pollAt(atMs: number): void {
    if (this.#polling || (this.#timer && this.#timer.atMs <= atMs)) return;
    this.#stopTimer();
    const id = setTimeout(() => void this.#turn(), Math.max(0, atMs - systemClock.nowMs()));
    this.#timer = { atMs, id };
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer.id);
    this.#timer = null;
  }

  /** One poll and what follows from it; joins the one that runs. */
  #turn(): Promise<void> {
    this.#polling ??= this.#pollOnce().then((isMoreDue) => {
      this.#polling = null;
      this.#continue(isMoreDue);
    });
    return this.#polling;
  }

  /** Answers whether more was due than one request holds. Never throws. */
  async #pollOnce(): Promise<boolean> {
    this.#stopTimer();
    this.#polledAtMs = systemClock.nowMs();
    this.#hasNew = false;
    try {
      const lane = this.#openLane();
      if (lane === null) return false;
      const report = await poll(lane);
      this.#failedPolls = report.isAnswered ? 0 : this.#failedPolls + 1;
      this.#wakeWaiters(report, lane.view.standingHeight);
      return report.isMoreDue;
    } catch (error) {
      this.#failedPolls++;
      logAlarm("relayer_poll_failed", { relayer: this.#rows.laneName(), error: describeError(error) });
      return false;
    }
  }

  #continue(isMoreDue: boolean): void {
    const soonestMs = this.#rows.slots.soonestSendMs();
    const isDueSoon = soonestMs !== null && soonestMs <= this.#nowMs() + SOON_MS;
    if (this.#openLane() === null || (this.#waiters.isEmpty && !isDueSoon)) {
      this.rest();
      return;
    }
    this.#arm(BACKSTOP_MS);
    this.#pollAt(this.#polledAtMs + (isMoreDue ? 0 : this.#rhythmMs()));
  }

  #wakeWaiters({ changedIntents, hasDepthGrown }: PollReport, height: number | null): void {
    const read = ({ settlementId, attempt }: Waited) => progressOf(this.#rows, settlementId, attempt, height);
    for (const intentId of changedIntents) {
      const { settlement_id, attempt } = this.#rows.intents.get(intentId);
      this.#waiters.wakeAttempt(settlement_id, attempt, read);
    }
    if (hasDepthGrown) this.#waiters.wakeDeep(read);
  }

  #nowMs(): number {
    return this.#openLane()?.clock.nowMs() ?? systemClock.nowMs();
  }
}
