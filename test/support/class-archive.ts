/**
 * Class-data sharing: an archive of the classes that a ZooKeeper server loads, which every later
 * start maps into memory instead of reading and checking them again.
 */
import { existsSync } from "node:fs";
import { eventually } from "./eventually.ts";
import { classArchive } from "./java.ts";
import { makeCached } from "./java-cache.ts";
import { freshChroot } from "./shared-server.ts";
import { startServer } from "./zookeeper-server.ts";

const WRITTEN_WITHIN_MS = 60_000;

/**
 * Creates the archive where it is missing. A Java without archives (before 13) starts without.
 */
export async function createClassArchive(): Promise<void> {
  await makeCached(classArchive(), async (temporary) => {
    const server = await startServer({ jvmFlags: [`-XX:ArchiveClassesAtExit=${temporary}`] });
    try {
      // A client, so that the classes of sessions and requests are loaded.
      await freshChroot(server.address);
      // The JVM writes the archive on its way out: stop() would kill it in the middle of that.
      process.kill(server.pid, "SIGTERM");
      await eventually(() => !server.isRunning, { timeoutMs: WRITTEN_WITHIN_MS });
      if (!existsSync(temporary)) throw new Error("this Java writes no archive");
    } finally {
      await server.stop();
    }
  }).catch(() => {});
}
