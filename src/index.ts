/** What programs can use of zksh: ZooKeeper sessions and their errors. */
export * from "./errors.ts";
export { parseConnectString } from "./session/connect-string.ts";
export type * from "./session/options.ts";
export * from "./session/session.ts";
export { openSession } from "./session/zookeeper/client.ts";
