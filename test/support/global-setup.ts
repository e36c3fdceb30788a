import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import type {} from "./shared-server.ts";
import { startServer } from "./zookeeper-server.ts";

/** Once per run: builds the program that end-to-end tests start, and the server that all tests share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = join(import.meta.dirname, "../..");
  const build = join(root, "scripts/build.js");
  if (existsSync(build)) execFileSync(process.execPath, [build, "--quiet"], { cwd: root, stdio: "inherit" });

  const server = await startServer();
  project.provide("zookeeper", server.address);
  return () => server.stop();
}
