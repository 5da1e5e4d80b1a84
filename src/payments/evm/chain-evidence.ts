// Reads what proof.ts judges when our own transaction did not settle a payment: whether the authorization is spent,
// how far the chain is final, and which transactions may have used it. Owns its reads through the given client, all
// of them at one block by number: a node that lags behind that block cannot answer for it. Off the usual path.

import type { Address, Hex } from "viem";
import { encodeFunctionData, pad, toHex } from "viem/utils";
import type { Payment } from "../payment.ts";
import {
  AUTHORIZATION_CANCELED_TOPIC,
  AUTHORIZATION_USED_TOPIC,
  addressTopic,
  type ChainEvidence,
  type ForeignTransaction,
  TRANSFER_TOPIC,
} from "../settlement/proof.ts";
import { PERMIT2_ADDRESS, TOKEN_ABI } from "./contracts.ts";
import type { JsonRpc, RpcAnswer, RpcCall } from "./json-rpc.ts";
import type { MinedReceipt, StepProgress } from "./relayer/relayer-port.ts";

/** Providers answer log queries over a couple of thousand blocks at most. */
const SEARCH_BLOCKS = 2_000n;
/** Of these, how many lie before our own reverted transaction: whoever made it revert came shortly before it. */
const SEARCH_BLOCKS_BEFORE = 500n;
/** A buyer who pays one seller the same price more often than this within the range is not looked through. */
const MAX_CANDIDATES = 50;

const PERMIT2_ABI = [
  {
    type: "function",
    name: "nonceBitmap",
    inputs: [
      { name: "owner", type: "address" },
      { name: "word", type: "uint256" },
    ],
    outputs: [{ name: "", type: "uint256" }],
    stateMutability: "view",
  },
] as const;

/**
 * Evidence about `payment`, or null when the chain did not answer or the node is behind our own receipt: ask later.
 *
 * @param finalityBlocks - blocks below the head that count as final; null asks the node for its `finalized` block.
 * @param own - our reverted receipt, if there is one.
 */
export async function readChainEvidence(
  rpc: Pick<JsonRpc, "batch">,
  payment: Payment,
  finalityBlocks: number | null,
  own: MinedReceipt | null,
): Promise<ChainEvidence | null> {
  const first: RpcCall[] = [{ method: "eth_blockNumber", params: [] }];
  if (finalityBlocks === null) first.push(headerCall("finalized"));
  const [headAnswer, finalizedAnswer] = await rpc.batch(first);
  const head = quantityOf(resultOf(headAnswer));
  if (head === null || (own !== null && head < own.blockNumber)) return null;

  const second: RpcCall[] = [spentCall(payment, head), logsCall(payment, head, own?.blockNumber ?? head)];
  if (finalityBlocks !== null) second.push(headerCall(toHex(below(head, BigInt(finalityBlocks)))));
  const [spentAnswer, logsAnswer, finalAnswer] = await rpc.batch(second);
  const isSpent = readSpent(payment, resultOf(spentAnswer));
  if (isSpent === null) return null;
  const header = resultOf(finalityBlocks === null ? finalizedAnswer : finalAnswer);
  return {
    isSpent,
    // A node that has no such header proves no deadline.
    finalSeconds: quantityOf(fieldOf(header, "timestamp")) ?? 0n,
    candidates: isSpent ? await readCandidates(rpc, resultOf(logsAnswer), head) : [],
  };
}

/**
 * How one transfer stands that no relayer of ours watches (any more), in the relayer's own words; null when the chain
 * did not answer.
 */
export async function readProgress(
  rpc: Pick<JsonRpc, "batch">,
  hash: Hex,
  finalityBlocks: number | null,
): Promise<StepProgress | null> {
  const calls: RpcCall[] = [
    { method: "eth_blockNumber", params: [] },
    { method: "eth_getTransactionReceipt", params: [hash] },
  ];
  if (finalityBlocks === null) calls.push(headerCall("finalized"));
  const [headAnswer, receiptAnswer, finalizedAnswer] = await rpc.batch(calls);
  const head = quantityOf(resultOf(headAnswer));
  if (head === null || !receiptAnswer?.ok) return null;
  const receipt = readMinedReceipt(receiptAnswer.result);
  const final =
    finalityBlocks === null
      ? quantityOf(fieldOf(resultOf(finalizedAnswer), "number"))
      : below(head, BigInt(finalityBlocks));
  return {
    step: "transfer",
    hashes: [hash],
    receipt,
    depth: receipt ? Math.max(1, Number(head - receipt.blockNumber) + 1) : 0,
    isFinal: receipt !== null && final !== null && receipt.blockNumber <= final,
    isAbandoned: receipt === null,
  };
}

function headerCall(block: string): RpcCall {
  return { method: "eth_getBlockByNumber", params: [block, false] };
}

function spentCall(payment: Payment, head: bigint): RpcCall {
  const { to, data } =
    payment.method === "eip3009"
      ? {
          to: payment.asset,
          data: encodeFunctionData({
            abi: TOKEN_ABI,
            functionName: "authorizationState",
            args: [payment.payer, payment.nonce as Hex],
          }),
        }
      : {
          to: PERMIT2_ADDRESS,
          data: encodeFunctionData({
            abi: PERMIT2_ABI,
            functionName: "nonceBitmap",
            args: [payment.payer, BigInt(payment.nonce) >> 8n],
          }),
        };
  return { method: "eth_call", params: [{ to, data }, toHex(head)] };
}

function readSpent(payment: Payment, result: unknown): boolean | null {
  const word = quantityOf(result);
  if (word === null) return null;
  if (payment.method === "eip3009") return word !== 0n;
  return ((word >> (BigInt(payment.nonce) & 255n)) & 1n) === 1n;
}

/**
 * EIP-3009 tokens index their authorization events by (authorizer, nonce). Permit2 logs nothing of its own: the
 * Transfers from payer to payTo lead to the transactions whose calls are decoded; they are no proof themselves.
 */
function logsCall(payment: Payment, head: bigint, around: bigint): RpcCall {
  const from = below(around, SEARCH_BLOCKS_BEFORE);
  const last = from + SEARCH_BLOCKS - 1n;
  const topics =
    payment.method === "eip3009"
      ? [
          [AUTHORIZATION_USED_TOPIC, AUTHORIZATION_CANCELED_TOPIC],
          addressTopic(payment.payer),
          pad(payment.nonce as Hex),
        ]
      : [TRANSFER_TOPIC, addressTopic(payment.payer), addressTopic(payment.payTo)];
  const toBlock = last < head ? last : head;
  return {
    method: "eth_getLogs",
    params: [{ address: payment.asset, topics, fromBlock: toHex(from), toBlock: toHex(toBlock) }],
  };
}

async function readCandidates(
  rpc: Pick<JsonRpc, "batch">,
  logs: unknown,
  head: bigint,
): Promise<ForeignTransaction[]> {
  const found = Array.isArray(logs) ? logs.map((log) => fieldOf(log, "transactionHash")) : [];
  const hashes = [...new Set(found.filter(isHex))].slice(-MAX_CANDIDATES);
  if (hashes.length === 0) return [];
  const answers = await rpc.batch(
    hashes.flatMap((hash) => [
      { method: "eth_getTransactionByHash", params: [hash] },
      { method: "eth_getTransactionReceipt", params: [hash] },
    ]),
  );
  return hashes.flatMap((_, index) => {
    const transaction = resultOf(answers[2 * index]);
    const receipt = readMinedReceipt(resultOf(answers[2 * index + 1]));
    const input = fieldOf(transaction, "input");
    if (receipt === null || !isHex(input) || receipt.blockNumber > head) return [];
    const to = fieldOf(transaction, "to");
    const depth = Number(head - receipt.blockNumber) + 1;
    return [{ to: isHex(to) ? (to as Address) : null, input, receipt, depth }];
  });
}

function readMinedReceipt(result: unknown): MinedReceipt | null {
  const hash = fieldOf(result, "transactionHash");
  const blockHash = fieldOf(result, "blockHash");
  const blockNumber = quantityOf(fieldOf(result, "blockNumber"));
  const logs = fieldOf(result, "logs");
  if (!isHex(hash) || !isHex(blockHash) || blockNumber === null || !Array.isArray(logs)) return null;
  return {
    hash,
    blockHash,
    blockNumber,
    status: fieldOf(result, "status") === "0x1" ? "success" : "reverted",
    logs: logs.flatMap((log) => {
      const address = fieldOf(log, "address");
      const topics = fieldOf(log, "topics");
      const data = fieldOf(log, "data");
      if (!isHex(address) || !isHex(data) || !Array.isArray(topics)) return [];
      return [{ address, topics: topics.filter(isHex), data }];
    }),
  };
}

function below(block: bigint, distance: bigint): bigint {
  return block > distance ? block - distance : 0n;
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  return answer?.ok ? answer.result : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function quantityOf(value: unknown): bigint | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]+$/.test(value) ? BigInt(value) : null;
}

function isHex(value: unknown): value is Hex {
  return typeof value === "string" && /^0x[0-9a-fA-F]*$/.test(value);
}
