// `npm run dev`: the chain and the Worker, until Ctrl-C. What the environment may say: README.md, "Run it here".

import { runWorld } from "./run-world.ts";

await runWorld({ onLog: (line) => console.log(line) });
