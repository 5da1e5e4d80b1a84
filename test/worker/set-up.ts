// Runs before each worker test file: brings its D1 to the schema of migrations/, and keeps the Worker's own lines out
// of the results.

import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";

if (!env.TEST_MIGRATIONS) throw new Error("vitest.config.ts gives every worker test its migrations");
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

for (const level of ["log", "error"] as const) {
  const print = console[level].bind(console);
  console[level] = (...words: unknown[]) => {
    if (!String(words[0]).startsWith('{"event":')) print(...words);
  };
}
