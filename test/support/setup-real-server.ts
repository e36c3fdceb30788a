import type { TestProject } from "vitest/node";
import { createClassArchive } from "./class-archive.ts";
import type {} from "./shared-server.ts";
import { startServer } from "./zookeeper-server.ts";

/** Once per run: starts the ZooKeeper that all integration tests share. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // It keeps the znodes of every test in memory, and some tests read many megabytes at once; a
  // server without memory ends.
  const starting = startServer({ jvmFlags: ["-Xmx1g"] });
  const [server] = await Promise.all([starting, createClassArchive()]);
  project.provide("zookeeper", server.address);
  return async () => {
    const { isRunning } = server;
    await server.stop();
    // Nothing else would tell why so many tests have failed.
    if (!isRunning) throw new Error(`the server that all tests share has ended:\n${server.log()}`);
  };
}
