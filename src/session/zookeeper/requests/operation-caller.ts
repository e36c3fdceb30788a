import { startTimer } from "../../../async/timer.ts";
import { OperationError } from "../../../errors.ts";
import { type JuteReader, type JuteWriter, MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode, Opcode, type OpcodeName, WatcherType } from "../../../wire/protocol.ts";
import { validatePath } from "../../path.ts";
import type {
  CallOptions,
  ReadOptions,
  RemoveWatchOptions,
  WatchKind,
  WatchListener,
} from "../../session.ts";
import { knows, lacking, type Release } from "../connecting/server-version.ts";
import type { SessionLife } from "../lifetime/session-life.ts";
import type { SessionParts } from "../session-parts.ts";
import type { Forget, OneShotKind } from "../watches/watch-registry.ts";
import { interrupted, limited } from "./limited.ts";
import { type Callback, Request } from "./request.ts";
import { errorOf, malformedReply } from "./request-errors.ts";

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
  /** Reads the reply, and registers its watch, before anything that came behind it is looked at. */
  readonly read: (body: JuteReader, zxid: bigint) => T;
  /** Turns a refusal into a value where it is an answer (`exists`: no such znode). */
  readonly refused?: ((code: number) => { readonly value: T } | undefined) | undefined;
  /** The caller had gone when the answer came. */
  readonly late?: (() => void) | undefined;
}

/**
 * What the operations of a session have in common: path checks, the chroot, watches, and which
 * server knows what.
 */
export class OperationCaller {
  readonly #parts: SessionParts;
  readonly #life: SessionLife;

  constructor(parts: SessionParts, life: SessionLife) {
    this.#parts = parts;
    this.#life = life;
  }

  /**
   * Sends an operation in this very turn; a bad path rejects like any other failure. Settles with
   * its answer, its failure, the caller's signal or its deadline, whichever comes first.
   */
  call<T>(operation: Operation<T>, options: CallOptions): Promise<T> {
    const { path, write } = operation;
    try {
      if (path !== undefined) validatePath(path, { sequential: operation.isSequential ?? false });
    } catch (error) {
      return Promise.reject(error);
    }
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(interrupted(signal));
    const serverPath = path === undefined ? "" : this.#parts.chroot.toServerPath(path);
    const request = new Request(
      operation.opcode,
      (writer) => write(writer, serverPath),
      serverPath,
      operation.isPlainRead ?? false,
    );
    const answer = this.#answer(request, operation);
    if (signal === undefined && options.timeoutMs === undefined) return answer;
    const what = `no answer${path === undefined ? "" : `: ${path}`}`;
    return limited(this.#parts.aborts, answer, options, what, () => {
      if (request.sentAt === undefined) {
        request.cancelled = true;
        return undefined;
      }
      request.abandoned = true;
      answer.then(operation.late, () => {});
      return answer;
    });
  }

  /** Queues the request; settles with its answer or its failure. */
  #answer<T>(request: Request, operation: Operation<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle: Callback = (failure, body, zxid) => {
        try {
          if (failure === null) return resolve(operation.read(body as JuteReader, zxid));
          const accepted = operation.refused?.(failure.code);
          if (accepted !== undefined) return resolve(accepted.value);
          reject(errorOf(this.#life, request, operation, failure));
        } catch (error) {
          if (!(error instanceof MalformedFrameError)) return reject(error);
          reject(malformedReply(operation, error.message));
          // The stream cannot be trusted any further: the reader of replies has to drop it.
          throw error;
        }
      };
      this.#parts.writer.add(request, settle);
    });
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
    const serverPath = this.#parts.chroot.toServerPath(path);
    const { watches } = this.#parts;
    const register = (as: OneShotKind) => {
      if (watch === undefined) return;
      watches.addOneShot(as, serverPath, watch);
      // Many servers keep one mode a path, so that a one-shot watch ends the persistent one
      // (ZOOKEEPER-4466).
      if (watches.hasPersistent(serverPath)) this.#reregister(serverPath);
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
      // Most reads have no watch, and must not pay for one.
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
    return this.#forget(this.#parts.chroot.toServerPath(path), listener, options, { path });
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
    const { removed, forget } = this.#parts.watches.remove(serverPath, listener, options.kind);
    // A server forgets a connection's watches with the connection: while suspended there is nothing
    // to ask for.
    if (forget === undefined || this.#life.state !== "connected") return removed;
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
    this.#reregister(serverPath);
    return removed;
  }

  /**
   * Sets the watches of one of the server's paths again: removing one kind may have taken the
   * others with it.
   */
  #reregister(serverPath: string): void {
    if (this.#life.endpoint === undefined) return;
    const { reregistration, writer } = this.#parts;
    writer.setWatches(reregistration.one(serverPath, this.#life.lastZxid));
  }

  /**
   * Whether the attached server knows an operation; waits for a connection if there is none, as
   * long as the caller may.
   */
  async has(name: OpcodeName, options: CallOptions): Promise<boolean> {
    return knows(await this.#serverRelease(name, options), name);
  }

  /**
   * The attached server has said before that it knows it: no need to wait, the operation can leave
   * in this very turn.
   */
  surelyHas(name: OpcodeName): boolean {
    const { endpoint } = this.#life;
    const { releases } = this.#parts;
    return endpoint !== undefined && releases.surelyHas(endpoint, name);
  }

  /** Refuses an operation by name, before it is sent: the server would answer by hanging up. */
  async require(name: OpcodeName, options: CallOptions): Promise<void> {
    const release = await this.#serverRelease(name, options);
    if (release === undefined || knows(release, name)) return;
    throw new OperationError("unimplemented", lacking(release, name), {
      hint: `server: ${this.#life.endpoint?.address ?? "none"}`,
    });
  }

  #serverRelease(name: OpcodeName, options: CallOptions): Promise<Release | undefined> {
    return limited(
      this.#parts.aborts,
      this.#attachedRelease(),
      options,
      `no server to ask for ${name}`,
    );
  }

  async #attachedRelease(): Promise<Release | undefined> {
    const { releases } = this.#parts;
    releases.askEach();
    await this.#life.whenConnected();
    const { endpoint } = this.#life;
    return endpoint && awaited(releases.ask(endpoint));
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
