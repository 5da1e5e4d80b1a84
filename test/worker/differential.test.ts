// test/differential.test.ts once more, smaller and inside workerd: another engine's numbers, hashes and clock.

import { expect, it } from "vitest";
import { startLabChain } from "../support/chain-lab-client.ts";
import { makeCases } from "../support/differential/cases.ts";
import { compareAll } from "../support/differential/compare.ts";
import { REACHABLE_REASONS } from "../support/differential/expected-reasons.ts";
import { prepareGround } from "../support/differential/ground.ts";

const SEED = 2;
const SCALE = 0.1;
const PAYMENTS_MIN = 500;
const TIMEOUT_MS = 120_000;

it(
  "verify equals the published mechanisms inside workerd too",
  async () => {
    const { rpcUrl } = await startLabChain();
    const ground = await prepareGround(rpcUrl);
    const { cases } = await makeCases(ground, SEED, SCALE);
    const { compared, differences, reasons } = await compareAll(ground, cases);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(PAYMENTS_MIN);
    expect(REACHABLE_REASONS.filter((reason) => !reasons[reason])).toEqual([]);
  },
  TIMEOUT_MS,
);
