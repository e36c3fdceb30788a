import { defineConfig } from "vitest/config";
import { leftOut } from "./test/support/needs.ts";

const root = import.meta.dirname;
// Deadlines only end what hangs: long enough for a machine that does other work as well.
const shared = { testTimeout: 180_000, hookTimeout: 180_000, pool: "forks" } as const;

// A test file's name says what the test needs; see CONTRIBUTING.md.
export default defineConfig({
  test: {
    reporters: ["default", "./test/support/reporter.ts"],
    // Most tests wait for a server, a process or a deadline: more workers than cores.
    maxWorkers: 5,
    // Of tests beside each other in one file, which wait most of the time.
    maxConcurrency: 10,
    coverage: {
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary", "html"],
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{embedded,integration,contract}.test.ts", "test/defects/**"],
          // No module has state, so that files can share the modules that are loaded: less than
          // half of the CPU time.
          isolate: false,
          setupFiles: "test/support/setup-unit.ts",
        },
      },
      {
        test: {
          ...shared,
          name: "embedded",
          include: ["test/**/*.{embedded,contract}.test.ts"],
          globalSetup: "test/support/setup-build.ts",
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["test/**/*.{integration,contract}.test.ts"],
          exclude: leftOut(root),
          globalSetup: ["test/support/setup-build.ts", "test/support/setup-real-server.ts"],
        },
      },
    ],
  },
});
