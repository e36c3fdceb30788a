import { OperationError } from "../../errors.ts";
import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { ErrorCode, Opcode, type OpcodeName, WatcherType } from "../../wire/protocol.ts";
import type { TlsOptions } from "../options.ts";
import { validatePath } from "../path.ts";
import type { CallOptions, ReadOptions, WatchListener } from "../session.ts";
import { type Call, perform } from "./call.ts";
import type { Connection } from "./connection.ts";
import { Request } from "./request.ts";
import { askVersion, isAtLeast, SINCE, type Version } from "./server-version.ts";
import type { Forget, OneShotKind } from "./watches.ts";

const FORGET: Readonly<Record<Forget, number>> = {
  data: WatcherType.data,
  child: WatcherType.children,
  any: WatcherType.any,
};

/** One operation, as its method describes it. */
export interface Operation<T> {
  readonly opcode: number;
  /** Checked before anything is sent. */
  readonly path?: string;
  readonly isSequential?: boolean;
  /** About how long the request is, when that may be too long. */
  readonly bytes?: number | undefined;
  readonly write: (writer: JuteWriter, serverPath: string) => void;
  readonly read: (body: JuteReader, zxid: bigint) => T;
  readonly refused?: Call<T>["refused"];
  readonly late?: () => void;
}

/** What the operations of a session have in common: path checks, the chroot, watches, and which server knows what. */
export class Caller {
  readonly #connection: Connection;
  readonly #tls: TlsOptions | undefined;
  readonly #versions = new Map<string, Promise<Version | undefined>>();

  constructor(connection: Connection, tls: TlsOptions | undefined) {
    this.#connection = connection;
    this.#tls = tls;
  }

  /** Sends an operation in this very turn; a bad path rejects like any other failure. */
  call<T>(operation: Operation<T>, options: CallOptions): Promise<T> {
    const { path, write, read } = operation;
    try {
      if (path !== undefined) validatePath(path, { sequential: operation.isSequential ?? false });
    } catch (error) {
      return Promise.reject(error);
    }
    const serverPath = path === undefined ? "" : this.#connection.chroot.toServerPath(path);
    const call: Call<T> = {
      request: new Request(operation.opcode, (writer) => write(writer, serverPath), serverPath),
      read: ({ body, zxid }) => read(body, zxid),
      ...(path === undefined ? {} : { path }),
      ...(operation.bytes === undefined ? {} : { bytes: operation.bytes }),
      ...(operation.refused === undefined ? {} : { refused: operation.refused }),
      ...(operation.late === undefined ? {} : { late: operation.late }),
    };
    return perform(this.#connection, call, options);
  }

  /** A read that may leave a watch of `kind`; a read whose caller has gone leaves none. */
  read<T>(
    opcode: number,
    path: string,
    options: ReadOptions,
    read: (body: JuteReader) => T,
    { kind, whenMissing }: { kind: OneShotKind; whenMissing?: (code: number) => { value: T } | undefined },
  ): Promise<T> {
    const { watch } = options;
    const serverPath = this.#connection.chroot.toServerPath(path);
    const register = (as: OneShotKind) => {
      if (watch !== undefined) this.#connection.watches.addOneShot(as, serverPath, watch);
    };
    const operation: Operation<T> = {
      opcode,
      path,
      write: (writer) => {
        writer.string(serverPath);
        writer.boolean(watch !== undefined);
      },
      read: (body) => {
        const value = read(body);
        register(kind);
        return value;
      },
      ...(whenMissing && {
        refused: (code: number) => {
          const missing = whenMissing(code);
          if (missing !== undefined) register("exist");
          return missing;
        },
      }),
      ...(watch && { late: () => void this.removeWatch(path, watch, {}) }),
    };
    return this.call(operation, options);
  }

  async removeWatch(path: string, listener: WatchListener, options: CallOptions): Promise<void> {
    const serverPath = this.#connection.chroot.toServerPath(path);
    const forget = this.#connection.watches.remove(serverPath, listener);
    // A server forgets a connection's watches with the connection: while suspended there is nothing to ask for.
    const { sessionState } = this.#connection;
    if (forget === undefined || sessionState !== "connected" || !(await this.has("removeWatches"))) return;
    const operation: Operation<void> = {
      opcode: Opcode.removeWatches,
      path,
      write: (writer) => {
        writer.string(serverPath);
        writer.int(FORGET[forget]);
      },
      read: () => undefined,
      refused: (code) => (code === ErrorCode.noWatcher ? { value: undefined } : undefined),
    };
    await this.call(operation, options);
    if (forget === "any") this.#connection.rearm(serverPath);
  }

  /** Whether the attached server knows an operation; waits for a connection if there is none. */
  async has(name: OpcodeName): Promise<boolean> {
    const least = SINCE[name];
    if (least === undefined) return true;
    const version = await this.#serverVersion();
    return version === undefined || isAtLeast(version, least);
  }

  /** Refuses an operation by name, without troubling a server that would answer by hanging up. */
  async require(name: OpcodeName): Promise<void> {
    if (await this.has(name)) return;
    const version = (await this.#serverVersion())?.join(".");
    const since = SINCE[name]?.join(".");
    throw new OperationError("unimplemented", `${name} needs ZooKeeper ${since}; this server is ${version}`, {
      hint: `server: ${this.#connection.endpoint?.address ?? "none"}`,
    });
  }

  async #serverVersion(): Promise<Version | undefined> {
    await this.#connection.whenConnected();
    const endpoint = this.#connection.endpoint;
    if (endpoint === undefined) return undefined;
    const key = `${endpoint.ip} ${endpoint.port}`;
    const known = this.#versions.get(key) ?? askVersion(endpoint, this.#tls);
    this.#versions.set(key, known);
    return known;
  }
}
