// From settled to searchable: different resources are paid for, and each is looked for by a word that only it has, until
// the search finds it. The built bundle with its queue, on a chain of its own, as it runs anywhere.

import { startChain, startContestant } from "./contestants.ts";
import { type Percentiles, percentiles } from "./load.ts";
import { declaredBlock, manyPayments } from "./payments.ts";

export interface SearchableFigures {
  settles: number;
  /** Never found, or not settled. */
  lost: number;
  /** From the settle's answer to the answer of the first search that finds the resource. */
  ms: Percentiles & { max: number };
}

/** A seller every now and then, so that most batches of the queue are small: the usual case, and the slow one. */
const BETWEEN_SETTLES_MS = 100;
/** Adds as much to a figure at most. */
const BETWEEN_SEARCHES_MS = 50;
const GIVE_UP_MS = 30_000;

export async function measureSearchable(settles: number): Promise<SearchableFigures> {
  const payments = await manyPayments(settles, (index) => ({
    resource: { url: `https://shop-${index}.example/report`, description: `Report about ${onlyWord(index)}` },
    extensions: declaredBlock(index),
  }));
  const chain = await startChain();
  const souk = await startContestant("souk", chain, "miniflare");
  try {
    const times = await Promise.all(
      payments.map(async (payment, index) => {
        await passed(index * BETWEEN_SETTLES_MS);
        return untilFound(souk.url, JSON.stringify(payment), index);
      }),
    );
    const found = times.filter((ms) => ms !== null);
    return { settles, lost: settles - found.length, ms: { ...percentiles(found), max: Math.max(...found) } };
  } finally {
    await souk.stop();
    await chain.stop();
  }
}

async function untilFound(url: string, body: string, index: number): Promise<number | null> {
  const settled = await fetch(`${url}/settle`, { method: "POST", body });
  const { success } = (await settled.json()) as { success?: boolean };
  if (success !== true) return null;
  const fromMs = performance.now();
  while (performance.now() - fromMs < GIVE_UP_MS) {
    const answer = await fetch(`${url}/discovery/search?query=${onlyWord(index)}`);
    const { resources } = (await answer.json()) as { resources: { resource: string }[] };
    if (resources.some(({ resource }) => resource === `https://shop-${index}.example/report`)) {
      return performance.now() - fromMs;
    }
    await passed(BETWEEN_SEARCHES_MS);
  }
  return null;
}

/** Letters alone, so that the index takes it for a word, and no two alike enough to be corrected to each other. */
function onlyWord(index: number): string {
  const letters = [...index.toString().padStart(3, "0")].map((digit) => "bdfgklmprt".charAt(Number(digit)));
  return letters.map((letter) => `${letter}u${letter}`).join("o");
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
