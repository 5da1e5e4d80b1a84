// Three layers: pure rules in Node, objects and storage inside workerd, and the built bundle in its own process with a
// chain, called from outside. Few worker files: each one costs seconds.

import { availableParallelism } from "node:os";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const migrations = await readD1Migrations("migrations");

/** Of some packages the sources that their maps name are not published: nothing to be done about. */
const withoutSourceMapWarnings: Plugin = {
  name: "without-source-map-warnings",
  configResolved: ({ logger }) => {
    const warnOnce = logger.warnOnce.bind(logger);
    logger.warnOnce = (message, options) => {
      if (!message.startsWith("Sourcemap for")) warnOnce(message, options);
    };
  },
};

/** Long to run, though short to read: begun last, as by their size, each would run alone in the end. */
const LONG_FILES =
  /(ledger-simulation|differential|schema-check|catalog-queue|gateway-restart|garbage)\.test\.ts$/;

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (LONG_FILES.test(moduleId) ? 0 : 1);
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    // What a test prints is shown when it fails.
    silent: "passed-only",
    // Most of an end-to-end test is waiting, for blocks and for processes: more files at once than the cores.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/worker/**", "test/e2e/**"],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/build-bundle.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        plugins: [
          withoutSourceMapWarnings,
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: migrations,
                ADMIN_TOKEN: "local-operator",
                MAC_KEYS: `1:${"ab".repeat(32)}`,
                CHALLENGE_SIGNING_KEYS: "b2".repeat(32),
                RECEIPT_SIGNING_KEYS: "c3".repeat(32),
              },
            },
          }),
        ],
        test: {
          name: "worker",
          // A late console.log from an object hangs the run otherwise.
          disableConsoleIntercept: true,
          include: ["test/worker/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          setupFiles: ["test/worker/set-up.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
