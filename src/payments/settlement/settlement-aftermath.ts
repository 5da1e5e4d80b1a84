// What follows an outcome: its transaction is watched until no reorg can change it, its messages are delivered, and one
// day it is forgotten. Owns these effects; the alarm comes through here and nothing else does.

import type { Address, Hex } from "viem";
import { assert } from "../../platform/assert.ts";
import { describeError, log, logAlarm } from "../../platform/log.ts";
import { readProgress } from "../evm/chain-evidence.ts";
import type { StepProgress } from "../evm/relayer/relayer-port.ts";
import { rpcOf } from "../verify-payment.ts";
import { isExpectedTransfer } from "./proof.ts";
import { failureReason } from "./settle-reasons.ts";
import { type SettlementContext, take } from "./settlement-context.ts";
import type { Message, Settlement, SettlementRows } from "./settlement-rows.ts";
import { messageRetryMs, retentionEndMs } from "./settlement-schedule.ts";

/** What the catalog learns of a settled payment that carried an observation. May arrive twice, late or out of order. */
export interface SettledObservation {
  settlementId: string;
  settledAtMs: number;
  network: string;
  scheme: string;
  asset: string;
  payer: string;
  payTo: string;
  amount: string;
  transaction: string;
  /** As the claim brought it. */
  observation: unknown;
}

/** A payment into something: final, for a purpose of its own. */
export interface SettledCredit {
  settlementId: string;
  purpose: string;
  network: string;
  asset: Address;
  amountAtomic: bigint;
  finalAtMs: number;
}

/** How a settlement ended. */
export interface EndedSettlement {
  settlementId: string;
  tenant: string;
  purpose: string;
  state: "settled" | "failed";
  errorReason: string | null;
  network: string;
  asset: Address;
  /** What the seller asked for, in atomic units. */
  amount: string;
  payTo: Address;
  transaction: Hex | null;
  endedAtMs: number;
  /** As the claim brought it: opaque JSON. */
  audited: string;
}

/** Where messages go. Each may arrive twice; one that rejects is sent again later. */
export interface Deliveries {
  observation(message: SettledObservation): Promise<unknown>;
  audit(message: EndedSettlement): Promise<unknown>;
  credit(message: SettledCredit): Promise<unknown>;
}

/** Does what is due of a settlement that has its outcome. */
export async function attendOutcome(
  context: SettlementContext,
  settlement: Settlement,
  deliveries: Deliveries,
): Promise<void> {
  await deliverDue(context, deliveries);
  if (settlement.finalAtMs === null) {
    await watch(context, settlement);
    // What waited for finality.
    await deliverDue(context, deliveries);
  }
  const now = context.rows.read();
  if (now && context.clock.nowMs() >= retentionEndMs(now) && now.outbox.length === 0) context.forget();
}

async function deliverDue(context: SettlementContext, deliveries: Deliveries): Promise<void> {
  for (;;) {
    const message = context.rows.nextMessage();
    if (!message || message.dueAtMs > context.clock.nowMs()) return;
    await deliver(context, message, deliveries);
  }
}

/** A message that fails waits; the next one does not wait for it. */
async function deliver(
  { rows, clock }: SettlementContext,
  { kind, failures }: Message,
  deliveries: Deliveries,
): Promise<void> {
  const settlement = rows.read();
  assert(settlement, "a message is of a stored settlement");
  const { settlementId } = settlement;
  try {
    await send(kind, settlement, rows, deliveries);
    rows.deleteMessage(kind);
  } catch (error) {
    log("settlement_message_postponed", {
      settlementId,
      kind,
      failures: failures + 1,
      cause: describeError(error),
    });
    rows.postponeMessage(kind, clock.nowMs() + messageRetryMs(failures + 1));
  }
}

function send(
  kind: Message["kind"],
  settlement: Settlement,
  rows: SettlementRows,
  deliveries: Deliveries,
): Promise<unknown> {
  switch (kind) {
    case "observation":
      return deliveries.observation(observationOf(settlement, rows.observation()));
    case "audit":
      return deliveries.audit(endingOf(settlement));
    case "credit":
      return deliveries.credit(creditOf(settlement));
  }
}

function endingOf(settlement: Settlement): EndedSettlement {
  const { settlementId, tenant, purpose, audited, payment, life, outcomeAtMs, updatedAtMs } = settlement;
  const { network, asset, payTo, requirements } = payment;
  return {
    ...{ settlementId, tenant, purpose, audited, network, asset, payTo },
    amount: requirements.amount,
    state: life.state === "failed" ? "failed" : "settled",
    errorReason: life.failure && failureReason(payment, life.failure),
    transaction: life.transaction === "" ? null : life.transaction,
    endedAtMs: outcomeAtMs ?? updatedAtMs,
  };
}

function observationOf(settlement: Settlement, observation: string | null): SettledObservation {
  const { settlementId, payment, life, outcomeAtMs, updatedAtMs } = settlement;
  return {
    settlementId,
    settledAtMs: outcomeAtMs ?? updatedAtMs,
    network: payment.network,
    scheme: payment.scheme,
    asset: payment.asset,
    payer: payment.payer,
    payTo: payment.payTo,
    amount: payment.amountAtomic.toString(),
    transaction: life.transaction,
    observation: JSON.parse(observation ?? "null"),
  };
}

function creditOf({ settlementId, purpose, payment, finalAtMs }: Settlement): SettledCredit {
  assert(finalAtMs !== null, `settlement ${settlementId} is final before it is credited`);
  const { network, asset, amountAtomic } = payment;
  return { settlementId, purpose, network, asset, amountAtomic, finalAtMs };
}

/** After this long past its deadline a transaction that a reorg took away can come back no more. */
const GONE_FOR_GOOD_MS = 24 * 60 * 60 * 1_000;

async function watch(context: SettlementContext, settlement: Settlement): Promise<void> {
  const { settlementId, life, payment } = settlement;
  const transfer = await transferOf(context, settlement);
  if (!transfer) return;
  const { receipt, isFinal } = transfer;
  const isPaid =
    receipt?.status === "success" && receipt.logs.some((log) => isExpectedTransfer(log, payment));
  if (!isPaid && !life.isReorged) {
    logAlarm("settlement_reorged", { settlementId });
    take(context, settlement, { type: "vanished" });
  }
  const nowMs = context.clock.nowMs();
  const isGoneForGood = !isPaid && nowMs > Number(payment.validBeforeSeconds) * 1_000 + GONE_FOR_GOOD_MS;
  if ((isPaid && isFinal) || isGoneForGood) context.rows.saveFinal(isPaid, nowMs);
}

/** How the transaction that settled stands now: our relayer watches ours, another sender's is asked of the chain. */
async function transferOf(
  context: SettlementContext,
  settlement: Settlement,
): Promise<StepProgress | null | undefined> {
  const { payment, life } = settlement;
  assert(life.transaction !== "", "what settled without a transaction is final at once");
  const ours = await context.relayer(settlement).transfer(1, 0);
  if (ours?.hashes.includes(life.transaction)) return ours;
  const network = context.network(payment.network);
  return readProgress(rpcOf(network), life.transaction, network.finalityBlocks);
}
