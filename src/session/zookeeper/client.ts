import { ConnectionError, DeadlineError, InterruptedError, OperationError, ZkshError } from "../../errors.ts";
import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { AddWatchMode, ErrorCode, Opcode } from "../../wire/protocol.ts";
import { readAcl, readStat, writeAcl, writeCreate } from "../../wire/records.ts";
import type { SessionOptions } from "../options.ts";
import { validatePath } from "../path.ts";
import type * as S from "../session.ts";
import { CreateMode, OPEN_ACL } from "../session.ts";
import { limited } from "./call.ts";
import { Caller } from "./caller.ts";
import { Connection } from "./connection.ts";
import { failureOf } from "./failures.ts";
import { ANY_VERSION, createOpcode, readMulti, readMultiRead, ttlField, writeMulti, writeMultiRead } from "./multi.ts";
import { notify } from "./notify.ts";

const CONFIG_PATH = "/zookeeper/config";

/** Opens a session. Returns at once; the first call (or `connected()`) waits for a server. */
export function openSession(options: SessionOptions): S.Session {
  return new Client(options);
}

/** A Session over node-zookeeper-client's connection manager, as mended in connection.ts. */
class Client implements S.Session {
  readonly #connection: Connection;
  readonly #caller: Caller;
  readonly #listeners = new Set<(change: S.StateChange) => void>();
  #announced: S.SessionState = "suspended";
  #closed: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#connection = new Connection(options, () => this.#announce());
    this.#caller = new Caller(this.#connection, options.tls);
    this.#connection.connect();
  }

  get state(): S.SessionState {
    return this.#connection.sessionState;
  }

  get id(): bigint {
    return this.#connection.id;
  }

  get timeoutMs(): number {
    return this.#connection.sessionTimeout;
  }

  get server(): string | undefined {
    return this.#connection.endpoint?.address;
  }

  get isReadOnly(): boolean {
    return this.#connection.isReadOnly;
  }

  get lastZxid(): bigint {
    return this.#connection.lastZxid;
  }

  isAlive(): boolean {
    return this.aliveForMs() > 0;
  }

  aliveForMs(): number {
    return this.state === "lost" ? 0 : this.#connection.liveness.aliveForMs();
  }

  connected(options: S.CallOptions = {}): Promise<void> {
    return limited(this.#connection.aborts, this.#connection.whenConnected(), options, "no server has answered");
  }

  onState(listener: (change: S.StateChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(path: string, data: Buffer | null, options: S.CreateOptions = {}): Promise<string> {
    return this.#create(path, data, options, false, (body) => this.#clientPath(body.text()));
  }

  async create2(
    path: string,
    data: Buffer | null,
    options: S.CreateOptions = {},
  ): Promise<{ path: string; stat: S.Stat }> {
    const isPlain = createOpcode(options.mode ?? "persistent") === Opcode.create;
    if (!isPlain || (await this.#caller.has("create2", options))) {
      const read = (body: JuteReader) => ({ path: this.#clientPath(body.text()), stat: readStat(body) });
      return this.#create(path, data, options, true, read);
    }
    const created = await this.create(path, data, options);
    const stat = await this.exists(created, limitsOf(options));
    if (stat !== undefined) return { path: created, stat };
    throw new OperationError("no-node", `created, but gone before its stat could be read: ${created}`, {
      path: created,
    });
  }

  delete(path: string, options: S.VersionOptions = {}): Promise<void> {
    const write = (writer: JuteWriter, serverPath: string) => {
      // As the Java client does: `/` cannot be deleted, and under a chroot that must not mean the chroot itself.
      writer.string(path === "/" ? path : serverPath);
      writer.int(options.version ?? ANY_VERSION);
    };
    return this.#caller.call({ opcode: Opcode.delete, path, write, read: nothing }, options);
  }

  exists(path: string, options: S.ReadOptions = {}): Promise<S.Stat | undefined> {
    return this.#caller.read<S.Stat | undefined>(Opcode.exists, path, options, readStat, {
      kind: "data",
      whenMissing: (code) => (code === ErrorCode.noNode ? { value: undefined } : undefined),
    });
  }

  getData(path: string, options: S.ReadOptions = {}): Promise<S.Data> {
    return this.#caller.read(Opcode.getData, path, options, readData, { kind: "data" });
  }

  setData(path: string, data: Buffer | null, options: S.VersionOptions = {}): Promise<S.Stat> {
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.buffer(data);
      writer.int(options.version ?? ANY_VERSION);
    };
    return this.#caller.call({ opcode: Opcode.setData, path, write, read: readStat }, options);
  }

  getAcl(path: string, options: S.CallOptions = {}): Promise<{ acl: S.Acl[]; stat: S.Stat }> {
    const read = (body: JuteReader) => ({ acl: body.vector(() => readAcl(body)), stat: readStat(body) });
    return this.#caller.call({ opcode: Opcode.getAcl, path, write: writePath, read }, options);
  }

  setAcl(path: string, acl: readonly S.Acl[], options: S.VersionOptions = {}): Promise<S.Stat> {
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.vector(acl, (entry) => writeAcl(writer, entry));
      writer.int(options.version ?? ANY_VERSION);
    };
    return this.#caller.call({ opcode: Opcode.setAcl, path, write, read: readStat }, options);
  }

  getChildren(path: string, options: S.ReadOptions = {}): Promise<string[]> {
    return this.#caller.read(Opcode.getChildren, path, options, readNames, { kind: "child" });
  }

  getChildren2(path: string, options: S.ReadOptions = {}): Promise<{ children: string[]; stat: S.Stat }> {
    const read = (body: JuteReader) => ({ children: readNames(body), stat: readStat(body) });
    return this.#caller.read(Opcode.getChildren2, path, options, read, { kind: "child" });
  }

  sync(path: string, options: S.CallOptions = {}): Promise<void> {
    return this.#caller.call({ opcode: Opcode.sync, path, write: writePath, read: nothing }, options);
  }

  async multi(
    ops: readonly S.MultiOp[],
    options: S.CallOptions = {},
  ): Promise<{ results: S.MultiResult[]; zxid: bigint }> {
    for (const op of ops) validatePath(op.path, { sequential: op.op === "create" && isSequential(op.mode) });
    for (const op of ops) {
      const newer = op.op === "create" ? newerCreate(op.mode) : undefined;
      if (newer !== undefined) await this.#caller.require(newer, options);
    }
    const write = (writer: JuteWriter) => writeMulti(writer, ops, this.#serverPath);
    const read = (body: JuteReader, zxid: bigint) => ({ results: readMulti(body, ops, this.#clientPath), zxid });
    return this.#caller.call({ opcode: Opcode.multi, write, read }, options);
  }

  async multiRead(ops: readonly S.ReadOp[], options: S.CallOptions = {}): Promise<S.ReadResult[]> {
    for (const { path } of ops) validatePath(path);
    if (!(await this.#caller.has("multiRead", options)))
      return Promise.all(ops.map((op) => this.#readAlone(op, options)));
    const write = (writer: JuteWriter) => writeMultiRead(writer, ops, this.#serverPath);
    return this.#caller.call({ opcode: Opcode.multiRead, write, read: (body) => readMultiRead(body, ops) }, options);
  }

  addAuth(scheme: string, credential: Buffer, options: S.CallOptions = {}): Promise<void> {
    let takeBack = () => {};
    const proved = new Promise<void>((resolve, reject) => {
      if (options.signal?.aborted) return resolve();
      takeBack = this.#connection.addCredential(scheme, credential, (failure) => {
        if (failure === null) resolve();
        else reject(this.#connection.lost?.error ?? failureOf(failure.code, `scheme ${scheme}`));
      });
    });
    return limited(this.#connection.aborts, proved, options, `no answer to the ${scheme} credential`, () => {
      takeBack();
      return undefined;
    });
  }

  async addWatch(
    path: string,
    mode: S.PersistentWatchMode,
    listener: S.WatchListener,
    options: S.CallOptions = {},
  ): Promise<void> {
    await this.#caller.require("addWatch", options);
    const { watches } = this.#connection;
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.int(AddWatchMode[mode]);
    };
    const read = () => watches.addPersistent(mode, this.#serverPath(path), listener);
    const late = () => this.#caller.dropWatch(this.#serverPath(path), listener);
    const added = this.#caller.call({ opcode: Opcode.addWatch, path, write, read, late }, options);
    // In the same flight: whether the znode is there now. Without it, a change during an outage could not be told later.
    const noted = this.exists(path, options).then(
      (stat) => watches.noteExistence(this.#serverPath(path), stat !== undefined),
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
    return this.#caller.removeWatch(path, listener, options);
  }

  async getEphemerals(prefix = "/", options: S.CallOptions = {}): Promise<string[]> {
    await this.#caller.require("getEphemerals", options);
    const read = (body: JuteReader) => readNames(body).map(this.#clientPath);
    return this.#caller.call({ opcode: Opcode.getEphemerals, path: prefix, write: writePath, read }, options);
  }

  async getAllChildrenNumber(path: string, options: S.CallOptions = {}): Promise<number> {
    await this.#caller.require("getAllChildrenNumber", options);
    return this.#caller.call(
      { opcode: Opcode.getAllChildrenNumber, path, write: writePath, read: (body) => body.int() },
      options,
    );
  }

  async whoAmI(options: S.CallOptions = {}): Promise<S.Identity[]> {
    await this.#caller.require("whoAmI", options);
    const read = (body: JuteReader) => body.vector(() => ({ scheme: body.text(), id: body.text() }));
    return this.#caller.call({ opcode: Opcode.whoAmI, write: nothing, read }, options);
  }

  /** Not below any chroot: an ensemble has one configuration. */
  getConfig(options: S.ReadOptions = {}): Promise<S.Data> {
    const { watch } = options;
    const write = (writer: JuteWriter) => {
      writer.string(CONFIG_PATH);
      writer.boolean(watch !== undefined);
    };
    const read = (body: JuteReader) => {
      const config = readData(body);
      if (watch !== undefined) this.#connection.watches.addOneShot("data", CONFIG_PATH, watch);
      return config;
    };
    const late = () => watch && this.#caller.dropWatch(CONFIG_PATH, watch);
    return this.#caller.call({ opcode: Opcode.getData, write, read, late }, options);
  }

  async reconfig(change: S.Reconfiguration): Promise<S.Data> {
    await this.#caller.require("reconfig", change);
    const write = (writer: JuteWriter) => {
      writer.string(change.joining ?? null);
      writer.string(change.leaving ?? null);
      writer.string(change.members ?? null);
      writer.long(change.fromConfig ?? -1n);
    };
    return this.#caller.call({ opcode: Opcode.reconfig, write, read: readData }, change);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#connection.close(resolve));
    return this.#closed;
  }

  readonly #serverPath = (path: string) => this.#connection.chroot.toServerPath(path);
  readonly #clientPath = (path: string) => this.#connection.chroot.toClientPath(path);

  async #create<T>(
    path: string,
    data: Buffer | null,
    options: S.CreateOptions,
    withStat: boolean,
    read: (body: JuteReader) => T,
  ): Promise<T> {
    const { mode = "persistent", acl = OPEN_ACL, ttlMs } = options;
    const opcode = createOpcode(mode, { withStat });
    const newer = newerCreate(mode);
    if (newer !== undefined) await this.#caller.require(newer, options);
    const write = (writer: JuteWriter, serverPath: string) =>
      writeCreate(writer, serverPath, data, acl, CreateMode[mode], ttlField(mode, ttlMs));
    return this.#caller.call({ opcode, path, isSequential: isSequential(mode), write, read }, options);
  }

  /** One read of a multiRead, for servers that do not know multiRead. */
  async #readAlone({ op, path }: S.ReadOp, options: S.CallOptions): Promise<S.ReadResult> {
    try {
      if (op === "getChildren") return { op, path, children: await this.getChildren(path, options) };
      return { op, path, ...(await this.getData(path, options)) };
    } catch (error) {
      if (!(error instanceof ZkshError) || isNoAnswer(error)) throw error;
      return { op: "error", path, error };
    }
  }

  #announce(): void {
    const { state } = this;
    if (state === this.#announced) return;
    this.#announced = state;
    const { lost, endpoint } = this.#connection;
    const change: S.StateChange = {
      state,
      ...(lost === undefined ? {} : { reason: lost.reason }),
      ...(endpoint === undefined ? {} : { server: endpoint.address }),
    };
    notify(this.#listeners, change);
  }
}

const nothing = () => undefined;

function writePath(writer: JuteWriter, serverPath: string): void {
  writer.string(serverPath);
}

function readData(body: JuteReader): S.Data {
  return { data: body.buffer(), stat: readStat(body) };
}

function readNames(body: JuteReader): string[] {
  return body.vector(() => body.text());
}

/** The request as a whole failed; a server's refusal is an answer. */
function isNoAnswer(error: ZkshError): boolean {
  return error instanceof ConnectionError || error instanceof DeadlineError || error instanceof InterruptedError;
}

/** The operation that a mode needs, when not every server has it. */
function newerCreate(mode: S.CreateMode = "persistent"): "createContainer" | "createTtl" | undefined {
  const opcode = createOpcode(mode);
  if (opcode === Opcode.create) return undefined;
  return opcode === Opcode.createContainer ? "createContainer" : "createTtl";
}

function isSequential(mode: S.CreateMode | undefined): boolean {
  return mode?.toLowerCase().includes("sequential") ?? false;
}

function limitsOf({ signal, timeoutMs }: S.CallOptions): S.CallOptions {
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}
