// How good a ranking is, by graded judgments: nDCG@10 with gain 2^grade - 1, reciprocal rank of the first result of
// grade 2 or 3 in the top 10, recall of those grades in the top 20; over the queries that have an answer. Quiet: the share of
// the others that are answered with an empty page. Pure.

import type { LabelledQuery } from "./labelled-set.ts";

export interface Measures {
  ndcg10: number;
  mrr10: number;
  recall20: number;
  quiet: number;
}

export interface Ranking {
  query: LabelledQuery;
  /** Ids of listings, best first. */
  found: readonly string[];
}

const RELEVANT = 2;

/** The means over these rankings; a mean over nothing is NaN. */
export function measure(rankings: readonly Ranking[]): Measures {
  const answered = rankings.filter(({ query }) => hasAnswer(query));
  const unanswered = rankings.filter(({ query }) => !hasAnswer(query));
  return {
    ndcg10: mean(answered.map(ndcg10)),
    mrr10: mean(answered.map(reciprocalRank10)),
    recall20: mean(answered.map(recall20)),
    quiet: mean(unanswered.map(({ found }) => (found.length === 0 ? 1 : 0))),
  };
}

export function hasAnswer(query: LabelledQuery): boolean {
  return Object.keys(query.judgments).length > 0;
}

export function ndcg10({ query, found }: Ranking): number {
  const ideal = Object.values(query.judgments).sort((a, b) => b - a);
  return discountedGain(found.map((id) => query.judgments[id] ?? 0)) / discountedGain(ideal);
}

function discountedGain(grades: readonly number[]): number {
  return grades.slice(0, 10).reduce((sum, grade, rank) => sum + (2 ** grade - 1) / Math.log2(rank + 2), 0);
}

function reciprocalRank10({ query, found }: Ranking): number {
  const rank = found.slice(0, 10).findIndex((id) => (query.judgments[id] ?? 0) >= RELEVANT);
  return rank === -1 ? 0 : 1 / (rank + 1);
}

function recall20({ query, found }: Ranking): number {
  const relevant = Object.keys(query.judgments).filter((id) => (query.judgments[id] ?? 0) >= RELEVANT);
  if (relevant.length === 0) return 0;
  const top = new Set(found.slice(0, 20));
  return relevant.filter((id) => top.has(id)).length / relevant.length;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
