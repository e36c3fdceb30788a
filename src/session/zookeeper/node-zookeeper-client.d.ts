declare module "node-zookeeper-client/lib/ConnectionManager.js" {
  /** The parts of the package's connection manager that zksh uses. */
  class ConnectionManager {
    static readonly STATES: {
      readonly DISCONNECTED: number;
      readonly CONNECTING: number;
      readonly CONNECTED: number;
      readonly CONNECTED_READ_ONLY: number;
      readonly CLOSED: number;
      readonly SESSION_EXPIRED: number;
      readonly AUTHENTICATION_FAILED: number;
    };

    constructor(
      connectionString: string,
      options: { sessionTimeout: number; spinDelay: number },
      onState: (state: number) => void,
    );

    readonly state: number;
    packetQueue: {
      push(packet: {
        request: import("./requests/request.ts").Request;
        callback: import("./requests/request.ts").Callback;
      }): void;
    };

    setState(state: number): void;
    queue(
      request: import("./requests/request.ts").Request,
      callback: import("./requests/request.ts").Callback,
    ): void;
  }

  export default ConnectionManager;
}
