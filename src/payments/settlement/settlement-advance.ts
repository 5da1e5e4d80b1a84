// One step of a settlement that has no outcome yet, chosen by its stored row alone: get the transfer to the relayer
// and its hash stored here, then wait for the chain and judge what it says. Owns these steps' effects; the first
// call, a repeat and the alarm all come through `advance`.

import type { Hex } from "viem";
import type { Network } from "../../config.ts";
import { assert } from "../../platform/assert.ts";
import { logAlarm } from "../../platform/log.ts";
import { readChainEvidence, readProgress } from "../evm/chain-evidence.ts";
import type { MinedReceipt } from "../evm/relayer/relayer-port.ts";
import { submitTransfer } from "../evm/submit-transfer.ts";
import { type SettleVerdict, verifyToSettle } from "../evm/verify-to-settle.ts";
import { rpcOf } from "../verify-payment.ts";
import { judgeChain, judgeOwn } from "./proof.ts";
import { declineReason } from "./settle-reasons.ts";
import { end, type Refused, refused, release, type SettlementContext, take } from "./settlement-context.ts";
import type { Settlement } from "./settlement-rows.ts";

export type Verified = Extract<SettleVerdict, { ok: true }>;

/** Between two looks at a chain that had nothing new. */
const PAUSE_MS = 2_000;

/**
 * Takes one step. Answers the refusal when it released the claim, else null; the row says how far it came.
 *
 * @param fresh - the verification behind a claim of which nothing was submitted yet; null after that, and after
 *   memory was lost.
 * @param leftMs - how long this step may wait.
 * @throws when the relayer's reply was lost: the same step taken again goes on from what the relayer stored.
 */
export async function advance(
  context: SettlementContext,
  settlement: Settlement,
  fresh: Verified | null,
  leftMs: () => number,
): Promise<Refused | null> {
  if (settlement.life.state === "broadcast") return awaitProof(context, settlement, leftMs);
  const { scheme, amountAtomic } = settlement.payment;
  if (scheme !== "upto" || amountAtomic !== 0n) return send(context, settlement, fresh, leftMs);
  end(context, settlement, { type: "charged_nothing", amountAtomic }, true);
  return null;
}

async function send(
  context: SettlementContext,
  settlement: Settlement,
  fresh: Verified | null,
  leftMs: () => number,
): Promise<Refused | null> {
  const { payment } = settlement;
  const relayer = context.relayer(settlement);
  // After a crash or a lost reply the relayer knows what is out.
  const known = fresh ? undefined : await relayer.transfer(1, 0);
  if (known) return storeHash(context, settlement, known.hashes);

  const network = context.network(payment.network);
  const verdict =
    fresh ?? (await verifyToSettle(payment, network, settlement.relayer, context.clock.nowMs()));
  if (!verdict.ok) return cancel(context, settlement, refused(verdict.reason));
  const submitted = await submitTransfer({
    ...verdict,
    allowedFactories: network.allowedFactories,
    submit: (step, call) => relayer.submit(step, call),
    waitForDeployment: () => relayer.deployment(leftMs()),
  });
  switch (submitted.kind) {
    case "sent":
      return storeHash(context, settlement, [submitted.hash]);
    case "deploying":
      return null;
    case "declined": {
      const { answer } = submitted;
      const refusal = refused(declineReason(payment, answer), answer.retryAfterSeconds);
      // The only submit of a fresh claim wrote nothing, and no other of it is on its way.
      return fresh ? release(context, settlement, refusal) : cancel(context, settlement, refusal);
    }
    case "refused":
      return cancel(context, settlement, refused(submitted.reason));
    case "unanswered":
      return cancel(context, settlement, refused("unexpected_settle_error"));
  }
}

/** Stored here before anybody waits for it. */
function storeHash(context: SettlementContext, settlement: Settlement, hashes: readonly Hex[]): null {
  const transaction = hashes.at(-1);
  assert(transaction, "a transfer that the relayer took has a hash");
  take(context, settlement, { type: "sent", transaction });
  return null;
}

/** Releases the claim once the relayer promises to send nothing of it; else what it sent is what counts. */
async function cancel(
  context: SettlementContext,
  settlement: Settlement,
  refusal: Refused,
): Promise<Refused | null> {
  const answer = await context.relayer(settlement).cancel();
  return answer.cancelled
    ? release(context, settlement, refusal)
    : storeHash(context, settlement, answer.hashes);
}

async function awaitProof(
  context: SettlementContext,
  settlement: Settlement,
  leftMs: () => number,
): Promise<null> {
  const { payment, settlementId, life } = settlement;
  const network = context.network(payment.network);
  const { confirmations } = network;
  // Past its deadline the transfer cannot be mined any more: only the proof of that is missing.
  const isDead = context.clock.nowMs() / 1_000 > Number(payment.validBeforeSeconds);
  const transfer =
    (await context.relayer(settlement).transfer(confirmations, isDead ? 0 : leftMs())) ??
    (await readForgotten(settlement, network));
  if (!transfer) return pause(Math.min(PAUSE_MS, leftMs()));
  const own = judgeOwn(payment, transfer, confirmations);
  if (own.kind === "settled") {
    end(context, settlement, { type: "proved", transaction: own.transaction }, transfer.isFinal);
    return null;
  }
  const newest = transfer.hashes.at(-1);
  if (newest !== undefined && newest !== life.transaction) {
    take(context, settlement, { type: "replaced", transaction: newest });
  }
  if (own.kind === "unproven") logAlarm("settlement_without_transfer", { settlementId });
  // The relayer waited as long as it was asked to: nothing but time is missing.
  if (own.kind === "waiting" && !transfer.isAbandoned && !isDead) return null;
  const isEnded = await askChain(context, settlement, own.kind === "reverted" ? own.receipt : null);
  return isEnded ? null : pause(Math.min(PAUSE_MS, leftMs()));
}

/** Relayers forget what has long been final: an object that was never woken in between asks the chain itself. */
async function readForgotten({ settlementId, life }: Settlement, network: Network) {
  assert(life.transaction !== "", `settlement ${settlementId} is broadcast with a hash`);
  logAlarm("settlement_unknown_to_relayer", { settlementId });
  return readProgress(rpcOf(network), life.transaction, network.finalityBlocks);
}

/** Ours did not do it: did another transaction, or can none any more? */
async function askChain(
  context: SettlementContext,
  settlement: Settlement,
  own: MinedReceipt | null,
): Promise<boolean> {
  const { payment, life } = settlement;
  const network = context.network(payment.network);
  const { confirmations, finalityBlocks } = network;
  const evidence = await readChainEvidence(rpcOf(network), payment, finalityBlocks, own);
  if (!evidence) return false;
  const judgement = judgeChain(payment, own, evidence, confirmations);
  switch (judgement.kind) {
    case "settled":
      // Whether it is final is for the watch to say: the relayer knows nothing of this transaction.
      end(context, settlement, { type: "proved", transaction: judgement.transaction }, false);
      return true;
    case "failed": {
      const { failure } = judgement;
      const transaction = judgement.transaction || life.transaction;
      end(context, settlement, { type: "disproved", failure, transaction }, true);
      if (own) await context.noteRevert(settlement);
      return true;
    }
    case "open":
      return false;
  }
}

function pause(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), Math.max(0, ms)));
}
