import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import type {} from "./shared-server.ts";
import { startServer } from "./zookeeper-server.ts";

/**
 * Once per run: builds the program that end-to-end tests start, and the server that all tests
 * share.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = join(import.meta.dirname, "../..");
  const build = join(root, "scripts/build.js");
  if (existsSync(build))
    execFileSync(process.execPath, [build, "--quiet"], { cwd: root, stdio: "inherit" });

  // What all tests leave behind is in its memory, and some read many megabytes at once: a server
  // that runs out of it ends.
  const server = await startServer({ jvmFlags: ["-Xmx1g"] });
  project.provide("zookeeper", server.address);
  return async () => {
    const { isRunning } = server;
    await server.stop();
    // Nothing else would tell why so many tests have failed.
    if (!isRunning) throw new Error(`the server that all tests share has ended:\n${server.log()}`);
  };
}
