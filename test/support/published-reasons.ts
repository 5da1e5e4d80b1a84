// Every reason that the published mechanisms can give, read from their own code, so that a new version's new reason
// makes a test fail instead of passing unseen. Node only.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Sponsoring is not offered: the mechanisms never see an extension, so these cannot be their reasons here. */
export const SPONSORING = /^(invalid_)?(erc20_approval|eip2612)_/;

/** The reason constants in the facilitator halves of the published mechanisms for exact and upto. */
export function publishedReasons(): string[] {
  const folder = "node_modules/@x402/evm/dist/esm";
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => readFileSync(join(folder, file), "utf8"));
  const reasons = sources.flatMap((source) =>
    [...source.matchAll(/\bErr[A-Z]\w+ = "([a-z0-9_]+)"/g)].map((match) => match[1] ?? ""),
  );
  return [...new Set(reasons)].filter((reason) => !/batch_settlement|auth_capture/.test(reason));
}
