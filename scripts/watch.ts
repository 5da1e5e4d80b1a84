// `npm run watch`: the chain and `wrangler dev`, which rebuilds the Worker at every change, until Ctrl-C.

import { runWorld } from "./run-world.ts";
import { startWranglerDev } from "./worker/wrangler-dev.ts";

await runWorld({ onLog: (line) => console.log(line), launch: startWranglerDev });
