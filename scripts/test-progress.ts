// A vitest reporter that keeps in a file how far a run has come: what counts in the end, and which files did not end should
// the run stall. `npm test` (test.ts) reads the file.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestModule, TestSpecification } from "vitest/node";
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
  readonly #unfinished = new Set<string>();
  #passed = 0;
  #failed = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    for (const { moduleId } of specifications) this.#unfinished.add(moduleId);
    this.#write();
  }

  /** Only says that the run goes on: a file counts when it ends. */
  onTestCaseResult(): void {
    this.#write();
  }

  onTestModuleEnd(file: TestModule): void {
    const failed = [...file.children.allTests("failed")].length;
    this.#passed += [...file.children.allTests("passed")].length;
    this.#failed += failed === 0 && file.state() === "failed" ? 1 : failed;
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
      unfinished: [...this.#unfinished],
    };
    writeFileSync(PROGRESS_PATH, JSON.stringify(progress));
  }
}
