// `npm run build`: the Worker as it is deployed, bundled and minified into dist/. The local world, the tests outside
// the pool and the size check all run this bundle, so that what they show holds for what is deployed.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const PROJECT_ROOT = fileURLToPath(new URL("..", import.meta.url));
export const BUNDLE_FOLDER = join(PROJECT_ROOT, "dist");
/** All that the scripts keep between runs; not in git. */
export const STATE_ROOT = join(PROJECT_ROOT, ".souk");

/** All that a bundle is made of; the lock file stands for the packages. */
const INGREDIENTS = ["src/**/*.ts", "wrangler.toml", "package.json", "package-lock.json", "tsconfig.json"];
/** In the bundle's folder: the hash of what it was made of. */
const MADE_OF = "made-of";

/** Takes two or three seconds; this bounds it on a machine that is very busy. */
const BUILD_TIMEOUT_MS = 120_000;

/** Wrangler says nothing to anybody: no metrics, no banner, no look-ups, no error reports. */
export const QUIET_WRANGLER: Record<string, string> = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CI: "true",
};

/** Wrangler's entry, to be run by this Node: the machine's own may be too old for it. */
export function wranglerPath(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("wrangler/package.json")), "bin", "wrangler.js");
}

/**
 * Bundles src/ into `BUNDLE_FOLDER` by a dry-run deploy, unless the bundle there was made of the same. The folder
 * changes in one step, so a world that starts at the same time reads either the old bundle or the new one.
 * @throws Error with wrangler's own words when the code does not bundle.
 */
export async function buildBundle(): Promise<void> {
  // Read before the build: what changes during it is built the next time.
  const ingredients = hashOf(globSync(INGREDIENTS, { cwd: PROJECT_ROOT }).sort());
  const madeOf = join(BUNDLE_FOLDER, MADE_OF);
  if (existsSync(madeOf) && readFileSync(madeOf, "utf8") === ingredients) return;
  mkdirSync(STATE_ROOT, { recursive: true });
  const fresh = mkdtempSync(join(STATE_ROOT, "build-"));
  try {
    const args = [wranglerPath(), "deploy", "--dry-run", "--minify", "--outdir", fresh];
    await promisify(execFile)(process.execPath, args, {
      cwd: PROJECT_ROOT,
      env: { ...process.env, ...QUIET_WRANGLER },
      timeout: BUILD_TIMEOUT_MS,
    }).catch((error: { stdout?: string; stderr?: string; message: string }) => {
      throw new Error(`the bundle was not built\n${error.stdout ?? ""}${error.stderr ?? error.message}`);
    });
    writeFileSync(join(fresh, MADE_OF), ingredients);
    replaceFolder(BUNDLE_FOLDER, fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(PROJECT_ROOT, path)));
  return hash.digest("hex");
}

/** Two builds at once are fine: whoever comes second replaces what the first has put there. */
function replaceFolder(target: string, fresh: string): void {
  for (let attempt = 1; ; attempt++) {
    const old = `${fresh}-old-${attempt}`;
    try {
      if (existsSync(target)) renameSync(target, old);
      renameSync(fresh, target);
      return;
    } catch (error) {
      if (attempt === 3) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildBundle();
