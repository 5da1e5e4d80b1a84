// Our verify equals the reference: thousands of generated payments, judged by both over the same chain state. What is
// compared begins below the decoder and the allowlist: both sides are given the same decoded payment. Left out, because
// we are stricter on purpose: the client's own copy of asset, receiver and amount (the reference never looks at it),
// dust, and the wrapper of a wallet that stands already under Permit2 (test/verify/signatures.test.ts, C06). The same inside
// workerd: test/worker/differential.test.ts.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../scripts/chain/anvil.ts";
import { makeCases } from "./support/differential/cases.ts";
import { type Comparison, compareAll } from "./support/differential/compare.ts";
import {
  REACHABLE_REASONS,
  TIMES_EACH,
  UNREACHABLE_REASONS,
} from "./support/differential/expected-reasons.ts";
import { prepareGround } from "./support/differential/ground.ts";
import { publishedReasons, SPONSORING } from "./support/published-reasons.ts";

/** Another one gives other payments: `DIFFERENTIAL_SEED=7 npx vitest run test/differential.test.ts`. */
const SEED = Number(process.env.DIFFERENTIAL_SEED ?? 1);
const PAYMENTS_MIN = 5_000;
/** Some twenty seconds on two idle cores. */
const TIMEOUT_MS = 240_000;

describe("verify equals the published mechanisms", () => {
  let anvil: Anvil;
  let comparison: Comparison;
  beforeAll(async () => {
    anvil = await startAnvil();
    const ground = await prepareGround(anvil.rpcUrl);
    const { cases, refusedByDecoder } = await makeCases(ground, SEED, 1);
    comparison = await compareAll(ground, cases);
    console.log(`${comparison.compared} payments compared, ${refusedByDecoder} refused by the decoder`);
    console.table(comparison.reasons);
  }, TIMEOUT_MS);
  afterAll(() => anvil?.stop());

  it("in verdict, reason and payer, for at least 5,000 payments", () => {
    expect(comparison.differences).toEqual([]);
    expect(comparison.compared).toBeGreaterThanOrEqual(PAYMENTS_MIN);
  });

  it.each(REACHABLE_REASONS)("meets %s often enough to mean something", (reason) => {
    expect(comparison.reasons[reason] ?? 0).toBeGreaterThanOrEqual(TIMES_EACH);
  });

  it("meets every reason of the published package that can arise", () => {
    const expected = [...REACHABLE_REASONS, ...Object.keys(UNREACHABLE_REASONS)];
    const published = publishedReasons().filter((reason) => !SPONSORING.test(reason));
    expect(published.filter((reason) => !expected.includes(reason))).toEqual([]);
    expect(Object.keys(comparison.reasons).filter((reason) => reason in UNREACHABLE_REASONS)).toEqual([]);
  });
});
