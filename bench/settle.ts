// Settling under load: many different payments through one relayer, and one payment sent fifty times at once. Each
// contestant runs the same payments on a chain of its own, all from the same state.

import { blockNumber, nextBlock, readChain } from "./chain-report.ts";
import { CONTESTANTS, type ContestantName, startChain, startContestant } from "./contestants.ts";
import { type Answer, fire, type Percentiles, percentiles, tally } from "./load.ts";
import { asTexts, manyPayments } from "./payments.ts";

export interface SettleRun {
  settles: number;
  concurrency: number;
  /** Null: a block per transaction, at once. */
  blockTimeSeconds: number | null;
  /** The same payment every time. */
  isOnePayment: boolean;
}

export interface SettleFigures extends SettleRun {
  contestant: ContestantName;
  succeeded: number;
  reasons: Record<string, number>;
  /** From the first request to the last answer. */
  seconds: number;
  perSecond: number;
  ms: Percentiles;
  rpcRequestsPerSettle: number;
  rpcCallsPerSettle: number;
  transactions: number;
  reverted: number;
  gasPerSuccess: number;
  cpuMsPerSettle: number;
}

/** Enough for an engine to compile what is run often. */
const WARM_UP_SETTLES = 200;

/** Each contestant settles the same payments on a fresh chain. */
export async function measureSettles(run: SettleRun): Promise<SettleFigures[]> {
  const payments = asTexts(await manyPayments(run.isOnePayment ? 1 : run.settles));
  const bodies = Array.from({ length: run.settles }, (_, index) => payments[index % payments.length] ?? "");
  const figures: SettleFigures[] = [];
  for (const name of CONTESTANTS) figures.push(await measure(name, bodies, run));
  return figures;
}

async function measure(
  contestantName: ContestantName,
  bodies: readonly string[],
  run: SettleRun,
): Promise<SettleFigures> {
  const { blockTimeSeconds, concurrency } = run;
  const chain = await startChain(blockTimeSeconds === null ? {} : { blockTimeSeconds });
  const contestant = await startContestant(contestantName, chain, "miniflare");
  const settle = (texts: readonly string[], connections: number) =>
    fire({ url: `${contestant.url}/settle`, bodies: texts, connections, for: "once" });
  try {
    // Code that was never run before is slow in every facilitator; it is not what is measured.
    await settle(asTexts(await manyPayments(WARM_UP_SETTLES)), WARM_UP_SETTLES);
    const fromBlock =
      blockTimeSeconds === null ? await blockNumber(chain.rpcUrl) : await nextBlock(chain.rpcUrl);
    await contestant.counts();
    const cpuBefore = contestant.cpuSeconds();
    const { answers, seconds } = await settle(bodies, concurrency);
    const cpuSeconds = contestant.cpuSeconds() - cpuBefore;
    const { requests, calls } = await contestant.counts();
    const { transactions, reverted, gasUsed } = await readChain(chain.rpcUrl, fromBlock);
    const reasons = answers.flatMap(problemOf);
    const succeeded = answers.length - reasons.length;
    return {
      contestant: contestantName,
      ...run,
      succeeded,
      reasons: tally(reasons),
      seconds,
      perSecond: succeeded / seconds,
      ms: percentiles(answers.map(({ ms }) => ms)),
      rpcRequestsPerSettle: requests / bodies.length,
      rpcCallsPerSettle: calls / bodies.length,
      transactions,
      reverted,
      gasPerSuccess: gasUsed / Math.max(1, succeeded),
      cpuMsPerSettle: (cpuSeconds * 1_000) / bodies.length,
    };
  } finally {
    await contestant.stop();
    await chain.stop();
  }
}

function problemOf({ status, body }: Answer): string[] {
  const { success, errorReason } = JSON.parse(body) as { success?: boolean; errorReason?: string };
  return success === true ? [] : [errorReason ?? `HTTP ${status}`];
}
