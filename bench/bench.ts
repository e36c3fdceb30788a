import { startServer, type ZooKeeperServer } from "../test/support/zookeeper-server.ts";
import type { Row } from "./row.ts";

/** How much is to be done. */
export interface Effort {
  /** About two minutes for all of it: fewer rounds, smaller trees. */
  readonly isQuick: boolean;
}

/** What one file of bench/rows/ measures. */
export interface Measurement {
  /** What `--only` looks for, together with the rows' texts. */
  readonly name: string;
  readonly measure: (effort: Effort) => Promise<Row[]>;
}

/**
 * A server of its own for a measurement, so that none inherits another's heap. It compiles as a
 * server does that runs for weeks; the tests' compiles as little as possible.
 */
export async function withServer<T>(work: (server: ZooKeeperServer) => Promise<T>): Promise<T> {
  const server = await startServer({
    tickTime: 2_000,
    config: { forceSync: "yes" },
    jvmFlags: ["-XX:TieredStopAtLevel=4", "-Xmx1g"],
  });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}
