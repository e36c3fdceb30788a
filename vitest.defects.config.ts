import { defineConfig } from "vitest/config";

// Kept apart: these tests show what is wrong in packages we build on, and are expected to fail the
// day it is mended.
export default defineConfig({
  test: {
    include: ["test/defects/**/*.test.ts"],
    globalSetup: "test/support/setup-real-server.ts",
    reporters: ["default", "./test/support/reporter.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
