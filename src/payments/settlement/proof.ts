// What the chain's answers prove about a payment (DESIGN.md section 3, "ends only by proof"). Pure: SettlementObject
// brings receipts and states, these functions judge them. A bare Transfer proves nothing: it may be the same buyer's
// previous payment of the same price.

import type { Address, Hex } from "viem";
import { decodeFunctionData, isAddressEqual } from "viem/utils";
import { EXACT_PROXY_ABI, EXACT_PROXY_ADDRESS, EXACT_PROXY_SETTLE_WITH_PERMIT } from "../evm/contracts.ts";
import type { MinedLog, MinedReceipt, StepProgress } from "../evm/relayer/relayer-port.ts";
import type { Payment } from "../payment.ts";
import type { Failure } from "./settlement-states.ts";

/** keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** keccak-256 of `AuthorizationUsed(address,bytes32)`. */
export const AUTHORIZATION_USED_TOPIC: Hex =
  "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
/** keccak-256 of `AuthorizationCanceled(address,bytes32)`. */
export const AUTHORIZATION_CANCELED_TOPIC: Hex =
  "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";

export function addressTopic(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;
}

/** The log that moves exactly this payment's money: from its asset, payer to payTo, the amount charged. */
export function isExpectedTransfer(log: MinedLog, payment: Payment): boolean {
  return (
    isAddressEqual(log.address, payment.asset) &&
    log.topics.length === 3 &&
    log.topics[0] === TRANSFER_TOPIC &&
    log.topics[1] === addressTopic(payment.payer) &&
    log.topics[2] === addressTopic(payment.payTo) &&
    /^0x[0-9a-f]{1,64}$/i.test(log.data) &&
    BigInt(log.data) === payment.amountAtomic
  );
}

/** What our own transaction proves so far. */
export type OwnProof =
  | { kind: "settled"; transaction: Hex }
  | { kind: "reverted"; receipt: MinedReceipt }
  /** Mined as a success that moved no such money: no allowed token does that, so an operator must look. */
  | { kind: "unproven"; transaction: Hex }
  | { kind: "waiting" };

/**
 * Judges the transfer step by its receipt, `confirmations` deep (1 = mined) or final, whichever comes first. Which of
 * several hashes was mined is the relayer's to say; the answer names that one.
 */
export function judgeOwn(payment: Payment, transfer: StepProgress, confirmations: number): OwnProof {
  const { receipt, depth, isFinal } = transfer;
  if (receipt === null || (depth < confirmations && !isFinal)) return { kind: "waiting" };
  if (receipt.status === "reverted") return { kind: "reverted", receipt };
  return receipt.logs.some((log) => isExpectedTransfer(log, payment))
    ? { kind: "settled", transaction: receipt.hash }
    : { kind: "unproven", transaction: receipt.hash };
}

/** A transaction that somebody else may have sent with this payment's authorization. */
export interface ForeignTransaction {
  to: Address | null;
  input: Hex;
  receipt: MinedReceipt;
  depth: number;
}

/** What was read from the chain at one block, by number, so that a node that lags cannot answer. */
export interface ChainEvidence {
  /** Whether the authorization was used or cancelled at that block. */
  isSpent: boolean;
  /** Time of the newest final block. */
  finalSeconds: bigint;
  candidates: readonly ForeignTransaction[];
}

export type Judgement =
  | { kind: "settled"; transaction: Hex }
  | { kind: "failed"; failure: Failure; transaction: Hex | "" }
  /** Nothing is proved: the payment stays pending. */
  | { kind: "open" };

/**
 * Judges a payment whose own transaction did not settle it: reverted, given up, or not mined in time.
 *
 * @param own - the receipt of our own transaction when it reverted, `confirmations` deep.
 */
export function judgeChain(
  payment: Payment,
  own: MinedReceipt | null,
  evidence: ChainEvidence,
  confirmations: number,
): Judgement {
  const deep = evidence.candidates.filter(
    ({ depth, receipt }) => depth >= confirmations && receipt.status === "success",
  );
  const settledBy = deep.find((candidate) => settles(candidate, payment));
  if (settledBy) return { kind: "settled", transaction: settledBy.receipt.hash };
  const transaction = own?.hash ?? "";
  if (deep.some((candidate) => cancels(candidate, payment))) {
    return { kind: "failed", failure: "cancelled", transaction };
  }
  if (evidence.isSpent) return { kind: "open" };
  if (own) return { kind: "failed", failure: "reverted", transaction };
  return evidence.finalSeconds > payment.validBeforeSeconds
    ? { kind: "failed", failure: "expired", transaction }
    : { kind: "open" };
}

/** Whether this transaction used the payment's own authorization and moved its money. */
function settles(candidate: ForeignTransaction, payment: Payment): boolean {
  if (payment.method === "eip3009") return hasAuthorizedTransfer(candidate.receipt.logs, payment);
  return (
    payment.scheme === "exact" &&
    callsProxyFor(candidate, payment) &&
    candidate.receipt.logs.some((log) => isExpectedTransfer(log, payment))
  );
}

/**
 * `AuthorizationUsed(from, nonce)` and, as the token's next log, the Transfer. One transaction may carry several
 * authorizations, and a payer may sign two with one nonce: a Transfer elsewhere in the receipt can belong to another.
 */
function hasAuthorizedTransfer(logs: readonly MinedLog[], payment: Payment): boolean {
  const ofAsset = logs.filter((log) => isAddressEqual(log.address, payment.asset));
  return ofAsset.some((log, index) => {
    const next = ofAsset[index + 1];
    return (
      isAuthorizationLog(log, AUTHORIZATION_USED_TOPIC, payment) &&
      next !== undefined &&
      isExpectedTransfer(next, payment)
    );
  });
}

function isAuthorizationLog(log: MinedLog, topic: Hex, payment: Payment): boolean {
  return (
    log.topics[0] === topic &&
    log.topics[1] === addressTopic(payment.payer) &&
    log.topics[2] === payment.nonce.toLowerCase()
  );
}

/** EIP-3009: the payer took the authorization back, so no transaction can ever use it. */
function cancels(candidate: ForeignTransaction, payment: Payment): boolean {
  if (payment.method !== "eip3009") return false;
  return candidate.receipt.logs.some(
    (log) =>
      isAddressEqual(log.address, payment.asset) &&
      isAuthorizationLog(log, AUTHORIZATION_CANCELED_TOPIC, payment),
  );
}

/** A direct call of the x402 proxy with this owner, nonce, token, amount and receiver. */
function callsProxyFor(candidate: ForeignTransaction, payment: Payment): boolean {
  if (candidate.to === null || !isAddressEqual(candidate.to, EXACT_PROXY_ADDRESS)) return false;
  const call = decodeProxyCall(candidate.input);
  if (!call) return false;
  const { permit, owner, to } = call;
  return (
    isAddressEqual(owner, payment.payer) &&
    permit.nonce === BigInt(payment.nonce) &&
    isAddressEqual(permit.permitted.token, payment.asset) &&
    permit.permitted.amount === payment.amountAtomic &&
    isAddressEqual(to, payment.payTo)
  );
}

const PROXY_CALLS = [...EXACT_PROXY_ABI, EXACT_PROXY_SETTLE_WITH_PERMIT] as const;

interface ProxyCall {
  permit: { permitted: { token: Address; amount: bigint }; nonce: bigint };
  owner: Address;
  to: Address;
}

function decodeProxyCall(input: Hex): ProxyCall | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: PROXY_CALLS, data: input });
    if (functionName === "settle") {
      const [permit, owner, witness] = args;
      return { permit, owner, to: witness.to };
    }
    if (functionName === "settleWithPermit") {
      const [, permit, owner, witness] = args;
      return { permit, owner, to: witness.to };
    }
    return undefined;
  } catch {
    return undefined; // Not a call of this proxy's interface.
  }
}
