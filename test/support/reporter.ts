import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Ends the run with one plain line: `N passed, N failed`. */
export default class CountReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  constructor() {
    // At the very end: vitest shows some errors, those of the global setup for one, only after
    // onTestRunEnd.
    process.once("exit", (code) => {
      // Whatever made the run fail, the line must not look green.
      if (code !== 0 && this.#failed === 0) this.#failed = 1;
      const end = this.#skipped > 0 ? `, ${this.#skipped} skipped` : "";
      process.stdout.write(`${this.#passed} passed, ${this.#failed} failed${end}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const states = tests.map((test) => test.result().state);
    this.#passed = states.filter((state) => state === "passed").length;
    this.#skipped = states.filter((state) => state === "skipped").length;
    // A file that cannot be loaded and a hook that fails have errors but no test that failed; what
    // is still pending when the run ends was interrupted.
    const broken = suites.filter((suite) => suite.errors().length > 0).length;
    this.#failed = tests.length - this.#passed - this.#skipped + broken + unhandledErrors.length;
  }
}
