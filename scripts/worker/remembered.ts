// What wrangler's library makes of a text, kept in .souk/ by the hash of that text: to load the library takes two
// seconds of each process that starts a Worker, and the answer is the same until the text or wrangler changes.

import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PROJECT_ROOT, STATE_ROOT } from "../build.ts";

type Wrangler = typeof import("wrangler");

const require = createRequire(import.meta.url);
const FOLDER = join(STATE_ROOT, "remembered");

/** `make` is named by `what`, must depend on the text alone, and answer what JSON can hold. */
export function remembered<Made>(what: string, text: string, make: (wrangler: Wrangler) => Made): Made {
  const { version } = require("wrangler/package.json") as { version: string };
  // The root too: wrangler answers paths.
  const key = createHash("sha256")
    .update(JSON.stringify([version, PROJECT_ROOT, text]))
    .digest("hex");
  const path = join(FOLDER, `${what}-${key.slice(0, 32)}.json`);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Made;
  } catch {
    // Not asked before.
  }
  const made = make(require("wrangler") as Wrangler);
  mkdirSync(FOLDER, { recursive: true });
  // In one step: processes that start at the same time read all of it or nothing.
  const fresh = `${path}.${randomUUID()}`;
  writeFileSync(fresh, JSON.stringify(made));
  renameSync(fresh, path);
  return made;
}
