// May this payment be settled? Terms first, without the chain; then the published mechanism over a reader that asked
// the chain for everything at once. The usual payment has a shorter path of our own over the same answers. Owns no
// state and stores nothing: it runs in the nearest isolate, and again in a settlement's object. The reasons and their
// order are the mechanism's; only what is ours alone (asset, the client's copy, minimum) is judged before.

import type { Address } from "viem";
import { JsonRpc, type RpcCall } from "./evm/json-rpc.ts";
import { mechanismOf } from "./evm/mechanisms.ts";
import { judgePlainTransfer } from "./evm/plain-transfer.ts";
import { unwrapSignature } from "./evm/predict-reads.ts";
import { PaymentReader } from "./evm/reader.ts";
import { judgeAuthorization, judgeTerms, type TermsContext } from "./judge-terms.ts";
import type { NetworkDescription } from "./networks.ts";
import type { Payment } from "./payment.ts";
import { type Reason, reasonOfMechanism } from "./reasons.ts";

/** What verify needs to know of a switched-on network; config.ts's `Network` is one. */
export interface VerifyingNetwork extends NetworkDescription {
  rpcUrls: readonly string[];
  relayers(): readonly Address[];
  allowedFactories: readonly Address[];
}

export interface VerifyOptions {
  network: VerifyingNetwork;
  rpc: JsonRpc;
  nowMs: number;
  purpose: TermsContext["purpose"];
  /** Who would send the transfer; default: the network's first relayer. upto: always `witness.facilitator`. */
  relayer?: Address;
  /** More calls for the one round trip; the verdict's reader has their answers. */
  extraCalls?: readonly RpcCall[];
}

export type Verdict =
  /**
   * `payment` is what was checked and what is to be settled, over the reader that answered it all. `isPlain`: by our
   * own path, so that the predicted transfer is what the mechanism would send.
   */
  | { ok: true; payment: Payment; reader: PaymentReader; isPlain: boolean }
  /** `unexpected_verify_error`: the chain gave no answer and nothing is said about the payment. */
  | { ok: false; reason: Reason };

/** @throws Error for a bug of ours only (a mechanism that throws, or refuses for an unknown reason). */
export async function verifyPayment(payment: Payment, options: VerifyOptions): Promise<Verdict> {
  const { network, nowMs, purpose } = options;
  const nowSeconds = Math.floor(nowMs / 1_000);
  const { tokens, relayers } = network;
  const refusal = judgeTerms(payment, { tokens, relayers, nowSeconds, purpose });
  if (refusal) return { ok: false, reason: refusal };

  const reader = readAhead(payment, options, nowSeconds);
  const plain = await judgePlainTransfer(payment, reader, nowSeconds);
  if (reader.isVoid()) return { ok: false, reason: "unexpected_verify_error" };
  if (plain.kind === "valid") return { ok: true, payment, reader, isPlain: true };
  if (plain.kind === "invalid") return { ok: false, reason: plain.reason };
  return verifyByMechanism(payment, options, reader, nowSeconds);
}

async function verifyByMechanism(
  payment: Payment,
  { network }: VerifyOptions,
  reader: PaymentReader,
  nowSeconds: number,
): Promise<Verdict> {
  const checked = await unwrapIfDeployed(payment, reader);
  const { allowedFactories } = network;
  const mechanism = await mechanismOf(payment.scheme, { signer: reader, allowedFactories });
  try {
    const response = await mechanism.verify(atCeiling(checked));
    if (reader.isVoid()) return { ok: false, reason: "unexpected_verify_error" };
    if (!response.isValid) return { ok: false, reason: reasonOfMechanism(response.invalidReason) };
    // Again by our clock: the mechanism reads one of its own.
    const refusal = payment.method === "eip3009" ? judgeAuthorization(payment, nowSeconds) : null;
    return refusal ? { ok: false, reason: refusal } : { ok: true, payment: checked, reader, isPlain: false };
  } catch (error) {
    if (reader.isVoid()) return { ok: false, reason: "unexpected_verify_error" };
    throw error;
  }
}

function readAhead(payment: Payment, options: VerifyOptions, nowSeconds: number): PaymentReader {
  const { network, rpc, extraCalls = [] } = options;
  const { allowedFactories } = network;
  const relayers = network.relayers();
  const from = payment.facilitator ?? options.relayer ?? relayers[0];
  if (from === undefined) throw new Error("assertion failed: a configured network has a relayer");
  return new PaymentReader({ payment, rpc, relayers, from, allowedFactories, nowSeconds, extraCalls });
}

/**
 * A wrapped signature (ERC-6492) of a wallet that stands already is its inner one: its factory call, which the payer
 * wrote, must not take part in a simulation that the real transfer will not repeat. A wrapper in a wrapper stays as it
 * is: the mechanism takes off one, and no more than one may come off.
 */
async function unwrapIfDeployed(payment: Payment, reader: PaymentReader): Promise<Payment> {
  const { inner, deployment } = unwrapSignature(payment.signature);
  const isPlainInside = unwrapSignature(inner).deployment === null;
  if (deployment === null || !isPlainInside || !(await reader.payerHasCode())) return payment;
  const payload = { ...payment.payload.payload, signature: inner };
  return { ...payment, payload: { ...payment.payload, payload } };
}

/** The mechanisms verify an upto payment for all that was permitted, whatever will be charged. */
export function atCeiling(payment: Payment): Payment {
  if (payment.scheme !== "upto") return payment;
  const amount = payment.signedAtomic;
  return {
    ...payment,
    amountAtomic: amount,
    requirements: { ...payment.requirements, amount: amount.toString() },
  };
}

/** A connection to a network's nodes, for one request or one object. */
export function rpcOf(network: VerifyingNetwork): JsonRpc {
  const { rpcUrls, chainId, blockTimeMs } = network;
  return new JsonRpc({ rpcUrls, chainId, blockTimeMs });
}
