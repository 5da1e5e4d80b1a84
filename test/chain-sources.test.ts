// What is committed is what the sources give: nobody has to trust a binary file, and nobody forgets to rebuild it.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SAVED_STATE_PATH } from "../scripts/chain/anvil.ts";
import { buildChain } from "../scripts/chain/build-chain.ts";
import { SAVED_ARTIFACTS_PATH } from "../scripts/chain/compile.ts";

it("`npm run chain:build` would write the very files that stand in contracts/", async () => {
  const { state, artifacts } = await buildChain();
  // Compared as a boolean: a difference would print both files, a third of a megabyte each.
  expect(artifacts === readFileSync(SAVED_ARTIFACTS_PATH, "utf8")).toBe(true);
  expect(state === readFileSync(SAVED_STATE_PATH, "utf8")).toBe(true);
});
