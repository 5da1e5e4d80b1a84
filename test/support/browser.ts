// Debian's Chromium, driven by playwright-core, for tests that look at pages. Absent on many machines: tests ask first.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser's binary, or undefined when there is none: then the one line says so. */
export function findChromium(): string | undefined {
  const path = PATHS.find((candidate) => existsSync(candidate));
  if (path === undefined) console.log(`skipped: no Chromium at ${PATHS.join(", ")}, so no page is looked at`);
  return path;
}

export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, timeout: 60_000, args: QUIET });
}

/** Without a sandbox of its own, because tests run as root; and without a word to any other host. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
