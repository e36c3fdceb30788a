import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/defects/**"],
    globalSetup: "test/support/global-setup.ts",
    reporters: ["default", "./test/support/reporter.ts"],
    pool: "forks",
    // Real servers run beside the workers, and some tests look at clocks: more workers than cores
    // only make them flaky.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
