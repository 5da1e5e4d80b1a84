// Settle's own verification: every check of verify again, as the relayer that will send the transfer, and the gas of
// that transfer estimated in the same round trip. Nothing is stored.

import type { Address, Hex } from "viem";
import type { Network } from "../../config.ts";
import type { Payment } from "../payment.ts";
import type { Reason } from "../reasons.ts";
import { rpcOf, verifyPayment } from "../verify-payment.ts";
import type { JsonRpc, RpcAnswer, RpcCall } from "./json-rpc.ts";
import { type ContractRead, predictTransfer } from "./predict-reads.ts";
import { clockOverride, type PaymentReader } from "./reader.ts";

/** Gas that the node estimated for one call. */
export interface GasEstimate {
  to: Address;
  data: Hex;
  gas: bigint;
}

export type SettleVerdict =
  /** `payment` as it is to be sent: the wrapper of a wallet that stands already is taken off. */
  | { ok: true; payment: Payment; reader: PaymentReader; isPlain: boolean; estimate: GasEstimate | null }
  | { ok: false; reason: Reason };

export async function verifyToSettle(
  payment: Payment,
  network: Network,
  relayer: Address,
  nowMs: number,
): Promise<SettleVerdict> {
  const rpc = rpcOf(network);
  // Of a wallet that its factory must deploy first this estimate fails, and there is none.
  const transfer = predictTransfer(payment);
  const verdict = await verifyPayment(payment, {
    network,
    rpc,
    nowMs,
    purpose: "settle",
    relayer,
    extraCalls: [estimateCall(transfer, relayer)],
  });
  if (!verdict.ok) {
    const isSilence = verdict.reason === "unexpected_verify_error";
    return { ok: false, reason: isSilence ? "unexpected_settle_error" : verdict.reason };
  }
  const { reader, isPlain, payment: checked } = verdict;
  const [answer] = await reader.extraAnswers;
  const gas = gasOf(answer) ?? (await estimateAtClock(rpc, reader, transfer, relayer, nowMs));
  const estimate = gas === null ? null : { ...transfer, gas };
  return { ok: true, payment: checked, reader, isPlain, estimate };
}

/** Where the transfer works only at our clock's time, an estimate at the last block's time has failed. */
async function estimateAtClock(
  rpc: JsonRpc,
  reader: PaymentReader,
  transfer: ContractRead,
  relayer: Address,
  nowMs: number,
): Promise<bigint | null> {
  if (!reader.runsAheadOfHead()) return null;
  const { method, params } = estimateCall(transfer, relayer);
  const override = clockOverride(Math.floor(nowMs / 1_000));
  return gasOf(await rpc.call(method, [...params, {}, override]));
}

function estimateCall({ to, data }: ContractRead, from: Address): RpcCall {
  return { method: "eth_estimateGas", params: [{ from, to, data }, "latest"] };
}

function gasOf(answer: RpcAnswer | undefined): bigint | null {
  if (!answer?.ok || typeof answer.result !== "string") return null;
  return /^0x[0-9a-fA-F]{1,16}$/.test(answer.result) ? BigInt(answer.result) : null;
}
