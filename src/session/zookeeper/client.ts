import { UsageError } from "../../errors.ts";
import { isTimeout, TIMEOUT_RANGE } from "../../text/duration.ts";
import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { AddWatchMode, Opcode } from "../../wire/protocol.ts";
import { formatConnectString } from "../connect-string.ts";
import type { SessionOptions } from "../options.ts";
import type * as S from "../session.ts";
import { CONFIG_PATH, KEEPER_CONFIG_PATH } from "../system-path.ts";
import { SessionLife } from "./lifetime/session-life.ts";
import { failureOf } from "./requests/error-codes.ts";
import { limited } from "./requests/limited.ts";
import { OperationCaller } from "./requests/operation-caller.ts";
import { sessionParts } from "./session-parts.ts";
import { notifyListeners } from "./watches/notify-listeners.ts";
import { nothing, readData, readNames, writePath, Znodes } from "./znodes.ts";

/**
 * Opens a session. Returns at once; the first call (or `connected()`) waits for a server. Throws
 * UsageError.
 *
 * @example
 * ```ts
 * const session = openSession({ ...parseConnectString("zk1,zk2/app"), timeoutMs: 10_000 });
 * await session.create("/config", Buffer.from("{}"));
 * const { data, stat } = await session.getData("/config");
 * await session.close();
 * ```
 */
export function openSession(options: SessionOptions): S.Session {
  const { timeoutMs } = options;
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    throw new UsageError(`bad timeoutMs ${timeoutMs}`, { hint: TIMEOUT_RANGE });
  }
  return new Client(options);
}

/** The Session: one method an operation. */
class Client extends Znodes implements S.Session {
  readonly #listeners = new Set<(change: S.StateChange) => void>();
  readonly #options: SessionOptions;
  readonly #life: SessionLife;
  #announced: S.SessionState = "suspended";
  #closed: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    const parts = sessionParts(options);
    const life = new SessionLife(parts);
    super(parts, new OperationCaller(parts, life));
    this.#options = options;
    this.#life = life;
    parts.state.onChange(() => this.#announce());
  }

  get state(): S.SessionState {
    return this.#life.state;
  }

  get id(): bigint {
    return this.#life.id;
  }

  get timeoutMs(): number {
    return this.#life.timeoutMs;
  }

  get server(): string | undefined {
    return this.#life.endpoint?.address;
  }

  get localAddress(): string | undefined {
    return this.parts.writer.link?.localAddress;
  }

  get isReadOnly(): boolean {
    return this.#life.isReadOnly;
  }

  get isKeeper(): boolean | undefined {
    return this.#life.id === 0n ? undefined : this.#life.isKeeper;
  }

  get lastZxid(): bigint {
    return this.#life.lastZxid;
  }

  get connectString(): string {
    return formatConnectString(this.#options);
  }

  isAlive(): boolean {
    return this.aliveForMs() > 0;
  }

  aliveForMs(): number {
    return this.state === "lost" ? 0 : this.parts.liveness.aliveForMs();
  }

  leaseForMs(): number {
    return this.state === "lost" ? 0 : this.parts.liveness.leaseForMs();
  }

  keepLease(paths: readonly string[], onMissing: () => void): () => void {
    return this.parts.leases.keep(
      paths.map((path) => this.serverPath(path)),
      onMissing,
    );
  }

  connected(options: S.CallOptions = {}): Promise<void> {
    return limited(
      this.parts.aborts,
      this.#life.whenConnected(),
      options,
      "no server has answered",
    );
  }

  knows(operation: S.NewerOperation, options: S.CallOptions = {}): Promise<boolean> {
    return this.caller.has(operation, options);
  }

  onState(listener: (change: S.StateChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  addAuth(scheme: string, credential: Buffer, options: S.CallOptions = {}): Promise<void> {
    let takeBack = () => {};
    const proved = new Promise<void>((resolve, reject) => {
      if (options.signal?.aborted) return resolve();
      const { writer, credentials } = this.parts;
      if (this.#life.lost !== undefined) return reject(this.#life.lost.error);
      writer.schedule();
      takeBack = credentials.add(scheme, credential, (failure) => {
        if (failure === null) resolve();
        else reject(this.#life.lost?.error ?? failureOf(failure.code, `scheme ${scheme}`));
      });
    });
    return limited(
      this.parts.aborts,
      proved,
      options,
      `no answer to the ${scheme} credential`,
      () => {
        takeBack();
        return undefined;
      },
    );
  }

  credentialIds(): Promise<S.Identity[]> {
    return this.parts.credentials.ids();
  }

  async addWatch(
    path: string,
    mode: S.PersistentWatchMode,
    listener: S.WatchListener,
    options: S.CallOptions = {},
  ): Promise<void> {
    await this.caller.require("addWatch", options);
    const { watches } = this.parts;
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.int(AddWatchMode[mode]);
    };
    const read = () => watches.addPersistent(mode, this.serverPath(path), listener);
    const late = () => this.caller.dropWatch(this.serverPath(path), listener);
    const added = this.caller.call({ opcode: Opcode.addWatch, path, write, read, late }, options);
    // In the same flight: whether the znode is there now. Without it, a change during an outage
    // could not be told later.
    const noted = this.exists(path, options).then(
      (stat) => watches.noteExistence(this.serverPath(path), stat !== undefined),
      // Unknown is an answer too: the listener will hear `rearmed` instead of the exact change.
      () => {},
    );
    await added;
    await noted;
  }

  removeWatch(
    path: string,
    listener: S.WatchListener,
    options: S.RemoveWatchOptions = {},
  ): Promise<readonly S.WatchKind[]> {
    return this.caller.removeWatch(path, listener, options);
  }

  async getEphemerals(prefix = "/", options: S.CallOptions = {}): Promise<string[]> {
    await this.caller.require("getEphemerals", options);
    const read = (body: JuteReader) => readNames(body).map(this.clientPath);
    return this.caller.call(
      { opcode: Opcode.getEphemerals, path: prefix, write: writePath, read },
      options,
    );
  }

  async getAllChildrenNumber(path: string, options: S.CallOptions = {}): Promise<number> {
    await this.caller.require("getAllChildrenNumber", options);
    return this.caller.call(
      { opcode: Opcode.getAllChildrenNumber, path, write: writePath, read: (body) => body.int() },
      options,
    );
  }

  async whoAmI(options: S.CallOptions = {}): Promise<S.Identity[]> {
    await this.caller.require("whoAmI", options);
    const read = (body: JuteReader) =>
      body.vector(() => ({ scheme: body.text(), id: body.text() }));
    return this.caller.call({ opcode: Opcode.whoAmI, write: nothing, read }, options);
  }

  /** Not below any chroot: an ensemble has one configuration. */
  getConfig(options: S.ReadOptions = {}): Promise<S.Data> {
    const { endpoint, isKeeper } = this.#life;
    if (endpoint !== undefined)
      return this.#readSystemNode(isKeeper ? KEEPER_CONFIG_PATH : CONFIG_PATH, options);
    // Which server it will be is not known yet: both leave, in one flight.
    const config = this.#readSystemNode(CONFIG_PATH, options);
    const ofKeeper = this.#readSystemNode(KEEPER_CONFIG_PATH, options);
    // One of them fails wherever it is.
    ofKeeper.catch(() => {});
    return config.catch((error: unknown) =>
      ofKeeper.catch(() => {
        throw error;
      }),
    );
  }

  #readSystemNode(path: string, options: S.ReadOptions): Promise<S.Data> {
    const { watch } = options;
    const write = (writer: JuteWriter) => {
      writer.string(path);
      writer.boolean(watch !== undefined);
    };
    const read = (body: JuteReader) => {
      const config = readData(body);
      if (watch !== undefined) this.parts.watches.addOneShot("data", path, watch);
      return config;
    };
    const late = () => watch && this.caller.dropWatch(path, watch);
    return this.caller.call({ opcode: Opcode.getData, write, read, late }, options);
  }

  async reconfig(change: S.Reconfiguration): Promise<S.Data> {
    await this.caller.require("reconfig", change);
    const write = (writer: JuteWriter) => {
      writer.string(change.joining ?? null);
      writer.string(change.leaving ?? null);
      writer.string(change.members ?? null);
      writer.long(change.fromConfig ?? -1n);
    };
    return this.caller.call({ opcode: Opcode.reconfig, write, read: readData }, change);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#life.close(resolve));
    return this.#closed;
  }

  #announce(): void {
    const { state } = this;
    if (state === this.#announced) return;
    this.#announced = state;
    const { lost, endpoint } = this.#life;
    const change: S.StateChange = {
      state,
      ...(lost === undefined ? {} : { reason: lost.reason }),
      ...(endpoint === undefined ? {} : { server: endpoint.address }),
    };
    notifyListeners(this.#listeners, change);
  }
}
