// What the parts of a settlement's object share: its rows, its time, and how to reach networks and relayers. It owns
// the one way in which a settlement's life is changed: the machine is asked, and what it says is stored.

import type { Network } from "../../config.ts";
import { assert } from "../../platform/assert.ts";
import type { Clock } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import type { RelayerClient } from "../evm/relayer/relayer-client.ts";
import type { SettleAnswer } from "./settle-payment.ts";
import type { Settlement, SettlementRows } from "./settlement-rows.ts";
import { type SettlementEvent, type SettlementLife, step } from "./settlement-states.ts";

export interface SettlementContext {
  rows: SettlementRows;
  clock: Clock;
  network(id: string): Network;
  relayer(settlement: Settlement): RelayerClient;
  /** Tells the network's relayers of a payer whose transfer reverted. Never rejects. */
  noteRevert(settlement: Settlement): Promise<void>;
  /** Sets the alarm for what the stored row asks for next. */
  arm(): void;
  /** Deletes everything that is stored, the alarm included, at once. */
  forget(): void;
}

export type Refused = Extract<SettleAnswer, { success: false }>;

export function refused(reason: Refused["reason"], retryAfterSeconds = 0): Refused {
  const refusal: Refused = { success: false, reason, transaction: "" };
  return retryAfterSeconds > 0 ? { ...refusal, retryAfterSeconds } : refusal;
}

/** Stores a step that is no outcome. */
export function take(context: SettlementContext, settlement: Settlement, event: SettlementEvent): void {
  const life = lifeAfter(context, settlement, event);
  assert(life, `${event.type} keeps the settlement`);
  context.rows.saveLife(life, context.clock.nowMs());
  log("settlement_step", { settlementId: settlement.settlementId, step: event.type, state: life.state });
}

/** Stores the outcome and what must follow it, in one write. */
export function end(
  context: SettlementContext,
  settlement: Settlement,
  event: SettlementEvent,
  isFinal: boolean,
): void {
  const life = lifeAfter(context, settlement, event);
  assert(life, `${event.type} keeps the settlement`);
  context.rows.saveOutcome(life, isFinal, context.clock.nowMs());
  context.arm();
  log("settlement_ended", { settlementId: settlement.settlementId, step: event.type, state: life.state });
}

/** Lets the claim go: nothing of it was sent, and nothing can be. */
export function release(context: SettlementContext, settlement: Settlement, refusal: Refused): Refused {
  const life = lifeAfter(context, settlement, { type: "released" });
  assert(life === null, "a released settlement is gone");
  context.forget();
  log("settlement_released", { settlementId: settlement.settlementId, reason: refusal.reason });
  return refusal;
}

/** The stored life, not the caller's copy: a call may have given up its claim since that was read. */
function lifeAfter(
  { rows }: SettlementContext,
  { settlementId }: Settlement,
  event: SettlementEvent,
): SettlementLife | null {
  const stored = rows.read();
  assert(stored, `settlement ${settlementId} is stored`);
  const next = step(stored.life, event);
  assert(next.ok, `settlement ${settlementId}: ${next.ok ? "" : next.refused}`);
  return next.life;
}
