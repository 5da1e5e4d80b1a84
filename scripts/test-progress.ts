// A vitest reporter that keeps in a file how far a run has come: what counts in the end, and what to run again should the
// run stall. `npm test` (test.ts) reads the file.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestCase, TestModule, TestSpecification } from "vitest/node";
import type { Reporter } from "vitest/reporters";
import { STATE_ROOT } from "./build.ts";

export const PROGRESS_PATH = join(STATE_ROOT, "test-progress.json");

export interface Progress {
  passed: number;
  /** A file that could not even be loaded, and an error outside any test, count as one each. */
  failed: number;
  /** Test files that began or wait to begin. */
  unfinished: string[];
}

export default class TestProgress implements Reporter {
  readonly #unfinished = new Map<string, { passed: number; failed: number }>();
  #passed = 0;
  #failed = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    for (const { moduleId } of specifications) this.#unfinished.set(moduleId, { passed: 0, failed: 0 });
    this.#write();
  }

  /** What a file has so far counts only when it ends: a file that stalls is run again as a whole. */
  onTestCaseResult(test: TestCase): void {
    const counts = this.#unfinished.get(test.module.moduleId);
    const { state } = test.result();
    if (counts && (state === "passed" || state === "failed")) counts[state]++;
    this.#write();
  }

  onTestModuleEnd(file: TestModule): void {
    const { passed = 0, failed = 0 } = this.#unfinished.get(file.moduleId) ?? {};
    const isBroken = file.state() === "failed" && failed === 0;
    this.#passed += passed;
    this.#failed += isBroken ? 1 : failed;
    this.#unfinished.delete(file.moduleId);
    this.#write();
  }

  onTestRunEnd(_files: readonly TestModule[], errors: readonly unknown[]): void {
    this.#failed += errors.length;
    this.#write();
  }

  #write(): void {
    const progress: Progress = {
      ...{ passed: this.#passed, failed: this.#failed },
      unfinished: [...this.#unfinished.keys()],
    };
    writeFileSync(PROGRESS_PATH, JSON.stringify(progress));
  }
}
