// What a contestant did on its chain: transactions, how many of them failed, and their gas.

import { rpc } from "../scripts/chain/rpc.ts";

export interface ChainReport {
  transactions: number;
  reverted: number;
  gasUsed: number;
}

/** Of all blocks after `fromBlock`. */
export async function readChain(rpcUrl: string, fromBlock: number): Promise<ChainReport> {
  const head = await blockNumber(rpcUrl);
  const report: ChainReport = { transactions: 0, reverted: 0, gasUsed: 0 };
  for (let number = fromBlock + 1; number <= head; number++) {
    const receipts = await rpc<{ status: string; gasUsed: string }[]>(rpcUrl, "eth_getBlockReceipts", [
      `0x${number.toString(16)}`,
    ]);
    for (const { status, gasUsed } of receipts) {
      report.transactions++;
      report.reverted += status === "0x1" ? 0 : 1;
      report.gasUsed += Number(gasUsed);
    }
  }
  return report;
}

export async function blockNumber(rpcUrl: string): Promise<number> {
  return Number(await rpc<string>(rpcUrl, "eth_blockNumber"));
}

const BLOCK_POLL_MS = 10;

/** Waits for a new block, so that latencies count from a block's beginning. Answers its number. */
export async function nextBlock(rpcUrl: string): Promise<number> {
  const before = await blockNumber(rpcUrl);
  for (;;) {
    const now = await blockNumber(rpcUrl);
    if (now > before) return now;
    await new Promise((resolve) => setTimeout(resolve, BLOCK_POLL_MS));
  }
}
