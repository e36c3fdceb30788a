import { startTimer } from "../../../async/timer.ts";
import { OperationError } from "../../../errors.ts";
import type { JuteReader, JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode, type OpcodeName, WatcherType } from "../../../wire/protocol.ts";
import { validatePath } from "../../path.ts";
import type {
  CallOptions,
  ReadOptions,
  RemoveWatchOptions,
  WatchKind,
  WatchListener,
} from "../../session.ts";
import { knows, SINCE, type Version } from "../connecting/server-version.ts";
import type { Connection } from "../connection.ts";
import type { Forget, OneShotKind } from "../watches/watch-registry.ts";
import { type Call, limited, perform } from "./call.ts";
import { Request } from "./request.ts";

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
  /** It stands for a multi of this one operation. */
  readonly opIndex?: number | undefined;
  readonly isSequential?: boolean;
  readonly isPlainRead?: boolean;
  readonly write: (writer: JuteWriter, serverPath: string) => void;
  readonly read: (body: JuteReader, zxid: bigint) => T;
  readonly refused?: Call<T>["refused"];
  readonly late?: (() => void) | undefined;
}

/**
 * What the operations of a session have in common: path checks, the chroot, watches, and which
 * server knows what.
 */
export class OperationCaller {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
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
      request: new Request(
        operation.opcode,
        (writer) => write(writer, serverPath),
        serverPath,
        operation.isPlainRead ?? false,
      ),
      read,
      path,
      opIndex: operation.opIndex,
      refused: operation.refused,
      late: operation.late,
    };
    return perform(this.#connection, call, options);
  }

  /** A read that may leave a watch of `kind`; a read whose caller has gone leaves none. */
  read<T>(
    opcode: number,
    path: string,
    options: ReadOptions,
    read: (body: JuteReader) => T,
    {
      kind,
      whenMissing,
    }: { kind: OneShotKind; whenMissing?: (code: number) => { value: T } | undefined },
  ): Promise<T> {
    const { watch } = options;
    const serverPath = this.#connection.chroot.toServerPath(path);
    const { watches } = this.#connection;
    const register = (as: OneShotKind) => {
      if (watch === undefined) return;
      watches.addOneShot(as, serverPath, watch);
      // Many servers keep one mode a path, so that a one-shot watch ends the persistent one
      // (ZOOKEEPER-4466).
      if (watches.hasPersistent(serverPath)) this.#connection.reregister(serverPath);
    };
    const operation: Operation<T> = {
      opcode,
      path,
      isPlainRead:
        watch === undefined && (opcode === Opcode.getData || opcode === Opcode.getChildren),
      write: (writer) => {
        writer.string(serverPath);
        writer.boolean(watch !== undefined);
      },
      // Only what is rarely needed costs anything: most reads have no watch.
      read:
        watch === undefined
          ? read
          : (body) => {
              const value = read(body);
              register(kind);
              return value;
            },
      refused:
        whenMissing &&
        ((code) => {
          const missing = whenMissing(code);
          if (missing !== undefined) register("exist");
          return missing;
        }),
      late: watch && (() => this.dropWatch(serverPath, watch)),
    };
    return this.call(operation, options);
  }

  removeWatch(
    path: string,
    listener: WatchListener,
    options: RemoveWatchOptions,
  ): Promise<readonly WatchKind[]> {
    return this.#forget(this.#connection.chroot.toServerPath(path), listener, options, { path });
  }

  /**
   * Removes a watch that was set for a caller who gave up; there is no caller to report a failure
   * to.
   */
  dropWatch(serverPath: string, listener: WatchListener): void {
    this.#forget(serverPath, listener, {}).catch(() => {});
  }

  async #forget(
    serverPath: string,
    listener: WatchListener,
    options: RemoveWatchOptions,
    about: { readonly path?: string } = {},
  ): Promise<readonly WatchKind[]> {
    const { removed, forget } = this.#connection.watches.remove(serverPath, listener, options.kind);
    // A server forgets a connection's watches with the connection: while suspended there is nothing
    // to ask for.
    if (forget === undefined || this.#connection.state !== "connected") return removed;
    if (!(await this.has("removeWatches", options))) return removed;
    const operation: Operation<void> = {
      opcode: Opcode.removeWatches,
      ...about,
      write: (writer) => {
        writer.string(serverPath);
        writer.int(FORGET[forget]);
      },
      read: () => undefined,
      refused: (code) => (code === ErrorCode.noWatcher ? { value: undefined } : undefined),
    };
    await this.call(operation, options);
    // Of a kind that goes, the server forgets persistent watches too.
    this.#connection.reregister(serverPath);
    return removed;
  }

  /**
   * Whether the attached server knows an operation; waits for a connection if there is none, as
   * long as the caller may.
   */
  async has(name: OpcodeName, options: CallOptions): Promise<boolean> {
    return knows(await this.#serverVersion(name, options), name);
  }

  /**
   * The attached server has said before that it knows it: no need to wait, the operation can leave
   * in this very turn.
   */
  surelyHas(name: OpcodeName): boolean {
    const { endpoint, versions } = this.#connection;
    return endpoint !== undefined && versions.surelyHas(endpoint, name);
  }

  /** Refuses an operation by name, without troubling a server that would answer by hanging up. */
  async require(name: OpcodeName, options: CallOptions): Promise<void> {
    const version = await this.#serverVersion(name, options);
    if (knows(version, name)) return;
    const since = SINCE[name]?.join(".");
    throw new OperationError(
      "unimplemented",
      `${name} needs ZooKeeper ${since}; this server is ${version?.join(".")}`,
      {
        hint: `server: ${this.#connection.endpoint?.address ?? "none"}`,
      },
    );
  }

  #serverVersion(name: OpcodeName, options: CallOptions): Promise<Version | undefined> {
    return limited(
      this.#connection.aborts,
      this.#attachedVersion(),
      options,
      `no server to ask for ${name}`,
    );
  }

  async #attachedVersion(): Promise<Version | undefined> {
    const { versions } = this.#connection;
    versions.askEach();
    await this.#connection.whenConnected();
    const { endpoint } = this.#connection;
    return endpoint && awaited(versions.ask(endpoint));
  }
}

/**
 * Questions to servers do not keep the process alive; where a caller waits for the answer, it must
 * not end before.
 */
async function awaited<T>(answer: Promise<T>): Promise<T> {
  const stopWaking = startTimer(Number.POSITIVE_INFINITY, () => {});
  try {
    return await answer;
  } finally {
    stopWaking();
  }
}
