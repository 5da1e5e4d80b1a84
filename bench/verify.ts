// Verify under load: both contestants over one chain, the same signed payments, rounds in turn so that whatever else
// the machine does falls on both.

import {
  type BenchChain,
  CONTESTANTS,
  type Contestant,
  startChain,
  startContestant,
  startEmptyWorker,
} from "./contestants.ts";
import { type Answer, fire, type Percentiles, percentiles, tally } from "./load.ts";
import { asTexts, manyPayments, paymentOfEachWay, type Way, withBlocks } from "./payments.ts";

export interface VerifySetting {
  /** Added to every RPC request. */
  delayMs: number;
  callers: number;
  withBlock: boolean;
}

export interface VerifyFigures extends VerifySetting {
  contestant: string;
  verifies: number;
  perSecond: number;
  ms: Percentiles;
  rpcRequestsPerVerify: number;
  rpcCallsPerVerify: number;
  cpuMsPerVerify: number;
  /** Of answers that are not `isValid:true`; every payment here is valid. */
  reasons: Record<string, number>;
}

export interface VerifyReport {
  figures: VerifyFigures[];
  /** HTTP requests to the node for one verify, by way to pay. */
  souksRoundTrips: Record<Way, number>;
  /** What a Worker that does nothing answers to the same bodies, with as many callers. */
  emptyWorkerPerSecond: number;
}

export interface VerifyPlan {
  settings: readonly VerifySetting[];
  rounds: number;
  secondsEach: number;
  /** Compilers and caches warm up in these; nobody times them. */
  warmUpSeconds: number;
}

/** Enough that no cache of a payment would go unnoticed, few enough to sign before anything starts. */
const PAYMENTS = 400;
const REST_MS = 200;
const MOST_CALLERS = 32;

export async function measureVerify(plan: VerifyPlan): Promise<VerifyReport> {
  const { settings, rounds, secondsEach, warmUpSeconds } = plan;
  const chain = await startChain();
  const contestants: Contestant[] = [];
  try {
    for (const name of CONTESTANTS) contestants.push(await startContestant(name, chain, "workerd"));
    const payments = await manyPayments(PAYMENTS);
    const bodies: Bodies = { without: asTexts(payments), with: asTexts(withBlocks(payments)) };
    for (const contestant of contestants) {
      for (const texts of Object.values(bodies)) await load(contestant, texts, MOST_CALLERS, warmUpSeconds);
    }
    const sums = settings.flatMap((setting) => contestants.map((contestant) => new Sum(contestant, setting)));
    for (let round = 0; round < rounds; round++) {
      for (const sum of sums) await sum.add(bodies, secondsEach);
    }
    const figures = sums.map((sum) => sum.figures());
    const souksRoundTrips = await countRoundTrips(contestants[0], chain);
    return { figures, souksRoundTrips, emptyWorkerPerSecond: await measureEmptyWorker(bodies.without) };
  } finally {
    for (const contestant of contestants) await contestant.stop();
    await chain.stop();
  }
}

/** The same payments without and with a bazaar block. */
type Bodies = Record<"without" | "with", readonly string[]>;

/** One contestant in one setting, over all rounds. */
class Sum {
  readonly #contestant: Contestant;
  readonly #setting: VerifySetting;
  readonly #answers: Answer[] = [];
  #seconds = 0;
  #sent = 0;
  #cpuSeconds = 0;
  #requests = 0;
  #calls = 0;

  constructor(contestant: Contestant, setting: VerifySetting) {
    this.#contestant = contestant;
    this.#setting = setting;
  }

  async add(bodies: Bodies, seconds: number): Promise<void> {
    const texts = this.#setting.withBlock ? bodies.with : bodies.without;
    const contestant = this.#contestant;
    await contestant.setDelay(this.#setting.delayMs);
    const cpuBefore = contestant.cpuSeconds();
    const round = await load(contestant, texts, this.#setting.callers, seconds);
    // What was begun is finished, though nobody waits for it.
    await new Promise((resolve) => setTimeout(resolve, REST_MS + 4 * this.#setting.delayMs));
    this.#cpuSeconds += contestant.cpuSeconds() - cpuBefore;
    this.#seconds += round.seconds;
    this.#sent += round.sent;
    this.#answers.push(...round.answers);
    const { requests, calls } = await contestant.counts();
    this.#requests += requests;
    this.#calls += calls;
    await contestant.setDelay(0);
  }

  figures(): VerifyFigures {
    const verifies = this.#answers.length;
    return {
      contestant: this.#contestant.name,
      ...this.#setting,
      verifies,
      perSecond: verifies / this.#seconds,
      ms: percentiles(this.#answers.map(({ ms }) => ms)),
      rpcRequestsPerVerify: this.#requests / this.#sent,
      rpcCallsPerVerify: this.#calls / this.#sent,
      cpuMsPerVerify: (this.#cpuSeconds * 1_000) / this.#sent,
      reasons: tally(this.#answers.flatMap(problemOf)),
    };
  }
}

function load({ url }: { url: string }, bodies: readonly string[], connections: number, seconds: number) {
  return fire({ url: `${url}/verify`, bodies, connections, for: { seconds } });
}

function problemOf({ status, body }: Answer): string[] {
  if (status !== 200) return [`HTTP ${status}`];
  if (body.includes('"isValid":true')) return [];
  return [(JSON.parse(body) as { invalidReason?: string }).invalidReason ?? "no reason"];
}

async function countRoundTrips(
  souk: Contestant | undefined,
  chain: BenchChain,
): Promise<Record<Way, number>> {
  if (!souk) throw new Error("there is no contestant");
  const payments = await paymentOfEachWay(chain.rpcUrl);
  const counted: [string, number][] = [];
  for (const [way, payment] of Object.entries(payments)) {
    await souk.counts();
    const once = {
      url: `${souk.url}/verify`,
      bodies: asTexts([payment]),
      connections: 1,
      for: "once",
    } as const;
    const problems = (await fire(once)).answers.flatMap(problemOf);
    if (problems.length > 0) throw new Error(`${way}: ${problems}`);
    counted.push([way, (await souk.counts()).requests]);
  }
  return Object.fromEntries(counted) as Record<Way, number>;
}

async function measureEmptyWorker(bodies: readonly string[]): Promise<number> {
  const empty = await startEmptyWorker();
  try {
    await load(empty, bodies, MOST_CALLERS, 1);
    const { answers, seconds } = await load(empty, bodies, MOST_CALLERS, 2);
    return answers.length / seconds;
  } finally {
    await empty.stop();
  }
}
