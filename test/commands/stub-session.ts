import { ConflictError, InterruptedError, NoNodeError, OperationError } from "../../src/errors.ts";
import { baseName, parentPath } from "../../src/session/path.ts";
import {
  type Acl,
  type CallOptions,
  type CreateOptions,
  type Data,
  type Identity,
  type MultiOp,
  type MultiResult,
  OPEN_ACL,
  type ReadOp,
  type ReadResult,
  type Reconfiguration,
  type Session,
  type SessionState,
  type Stat,
  type StateChange,
  type VersionOptions,
} from "../../src/session/session.ts";

/** When every znode of a stub was made: Mon Nov 16 04:42:11 UTC 2026. */
export const MADE_AT = Date.UTC(2026, 10, 16, 4, 42, 11);

interface Znode {
  data: Buffer | null;
  stat: Stat;
  acl: readonly Acl[];
}

/**
 * The few znodes of one test, in a Map. `asked` keeps every request, in order, and `close` where
 * the session ended.
 */
export class StubSession {
  readonly asked: string[] = [];
  readonly creates: CreateOptions[] = [];
  readonly reconfigs: Omit<Reconfiguration, "signal">[] = [];
  readonly identities: Identity[] = [{ scheme: "ip", id: "127.0.0.1" }];
  /** What /zookeeper/config says. */
  config = "";
  /** As a server before 3.6: some operations are unknown. */
  isOld = false;
  readonly #znodes = new Map<string, Znode>();
  readonly #failures: ReadonlyMap<string, Error>;
  #zxid = 0n;

  /**
   * `given`: data by path, parents first. `failures`: the error that any request for a path meets.
   */
  constructor(
    given: Readonly<Record<string, string | Buffer | null>> = {},
    failures: Readonly<Record<string, Error>> = {},
  ) {
    this.#failures = new Map(Object.entries(failures));
    this.#add("/", Buffer.alloc(0), false);
    for (const [path, data] of Object.entries(given))
      this.#add(path, data === null ? null : Buffer.from(data), false);
  }

  readonly server = "127.0.0.1:2181";
  readonly timeoutMs = 30_000;
  readonly isReadOnly = false;
  readonly isKeeper = false;
  state: SessionState = "suspended";
  id = 0n;
  readonly #stateListeners = new Set<(change: StateChange) => void>();

  onState(listener: (change: StateChange) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** As a server would make it happen. */
  become(change: StateChange): void {
    this.state = change.state;
    if (change.state === "connected") this.id = 0x10n;
    for (const listener of this.#stateListeners) listener(change);
  }

  async connected(): Promise<void> {
    if (this.state !== "connected") this.become({ state: "connected", server: this.server });
  }

  async knows(): Promise<boolean> {
    await this.connected();
    return !this.isOld;
  }

  get lastZxid(): bigint {
    return this.#zxid;
  }

  aliveForMs(): number {
    return 12_000;
  }

  /** As the session that commands see. It answers only what commands ask so far. */
  asSession(): Session {
    return this as unknown as Session;
  }

  async create(path: string, data: Buffer | null, options: CreateOptions = {}): Promise<string> {
    return this.#make(path, data, options);
  }

  #make(path: string, data: Buffer | null, options: CreateOptions): string {
    this.#ask("create", path, options);
    this.creates.push(options);
    const parent = this.#znodes.get(parentPath(path));
    if (!parent) throw noNode(path);
    const isSequential = /sequential/i.test(options.mode ?? "");
    const real = isSequential ? path + String(parent.stat.cversion).padStart(10, "0") : path;
    if (this.#znodes.has(real)) {
      throw new ConflictError("node-exists", `znode already exists: ${real} (NodeExists)`, {
        code: -110,
        path: real,
      });
    }
    this.#add(real, data, /ephemeral/i.test(options.mode ?? ""));
    return real;
  }

  async create2(
    path: string,
    data: Buffer | null,
    options: CreateOptions = {},
  ): Promise<{ path: string; stat: Stat }> {
    const real = await this.create(path, data, options);
    return { path: real, stat: this.#find(real).stat };
  }

  async delete(path: string, options: VersionOptions = {}): Promise<void> {
    this.#remove(path, options);
  }

  #remove(path: string, options: VersionOptions): void {
    this.#ask("delete", path, options);
    this.#checkVersion(path, options.version);
    if (this.#children(path).length > 0) {
      throw new ConflictError("not-empty", `znode has children: ${path} (NotEmpty)`, {
        code: -111,
        path,
      });
    }
    this.#znodes.delete(path);
  }

  async exists(path: string, options: CallOptions = {}): Promise<Stat | undefined> {
    this.#ask("exists", path, options);
    return this.#znodes.get(path)?.stat;
  }

  async getData(path: string, options: CallOptions = {}): Promise<Data> {
    this.#ask("getData", path, options);
    const { data, stat } = this.#find(path);
    return { data, stat };
  }

  async setData(path: string, data: Buffer | null, options: VersionOptions = {}): Promise<Stat> {
    return this.#write(path, data, options);
  }

  #write(path: string, data: Buffer | null, options: VersionOptions): Stat {
    this.#ask("setData", path, options);
    const znode = this.#checkVersion(path, options.version);
    znode.data = data;
    znode.stat = {
      ...znode.stat,
      version: znode.stat.version + 1,
      mzxid: ++this.#zxid,
      dataLength: data?.length ?? 0,
    };
    return znode.stat;
  }

  async getChildren(path: string, options: CallOptions = {}): Promise<string[]> {
    this.#ask("getChildren", path, options);
    this.#find(path);
    return this.#children(path);
  }

  async getChildren2(
    path: string,
    options: CallOptions = {},
  ): Promise<{ children: string[]; stat: Stat }> {
    this.#ask("getChildren2", path, options);
    return { stat: this.#find(path).stat, children: this.#children(path) };
  }

  async getAcl(path: string, options: CallOptions = {}): Promise<{ acl: Acl[]; stat: Stat }> {
    this.#ask("getAcl", path, options);
    const { acl, stat } = this.#find(path);
    return { acl: [...acl], stat };
  }

  async setAcl(path: string, acl: readonly Acl[], options: VersionOptions = {}): Promise<Stat> {
    this.#ask("setAcl", path, options);
    const znode = this.#find(path);
    if (options.version !== undefined && options.version !== znode.stat.aversion)
      throw badVersion(path);
    znode.acl = acl;
    znode.stat = { ...znode.stat, aversion: znode.stat.aversion + 1 };
    return znode.stat;
  }

  /** All or nothing, as far as failures, versions and children go. */
  async multi(
    ops: readonly MultiOp[],
    { signal }: CallOptions = {},
  ): Promise<{ results: readonly MultiResult[]; zxid: bigint }> {
    this.asked.push(`multi ${ops.map(({ op, path }) => `${op} ${path}`).join(", ")}`);
    if (signal?.aborted) throw new InterruptedError();
    const before = new Map([...this.#znodes].map(([path, znode]) => [path, { ...znode }]));
    const results: MultiResult[] = [];
    try {
      for (const op of ops) results.push(this.#step(op));
    } catch (error) {
      this.#znodes.clear();
      for (const [path, znode] of before) this.#znodes.set(path, znode);
      if (error instanceof Error) Object.assign(error, { opIndex: results.length });
      throw error;
    }
    return { results, zxid: this.#zxid };
  }

  #step(op: MultiOp): MultiResult {
    switch (op.op) {
      case "create":
        return { op: "create", path: this.#make(op.path, op.data ?? null, op) };
      case "setData":
        return { op: "setData", stat: this.#write(op.path, op.data, op) };
      case "delete":
        this.#remove(op.path, op);
        return { op: "delete" };
      case "check":
        this.#ask("check", op.path, {});
        this.#checkVersion(op.path, op.version);
        return { op: "check" };
    }
  }

  async sync(path: string, options: CallOptions = {}): Promise<void> {
    this.#ask("sync", path, options);
  }

  async addAuth(scheme: string, credential: Buffer): Promise<void> {
    this.asked.push(`addAuth ${scheme} ${credential}`);
    const failure = this.#failures.get(scheme);
    if (failure) throw failure;
    this.identities.push({ scheme, id: String(credential).split(":")[0] ?? "" });
  }

  async whoAmI(): Promise<Identity[]> {
    this.asked.push("whoAmI");
    return this.identities;
  }

  readonly localAddress = "192.168.0.5";

  async credentialIds(): Promise<Identity[]> {
    return [{ scheme: "digest", id: "ann:RYbu6l5aZwqon8VWmkcGvezdzfc=" }];
  }

  /** Watches never fire here, and none is kept. */
  async removeWatch(): Promise<[]> {
    return [];
  }

  async getEphemerals(prefix = "/"): Promise<string[]> {
    this.asked.push(`getEphemerals ${prefix}`);
    const own = [...this.#znodes].filter(
      ([path, { stat }]) => stat.ephemeralOwner !== 0n && path.startsWith(prefix),
    );
    return own.map(([path]) => path).reverse();
  }

  async getAllChildrenNumber(path: string, options: CallOptions = {}): Promise<number> {
    if (this.isOld) throw refusal("unimplemented", -6, path);
    this.#ask("getAllChildrenNumber", path, options);
    this.#find(path);
    return this.paths().filter(
      (other) => other.startsWith(path === "/" ? "/" : `${path}/`) && other !== "/",
    ).length;
  }

  async getConfig(options: CallOptions = {}): Promise<Data> {
    this.#ask("getConfig", "", options);
    return { data: Buffer.from(this.config), stat: this.#find("/").stat };
  }

  async reconfig({ signal: _, ...change }: Reconfiguration): Promise<Data> {
    this.reconfigs.push(change);
    return this.getConfig();
  }

  async multiRead(ops: readonly ReadOp[], options: CallOptions = {}): Promise<ReadResult[]> {
    this.asked.push(`multiRead ${ops.map(({ path }) => path).join(" ")}`);
    if (options.signal?.aborted) throw new InterruptedError();
    return ops.map(({ op, path }) => {
      const znode = this.#znodes.get(path);
      const error = this.#failures.get(path) ?? (znode ? undefined : noNode(path));
      if (error || !znode) return { op: "error", path, error: error ?? noNode(path) };
      if (op === "getData") return { op, path, data: znode.data, stat: znode.stat };
      return { op, path, children: this.#children(path) };
    });
  }

  async close(): Promise<void> {
    this.asked.push("close");
  }

  /** All znodes there are. */
  paths(): string[] {
    return [...this.#znodes.keys()];
  }

  aclOf(path: string): readonly Acl[] | undefined {
    return this.#znodes.get(path)?.acl;
  }

  /** What a znode holds now, as text. */
  dataOf(path: string): string | null | undefined {
    const znode = this.#znodes.get(path);
    return znode && (znode.data?.toString() ?? null);
  }

  #ask(what: string, path: string, { signal }: CallOptions): void {
    this.asked.push(`${what} ${path}`);
    if (signal?.aborted) throw new InterruptedError();
    const failure = this.#failures.get(path);
    if (failure) throw failure;
  }

  #find(path: string): Znode {
    const znode = this.#znodes.get(path);
    if (!znode) throw noNode(path);
    return znode;
  }

  #checkVersion(path: string, version: number | undefined): Znode {
    const znode = this.#find(path);
    if (version === undefined || version === znode.stat.version) return znode;
    throw badVersion(path);
  }

  #children(path: string): string[] {
    const below = [...this.#znodes.keys()].filter(
      (other) => other !== "/" && parentPath(other) === path,
    );
    // Backwards, because a server promises no order.
    return below.map(baseName).reverse();
  }

  #add(path: string, data: Buffer | null, isEphemeral: boolean): void {
    const zxid = ++this.#zxid;
    const parent = this.#znodes.get(parentPath(path));
    if (parent) {
      const { cversion, numChildren } = parent.stat;
      parent.stat = {
        ...parent.stat,
        cversion: cversion + 1,
        numChildren: numChildren + 1,
        pzxid: zxid,
      };
    }
    const counters = {
      version: 0,
      cversion: 0,
      aversion: 0,
      dataLength: data?.length ?? 0,
      numChildren: 0,
    };
    const ids = { czxid: zxid, mzxid: zxid, pzxid: zxid, ephemeralOwner: isEphemeral ? 0x10n : 0n };
    this.#znodes.set(path, {
      data,
      stat: { ...ids, ...counters, ctime: MADE_AT, mtime: MADE_AT },
      acl: OPEN_ACL,
    });
  }
}

function badVersion(path: string): ConflictError {
  return new ConflictError("bad-version", `the version does not match: ${path} (BadVersion)`, {
    code: -103,
    path,
  });
}

function noNode(path: string): NoNodeError {
  return new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
}

/** A refusal without a family of its own. */
export function refusal(reason: string, code: number, path: string): OperationError {
  return new OperationError(reason, `${reason}: ${path}`, { code, path });
}
