// The measures of the search evaluation, on rankings whose values can be worked out by hand.

import { expect, it } from "vitest";
import type { LabelledQuery } from "../../scripts/search/labelled-set.ts";
import { measure } from "../../scripts/search/measures.ts";

const query = (judgments: Record<string, number>): LabelledQuery => ({
  qid: "Q",
  query: "q",
  style: "s",
  filters: {},
  judgments,
});

it("a perfect ranking scores one in all, and empty pages without an answer are quiet", () => {
  const perfect = { query: query({ a: 3, b: 2, c: 1 }), found: ["a", "b", "c", "x"] };
  const quiet = { query: query({}), found: [] };
  expect(measure([perfect, quiet])).toEqual({ ndcg10: 1, mrr10: 1, recall20: 1, quiet: 1 });
});

it("gain is 2^grade - 1, discounted by rank; marginal results are no hit", () => {
  const { ndcg10, mrr10, recall20 } = measure([
    { query: query({ a: 3, b: 2, c: 1 }), found: ["c", "x", "a"] },
  ]);
  expect(ndcg10).toBeCloseTo((1 + 7 / 2) / (7 + 3 / Math.log2(3) + 1 / 2), 10);
  expect(mrr10).toBeCloseTo(1 / 3, 10);
  expect(recall20).toBe(0.5);
});

it("only the top counts: ten for nDCG and MRR, twenty for recall", () => {
  const found = [...Array.from({ length: 10 }, (_, i) => `x${i}`), "a"];
  expect(measure([{ query: query({ a: 3 }), found }])).toMatchObject({ ndcg10: 0, mrr10: 0, recall20: 1 });
});

it("results where no answer exists are not quiet", () => {
  const noisy = { query: query({}), found: ["x"] };
  expect(measure([noisy, { query: query({}), found: [] }]).quiet).toBe(0.5);
});
