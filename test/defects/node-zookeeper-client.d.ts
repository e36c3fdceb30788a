/** The parts of the plain package that the experiments need, private ones among them. */
declare module "node-zookeeper-client" {
  import type { EventEmitter } from "node:events";

  export interface State {
    readonly name: string;
  }

  export interface Exception extends Error {
    readonly code: number;
  }

  export type Callback<T = unknown> = (error: Exception | null, value?: T) => void;
  export type Watcher = (event: object) => void;

  export interface Client extends EventEmitter {
    readonly connectionManager: {
      xid: number;
      servers: { host: string; port: number | string }[];
      socket: { destroy(): void } | undefined;
      connect(): void;
      queue(request: object, callback: Callback): void;
    };
    connect(): void;
    close(): void;
    getState(): State;
    addAuthInfo(scheme: string, credential: Buffer): void;
    create(path: string, callback: Callback<string>): void;
    create(path: string, mode: number, callback: Callback<string>): void;
    remove(path: string, callback: Callback): void;
    exists(path: string, callback: Callback): void;
    exists(path: string, watcher: Watcher, callback: Callback): void;
    getData(path: string, callback: Callback): void;
    setData(path: string, data: Buffer | null, callback: Callback): void;
    transaction(): Transaction;
  }

  export interface Transaction {
    remove(path: string, version: number): Transaction;
    commit(callback: Callback): void;
  }

  const zookeeper: {
    createClient(
      connectString: string,
      options?: { sessionTimeout?: number; spinDelay?: number; retries?: number },
    ): Client;
    readonly CreateMode: Readonly<Record<string, number>>;
    readonly State: {
      readonly DISCONNECTED: State;
      readonly SYNC_CONNECTED: State;
      readonly EXPIRED: State;
    };
    readonly Exception: Readonly<Record<string, number>>;
  };
  export default zookeeper;
}
