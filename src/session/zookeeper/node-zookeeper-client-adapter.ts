/**
 * The door to node-zookeeper-client, and the only one. Its connection manager is the base class of
 * ours (connection.ts), reached by its file because the package's index hides it. The version is
 * pinned in package.json.
 */
import ConnectionManager from "node-zookeeper-client/lib/ConnectionManager.js";

/** The package's connection states, by its own numbers. */
export const LibraryState = ConnectionManager.STATES;

// What connection.ts replaces, and what it relies on. A release that renames one of them would
// silently bring an old defect back, so it is better not to start at all.
const RELIED_UPON = [
  "connect",
  "close",
  "queue",
  "setState",
  "updateTimeout",
  "onPacketQueueReadable",
  "onSocketData",
  "onSocketClosed",
] as const;

for (const method of RELIED_UPON) {
  if (typeof ConnectionManager.prototype[method] !== "function") {
    throw new Error(
      `node-zookeeper-client has no ConnectionManager.${method}: zksh needs version 1.1.3`,
    );
  }
}

export { ConnectionManager };
