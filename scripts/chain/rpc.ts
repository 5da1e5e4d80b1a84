// JSON-RPC to the test chain, by fetch alone: the same in Node and in tests inside workerd. Test code only; the
// Worker has its own client.

import type { Hex } from "./addresses.ts";

/** A call to anvil takes milliseconds; this bounds it on a machine that is very busy. */
const RPC_TIMEOUT_MS = 30_000;
const RECEIPT_TIMEOUT_MS = 40_000;
const RECEIPT_POLL_MS = 20;

export interface Receipt {
  status: Hex;
  transactionHash: Hex;
  blockNumber: Hex;
  gasUsed: Hex;
  contractAddress: Hex | null;
  logs: { address: Hex; topics: Hex[]; data: Hex }[];
}

/** One JSON-RPC call. @throws Error with the node's message. */
export async function rpc<Result>(
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<Result> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(RPC_TIMEOUT_MS),
  });
  const answer = (await response.json()) as { result: Result; error?: { message: string } };
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** Fields of eth_sendTransaction. `from` is an account that anvil holds the key of, or impersonates. */
export interface Transaction {
  from: Hex;
  to?: Hex;
  data?: Hex;
  value?: Hex;
  gas?: Hex;
}

/** Hands a transaction to the node and answers its hash. @throws Error when the node refuses or it would revert. */
export function send(rpcUrl: string, transaction: Transaction): Promise<Hex> {
  return rpc<Hex>(rpcUrl, "eth_sendTransaction", [transaction]);
}

/** Waits until a transaction is mined, reverted or not. @throws Error when it is not mined in time. */
export async function receiptOf(rpcUrl: string, hash: Hex): Promise<Receipt> {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const receipt = await rpc<Receipt | null>(rpcUrl, "eth_getTransactionReceipt", [hash]);
    if (receipt) return receipt;
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_POLL_MS));
  }
  throw new Error(`${hash} was not mined within ${RECEIPT_TIMEOUT_MS} ms`);
}

/** Sends a transaction and waits for it. @throws Error when it is refused, not mined in time, or reverted. */
export async function transact(rpcUrl: string, transaction: Transaction): Promise<Receipt> {
  const receipt = await receiptOf(rpcUrl, await send(rpcUrl, transaction));
  if (receipt.status !== "0x1") throw new Error(`${receipt.transactionHash} reverted`);
  return receipt;
}
