import { ConflictError, InterruptedError, NoNodeError, OperationError } from "../../src/errors.ts";
import { baseName, parentPath } from "../../src/session/path.ts";
import type {
  CallOptions,
  CreateOptions,
  Data,
  ReadOp,
  ReadResult,
  Session,
  Stat,
  VersionOptions,
} from "../../src/session/session.ts";

/** When every znode of a stub was made: Mon Nov 16 04:42:11 UTC 2026. */
export const MADE_AT = Date.UTC(2026, 10, 16, 4, 42, 11);

interface Znode {
  data: Buffer | null;
  stat: Stat;
}

/** The few znodes of one test, in a Map. `asked` keeps every request, in order, and `close` where the session ended. */
export class StubSession {
  readonly asked: string[] = [];
  readonly creates: CreateOptions[] = [];
  readonly #znodes = new Map<string, Znode>();
  readonly #failures: ReadonlyMap<string, Error>;
  #zxid = 0n;

  /** `given`: data by path, parents first. `failures`: the error that any request for a path meets. */
  constructor(
    given: Readonly<Record<string, string | Buffer | null>> = {},
    failures: Readonly<Record<string, Error>> = {},
  ) {
    this.#failures = new Map(Object.entries(failures));
    this.#add("/", Buffer.alloc(0), false);
    for (const [path, data] of Object.entries(given)) this.#add(path, data === null ? null : Buffer.from(data), false);
  }

  /** As the session that commands see. It answers only what commands ask so far. */
  asSession(): Session {
    return this as unknown as Session;
  }

  async create(path: string, data: Buffer | null, options: CreateOptions = {}): Promise<string> {
    this.#ask("create", path, options);
    this.creates.push(options);
    const parent = this.#znodes.get(parentPath(path));
    if (!parent) throw noNode(path);
    const isSequential = /sequential/i.test(options.mode ?? "");
    const real = isSequential ? path + String(parent.stat.cversion).padStart(10, "0") : path;
    if (this.#znodes.has(real)) {
      throw new ConflictError("node-exists", `znode already exists: ${real} (NodeExists)`, { code: -110, path: real });
    }
    this.#add(real, data, /ephemeral/i.test(options.mode ?? ""));
    return real;
  }

  async delete(path: string, options: VersionOptions = {}): Promise<void> {
    this.#ask("delete", path, options);
    this.#checkVersion(path, options.version);
    if (this.#children(path).length > 0) {
      throw new ConflictError("not-empty", `znode has children: ${path} (NotEmpty)`, { code: -111, path });
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
    this.#ask("setData", path, options);
    const znode = this.#checkVersion(path, options.version);
    znode.data = data;
    znode.stat = { ...znode.stat, version: znode.stat.version + 1, mzxid: ++this.#zxid, dataLength: data?.length ?? 0 };
    return znode.stat;
  }

  async getChildren(path: string, options: CallOptions = {}): Promise<string[]> {
    this.#ask("getChildren", path, options);
    this.#find(path);
    return this.#children(path);
  }

  async getChildren2(path: string, options: CallOptions = {}): Promise<{ children: string[]; stat: Stat }> {
    this.#ask("getChildren2", path, options);
    return { stat: this.#find(path).stat, children: this.#children(path) };
  }

  async multiRead(ops: readonly ReadOp[], options: CallOptions = {}): Promise<ReadResult[]> {
    this.asked.push(`multiRead ${ops.map(({ path }) => path).join(" ")}`);
    if (options.signal?.aborted) throw new InterruptedError();
    return ops.map(({ path }) => {
      const error = this.#failures.get(path) ?? (this.#znodes.has(path) ? undefined : noNode(path));
      return error ? { op: "error", path, error } : { op: "getChildren", path, children: this.#children(path) };
    });
  }

  async close(): Promise<void> {
    this.asked.push("close");
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
    throw new ConflictError("bad-version", `the version does not match: ${path} (BadVersion)`, { code: -103, path });
  }

  #children(path: string): string[] {
    const below = [...this.#znodes.keys()].filter((other) => other !== "/" && parentPath(other) === path);
    // Backwards, because a server promises no order.
    return below.map(baseName).reverse();
  }

  #add(path: string, data: Buffer | null, isEphemeral: boolean): void {
    const zxid = ++this.#zxid;
    const parent = this.#znodes.get(parentPath(path));
    if (parent) {
      const { cversion, numChildren } = parent.stat;
      parent.stat = { ...parent.stat, cversion: cversion + 1, numChildren: numChildren + 1, pzxid: zxid };
    }
    const counters = { version: 0, cversion: 0, aversion: 0, dataLength: data?.length ?? 0, numChildren: 0 };
    const ids = { czxid: zxid, mzxid: zxid, pzxid: zxid, ephemeralOwner: isEphemeral ? 0x10n : 0n };
    this.#znodes.set(path, { data, stat: { ...ids, ...counters, ctime: MADE_AT, mtime: MADE_AT } });
  }
}

function noNode(path: string): NoNodeError {
  return new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
}

/** A refusal without a family of its own. */
export function refusal(reason: string, code: number, path: string): OperationError {
  return new OperationError(reason, `${reason}: ${path}`, { code, path });
}
