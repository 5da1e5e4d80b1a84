// `npm run chain:build`: builds the test chain and saves it in contracts/, for tests and the local world to start on.

import { writeFileSync } from "node:fs";
import { SAVED_STATE_PATH } from "./anvil.ts";
import { buildChain } from "./build-chain.ts";
import { SAVED_ARTIFACTS_PATH } from "./compile.ts";

const { state, artifacts } = await buildChain();
writeFileSync(SAVED_STATE_PATH, state);
writeFileSync(SAVED_ARTIFACTS_PATH, artifacts);
console.log(`${SAVED_STATE_PATH}: ${state.length} bytes\n${SAVED_ARTIFACTS_PATH}: ${artifacts.length} bytes`);
