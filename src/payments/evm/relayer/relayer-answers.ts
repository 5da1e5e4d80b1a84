// What a node's answers mean to a relayer: what became of a transaction that was sent, what a receipt says, what an
// estimate proves. Pure. Nodes agree on no codes for refusals, so their words are read; words we do not know mean
// "try again", never "give up".

import type { Hex } from "viem";
import { isRevert, type RpcAnswer } from "../json-rpc.ts";
import type { MinedLog, MinedReceipt } from "./relayer-port.ts";

export type SendVerdict =
  /** The node has these bytes, now or already. */
  | "accepted"
  /** Nothing is known, or the node is busy: the same bytes later. */
  | "later"
  /** The fee is below what the node takes, or takes for a replacement. */
  | "underpriced"
  | "no_money"
  /** The account's nonce is past this one. */
  | "nonce_passed"
  /** Invalid for ever: no waiting and no fee will change it. */
  | "refused"
  /** Refused in words we do not know. */
  | "unclear";

/** Read in this order: some nodes put two of these into one sentence. */
const SEND_WORDS: readonly (readonly [RegExp, SendVerdict])[] = [
  [/already known|known transaction|already imported|already exists|already in .*pool/i, "accepted"],
  [/nonce (is )?too low|nonce has already been used|old ?nonce/i, "nonce_passed"],
  [/underpriced|(fee|price|tip)( cap)? (is )?too low|fee ?too ?low|less than block base fee/i, "underpriced"],
  [/insufficient (funds|balance)|overdraft/i, "no_money"],
  [
    /nonce too high|nonce gap|pool.* full|full.* pool|too many|limit exceeded|time(d )?out|syncing|try again/i,
    "later",
  ],
  [
    /intrinsic gas|gas limit|gas required exceeds|gas too (low|high)|configured cap|invalid (sender|signature|chain|tx)|chain ?id|oversized|size limit|type not supported|rlp|init ?code|reverted|blacklist|denied/i,
    "refused",
  ],
];

/** The verdict on one `eth_sendRawTransaction`. */
export function readSend(answer: RpcAnswer): SendVerdict {
  if (answer.ok) return "accepted";
  if (answer.kind === "unanswered") return "later";
  const known = SEND_WORDS.find(([words]) => words.test(answer.message));
  return known ? known[1] : "unclear";
}

export type EstimateReading =
  | { kind: "gas"; gas: bigint }
  /** The node executed the call and it failed. */
  | { kind: "reverts" }
  | { kind: "unanswered" };

/** More gas than a block, or than the node lends, holds: executed, and it did not fit. */
const TOO_LARGE = /gas required exceeds|exceeds block gas limit/i;

/** The reading of one `eth_estimateGas` that named no gas and no fee, so that only the call itself can fail. */
export function readEstimate(answer: RpcAnswer): EstimateReading {
  if (answer.ok) {
    const gas = readQuantity(answer.result);
    return gas === null ? { kind: "unanswered" } : { kind: "gas", gas };
  }
  const isTooLarge = answer.kind === "error" && TOO_LARGE.test(answer.message);
  return { kind: isRevert(answer) || isTooLarge ? "reverts" : "unanswered" };
}

export type ReceiptReading =
  | { kind: "mined"; receipt: MinedReceipt }
  | { kind: "absent" }
  | { kind: "unanswered" };

/** The reading of one `eth_getTransactionReceipt`; a receipt of another transaction is no answer. */
export function readReceipt(answer: RpcAnswer, hash: Hex): ReceiptReading {
  if (!answer.ok) return { kind: "unanswered" };
  if (answer.result === null) return { kind: "absent" };
  const receipt = parseReceipt(answer.result, hash);
  return receipt === null ? { kind: "unanswered" } : { kind: "mined", receipt };
}

function parseReceipt(value: unknown, hash: Hex): MinedReceipt | null {
  if (!isRecord(value) || !isHex(value.transactionHash) || value.transactionHash.toLowerCase() !== hash)
    return null;
  const blockNumber = readQuantity(value.blockNumber);
  const status = readQuantity(value.status);
  if (blockNumber === null || !isHex(value.blockHash) || !Array.isArray(value.logs)) return null;
  if (status !== 0n && status !== 1n) return null;
  const logs = value.logs.map(parseLog);
  if (!logs.every((log) => log !== null)) return null;
  return {
    hash,
    blockNumber,
    blockHash: value.blockHash,
    status: status === 1n ? "success" : "reverted",
    logs,
  };
}

function parseLog(value: unknown): MinedLog | null {
  if (!isRecord(value) || !isHex(value.address) || !isHex(value.data)) return null;
  if (!Array.isArray(value.topics) || !value.topics.every(isHex)) return null;
  return { address: value.address, topics: value.topics, data: value.data };
}

/** A count or an amount in the node's hex; null when it is none. */
export function readQuantity(value: unknown): bigint | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null;
}

/** A quantity that fits a number: heights and nonces do. */
export function readCount(answer: RpcAnswer | undefined): number | null {
  const quantity = answer?.ok ? readQuantity(answer.result) : null;
  return quantity !== null && quantity <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(quantity) : null;
}

/** One field of a block header, as a quantity. */
export function readHeaderField(answer: RpcAnswer | undefined, field: string): bigint | null {
  return answer?.ok && isRecord(answer.result) ? readQuantity(answer.result[field]) : null;
}

function isHex(value: unknown): value is Hex {
  return typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
