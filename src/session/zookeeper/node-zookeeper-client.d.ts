declare module "node-zookeeper-client/lib/ConnectionManager.js" {
  import type { EventEmitter } from "node:events";

  /** The parts of the package's connection manager that zksh builds on. */
  class ConnectionManager extends EventEmitter {
    static readonly STATES: {
      readonly DISCONNECTED: number;
      readonly CONNECTING: number;
      readonly CONNECTED: number;
      readonly CONNECTED_READ_ONLY: number;
      readonly CLOSING: number;
      readonly CLOSED: number;
      readonly SESSION_EXPIRED: number;
      readonly AUTHENTICATION_FAILED: number;
    };

    constructor(
      connectionString: string,
      options: { sessionTimeout: number; spinDelay: number },
      onState: (state: number) => void,
    );

    state: number;
    sessionTimeout: number;
    credentials: { scheme: string; auth: Buffer }[];
    packetQueue: { push(packet: { request: object; callback: unknown }): void };

    connect(): void;
    close(): void;
    setState(state: number): void;
    updateTimeout(sessionTimeout: number): void;
    queue(
      request: { header: { type: number }; payload: null },
      callback: (failure: { code: number } | null) => void,
    ): void;
    onPacketQueueReadable(): void;
    onSocketData(chunk: Buffer): void;
    onSocketClosed(): void;
  }

  export default ConnectionManager;
}
