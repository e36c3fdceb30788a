import { connect, type Socket } from "node:net";
import { JuteReader, JuteWriter } from "../../src/wire/jute.ts";
import { AddWatchMode, EventType, Opcode, Xid } from "../../src/wire/protocol.ts";
import {
  type AclRecord,
  readAcl,
  readStat,
  type StatRecord,
  writeAcl,
  writeCreate,
  writeMultiHeader,
} from "../../src/wire/records.ts";

const WITHIN_MS = 10_000;

export const OPEN: readonly AclRecord[] = [{ perms: 31, scheme: "world", id: "anyone" }];

export const Flags = {
  persistent: 0,
  ephemeral: 1,
  sequential: 2,
  ephemeralSequential: 3,
  container: 4,
  ttl: 5,
  sequentialTtl: 6,
} as const;

export interface Handshake {
  readonly timeoutMs?: number;
  readonly sessionId?: bigint;
  readonly password?: Uint8Array | null;
  readonly lastZxidSeen?: bigint;
  /** `absent`: as clients before 3.4 ask. */
  readonly readOnly?: boolean | "absent";
}

export interface Accepted {
  readonly protocolVersion: number;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
  /** What follows: the byte that says whether the server is read-only. */
  readonly rest: Buffer;
}

export interface Reply {
  readonly xid: number;
  readonly zxid: bigint;
  readonly err: number;
  /** All behind the header. */
  readonly body: Buffer;
}

export interface Create {
  readonly data?: string | Buffer | null;
  readonly flags?: number;
  readonly acl?: readonly AclRecord[] | null;
  readonly ttlMs?: number;
  /** Left out: the one that the flags ask for. */
  readonly opcode?: number;
}

export type Step =
  | ({ readonly op: "create" | "create2"; readonly path: string } & Create)
  | { readonly op: "delete" | "check"; readonly path: string; readonly version?: number }
  | {
      readonly op: "setData";
      readonly path: string;
      readonly data?: string;
      readonly version?: number;
    }
  | { readonly op: "getData" | "getChildren"; readonly path: string }
  /** Anything else, with a body of its own. */
  | { readonly op: "raw"; readonly type: number; readonly body: (writer: JuteWriter) => void };

export interface StepResult {
  readonly type: number;
  /** In the header that stands before the result. */
  readonly err: number;
  readonly path?: string;
  readonly stat?: StatRecord;
  readonly data?: string | undefined;
  readonly children?: string[];
  /** The number in the body of an error. */
  readonly code?: number;
}

/** Where a second client on one connection begins to count. */
const FOREIGN_XIDS = 1_000_000;

const EVENT_NAMES = Object.fromEntries(
  Object.entries(EventType).map(([name, number]) => [number, name]),
);

/** A TCP connection that speaks in frames and hides nothing: what arrives, arrives in its order. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #waiting: ((frame: Buffer | undefined) => void)[] = [];
  readonly #frames: Buffer[] = [];
  #received = Buffer.alloc(0);
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("close", () => {
      this.#isClosed = true;
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    });
  }

  static to(address: string): Promise<RawConnection> {
    const [host = "", port] = address.split(":");
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), host, () => resolve(new RawConnection(socket)));
      socket.once("error", reject);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** The next frame without its length; undefined when the server has hung up. */
  async frame(): Promise<Buffer | undefined> {
    const ready = this.#frames.shift();
    if (ready !== undefined || this.#isClosed) return ready;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the server says nothing for ${WITHIN_MS} ms`)),
        WITHIN_MS,
      );
    });
    try {
      return await Promise.race([
        new Promise<Buffer | undefined>((resolve) => this.#waiting.push(resolve)),
        late,
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whatever comes until the server hangs up. */
  async untilClosed(): Promise<Buffer[]> {
    const frames: Buffer[] = [];
    for (;;) {
      const frame = await this.frame();
      if (frame === undefined) return frames;
      frames.push(frame);
    }
  }

  /** No goodbye: the server finds out by itself. */
  drop(): void {
    this.#socket.destroy();
  }

  end(lastBytes: Uint8Array): void {
    this.#socket.end(lastBytes);
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readInt32BE(0);
      if (this.#received.length < end) return;
      const frame = this.#received.subarray(4, end);
      this.#received = this.#received.subarray(end);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#frames.push(frame);
      else waiting(frame);
    }
  }
}

export function frameOf(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  const start = writer.beginFrame();
  write(writer);
  writer.endFrame(start);
  return writer.take();
}

export function connectFrame(handshake: Handshake = {}): Buffer {
  const {
    timeoutMs = 10_000,
    sessionId = 0n,
    password = Buffer.alloc(16),
    lastZxidSeen = 0n,
    readOnly,
  } = handshake;
  return frameOf((writer) => {
    writer.int(0);
    writer.long(lastZxidSeen);
    writer.int(timeoutMs);
    writer.long(sessionId);
    writer.buffer(password);
    if (readOnly !== "absent") writer.boolean(readOnly ?? false);
  });
}

export function readAccepted(frame: Buffer): Accepted {
  const reader = new JuteReader(frame);
  const protocolVersion = reader.int();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  const password = reader.buffer() ?? Buffer.alloc(0);
  return {
    protocolVersion,
    timeoutMs,
    sessionId,
    password,
    rest: frame.subarray(frame.length - reader.remaining),
  };
}

/**
 * A session on one connection. Paths are below `chroot`, which the server never hears of as such.
 */
export class RawClient {
  readonly connection: RawConnection;
  readonly accepted: Accepted;
  readonly chroot: string;
  /**
   * What has arrived besides replies, oldest first: `type path`, and with a state other than
   * connected, that too.
   */
  readonly events: string[] = [];
  /** Events and replies in the order in which they came: `dataChanged /a`, `reply 3`. */
  readonly order: string[] = [];
  #xid = 0;

  private constructor(connection: RawConnection, accepted: Accepted, chroot: string) {
    this.connection = connection;
    this.accepted = accepted;
    this.chroot = chroot;
  }

  /** Throws when the server does not take the session. */
  static async open(address: string, chroot = "", handshake: Handshake = {}): Promise<RawClient> {
    const connection = await RawConnection.to(address);
    connection.write(connectFrame(handshake));
    const frame = await connection.frame();
    if (frame === undefined) throw new Error("the server hung up during the handshake");
    const accepted = readAccepted(frame);
    if (accepted.timeoutMs <= 0) throw new Error("the server knows no such session");
    return new RawClient(connection, accepted, chroot);
  }

  get sessionId(): bigint {
    return this.accepted.sessionId;
  }

  /** The same session on a further connection. */
  async reattach(address: string, handshake: Handshake = {}): Promise<RawClient> {
    const { sessionId, password } = this.accepted;
    return RawClient.open(address, this.chroot, { sessionId, password, ...handshake });
  }

  /** The same session and connection, with paths below another znode. */
  withChroot(chroot: string): RawClient {
    const other = new RawClient(this.connection, this.accepted, chroot);
    other.#xid = FOREIGN_XIDS;
    return other;
  }

  /** Sends a request; its number. */
  send(opcode: number, body: (writer: JuteWriter) => void = () => {}, xid = ++this.#xid): number {
    this.connection.write(this.request(opcode, body, xid));
    return xid;
  }

  request(
    opcode: number,
    body: (writer: JuteWriter) => void = () => {},
    xid = ++this.#xid,
  ): Buffer {
    return frameOf((writer) => {
      writer.int(xid);
      writer.int(opcode);
      body(writer);
    });
  }

  /** The next reply; events that stand before it go to {@link events}. */
  async reply(): Promise<Reply> {
    for (;;) {
      const frame = await this.connection.frame();
      if (frame === undefined) throw new Error("the server hung up");
      const reader = new JuteReader(frame);
      const [xid, zxid, err] = [reader.int(), reader.long(), reader.int()];
      if (xid !== Xid.notification) {
        this.order.push(`reply ${xid}`);
        return { xid, zxid, err, body: frame.subarray(16) };
      }
      const [type, state, path] = [reader.int(), reader.int(), reader.text()];
      const event = `${EVENT_NAMES[type] ?? type} ${this.#below(path)}${state === 3 ? "" : ` state ${state}`}`;
      // No event has a zxid of its own.
      if (zxid !== -1n || err !== 0) throw new Error(`an event with zxid ${zxid} and error ${err}`);
      this.events.push(event);
      this.order.push(event);
    }
  }

  async call(opcode: number, body?: (writer: JuteWriter) => void, xid?: number): Promise<Reply> {
    const sent = this.send(opcode, body, xid);
    const reply = await this.reply();
    if (reply.xid !== sent) throw new Error(`reply ${reply.xid} to request ${sent}`);
    return reply;
  }

  /**
   * All events of what has happened so far: on one server they stand before the reply to anything
   * asked later.
   */
  async heard(): Promise<string[]> {
    await this.ping();
    return this.events.splice(0);
  }

  ping(): Promise<Reply> {
    return this.call(Opcode.ping, undefined, Xid.ping);
  }

  async create(
    path: string,
    create: Create = {},
  ): Promise<Reply & { path?: string; stat?: StatRecord }> {
    const { flags = 0, opcode = opcodeFor(flags) } = create;
    const reply = await this.call(opcode, (writer) => this.#writeCreate(writer, path, create));
    if (reply.err !== 0) return reply;
    const reader = new JuteReader(reply.body);
    const made = this.#below(reader.text());
    return opcode === Opcode.create
      ? { ...reply, path: made }
      : { ...reply, path: made, stat: readStat(reader) };
  }

  delete(path: string, version = -1): Promise<Reply> {
    return this.call(Opcode.delete, (writer) => {
      writer.string(this.full(path));
      writer.int(version);
    });
  }

  async exists(path: string, watch = false): Promise<Reply & { stat?: StatRecord }> {
    const reply = await this.#read(Opcode.exists, path, watch);
    return reply.err === 0 ? { ...reply, stat: readStat(new JuteReader(reply.body)) } : reply;
  }

  async getData(
    path: string,
    watch = false,
  ): Promise<Reply & { data?: string | null; stat?: StatRecord }> {
    const reply = await this.#read(Opcode.getData, path, watch);
    if (reply.err !== 0) return reply;
    const reader = new JuteReader(reply.body);
    return { ...reply, data: reader.buffer()?.toString() ?? null, stat: readStat(reader) };
  }

  async setData(
    path: string,
    data: string | null,
    version = -1,
  ): Promise<Reply & { stat?: StatRecord }> {
    const reply = await this.call(Opcode.setData, (writer) => {
      writer.string(this.full(path));
      writer.buffer(data === null ? null : Buffer.from(data));
      writer.int(version);
    });
    return reply.err === 0 ? { ...reply, stat: readStat(new JuteReader(reply.body)) } : reply;
  }

  async getAcl(path: string): Promise<Reply & { acl?: AclRecord[]; stat?: StatRecord }> {
    const reply = await this.call(Opcode.getAcl, (writer) => writer.string(this.full(path)));
    if (reply.err !== 0) return reply;
    const reader = new JuteReader(reply.body);
    return { ...reply, acl: reader.vector(() => readAcl(reader)), stat: readStat(reader) };
  }

  async setAcl(
    path: string,
    acl: readonly AclRecord[],
    version = -1,
  ): Promise<Reply & { stat?: StatRecord }> {
    const reply = await this.call(Opcode.setAcl, (writer) => {
      writer.string(this.full(path));
      writer.vector(acl, (entry) => writeAcl(writer, entry));
      writer.int(version);
    });
    return reply.err === 0 ? { ...reply, stat: readStat(new JuteReader(reply.body)) } : reply;
  }

  /** Sorted; the server sends them in no order. */
  async getChildren(path: string, watch = false): Promise<Reply & { children?: string[] }> {
    const reply = await this.#read(Opcode.getChildren, path, watch);
    return reply.err === 0
      ? { ...reply, children: readStrings(new JuteReader(reply.body)).sort() }
      : reply;
  }

  async getChildren2(
    path: string,
    watch = false,
  ): Promise<Reply & { children?: string[]; stat?: StatRecord }> {
    const reply = await this.#read(Opcode.getChildren2, path, watch);
    if (reply.err !== 0) return reply;
    const reader = new JuteReader(reply.body);
    return { ...reply, children: readStrings(reader).sort(), stat: readStat(reader) };
  }

  sync(path: string): Promise<Reply> {
    return this.call(Opcode.sync, (writer) => writer.string(this.full(path)));
  }

  auth(scheme: string, credential: string): Promise<Reply> {
    return this.call(
      Opcode.auth,
      (writer) => {
        writer.int(0);
        writer.string(scheme);
        writer.buffer(Buffer.from(credential));
      },
      Xid.auth,
    );
  }

  async whoAmI(): Promise<Reply & { identities: string[] }> {
    const reply = await this.call(Opcode.whoAmI);
    const reader = new JuteReader(reply.body);
    const identities = reader.vector(() => `${reader.string()}:${reader.string()}`);
    return { ...reply, identities };
  }

  addWatch(path: string, mode: number = AddWatchMode.persistent): Promise<Reply> {
    return this.#pathAndInt(Opcode.addWatch, path, mode);
  }

  removeWatches(path: string, type: number): Promise<Reply> {
    return this.#pathAndInt(Opcode.removeWatches, path, type);
  }

  checkWatches(path: string, type: number): Promise<Reply> {
    return this.#pathAndInt(17, path, type);
  }

  /** With five lists setWatches2, which knows persistent and recursive watches. */
  setWatches(
    zxid: bigint,
    lists: readonly (readonly string[])[],
    xid: number = Xid.setWatches,
  ): Promise<Reply> {
    const opcode = lists.length === 5 ? Opcode.setWatches2 : Opcode.setWatches;
    const body = (writer: JuteWriter) => {
      writer.long(zxid);
      for (const list of lists) writer.vector(list, (path) => writer.string(this.full(path)));
    };
    return this.call(opcode, body, xid);
  }

  async getEphemerals(prefix = ""): Promise<Reply & { paths: string[] }> {
    const reply = await this.call(Opcode.getEphemerals, (writer) =>
      writer.string(this.full(prefix)),
    );
    const paths = reply.err === 0 ? readStrings(new JuteReader(reply.body)) : [];
    return { ...reply, paths: paths.map((path) => this.#below(path)).sort() };
  }

  async getAllChildrenNumber(path: string): Promise<Reply & { count?: number }> {
    const reply = await this.call(Opcode.getAllChildrenNumber, (writer) =>
      writer.string(this.full(path)),
    );
    return reply.err === 0 ? { ...reply, count: reply.body.readInt32BE(0) } : reply;
  }

  /** A transaction, or with `opcode` many reads at once; `results` when the reply has a body. */
  async multi(
    steps: readonly Step[],
    opcode: number = Opcode.multi,
  ): Promise<Reply & { results: StepResult[] }> {
    const reply = await this.call(opcode, (writer) => {
      for (const step of steps) this.#writeStep(writer, step);
      writeMultiHeader(writer, -1, true);
    });
    return {
      ...reply,
      results: reply.body.length === 0 ? [] : this.#readResults(new JuteReader(reply.body)),
    };
  }

  closeSession(): Promise<Reply> {
    return this.call(Opcode.closeSession);
  }

  /** Says goodbye without waiting for an answer; does nothing on a connection that is gone. */
  end(): void {
    this.connection.end(this.request(Opcode.closeSession));
  }

  /** The path as the server knows it. */
  full(path: string): string {
    return path === "/" && this.chroot !== "" ? this.chroot : `${this.chroot}${path}`;
  }

  #below(path: string): string {
    if (this.chroot === "") return path;
    if (path === this.chroot) return "/";
    return path.startsWith(`${this.chroot}/`) ? path.slice(this.chroot.length) : path;
  }

  #read(opcode: number, path: string, watch: boolean): Promise<Reply> {
    return this.call(opcode, (writer) => {
      writer.string(this.full(path));
      writer.boolean(watch);
    });
  }

  #pathAndInt(opcode: number, path: string, value: number): Promise<Reply> {
    return this.call(opcode, (writer) => {
      writer.string(this.full(path));
      writer.int(value);
    });
  }

  #writeCreate(
    writer: JuteWriter,
    path: string,
    { data = "", flags = 0, acl = OPEN, ttlMs }: Create,
  ): void {
    const ttl = ttlMs ?? (flags === Flags.ttl || flags === Flags.sequentialTtl ? 0 : undefined);
    writeCreate(
      writer,
      this.full(path),
      data === null ? null : Buffer.from(data),
      acl ?? [],
      flags,
      ttl,
    );
  }

  #writeStep(writer: JuteWriter, step: Step): void {
    const type = step.op === "raw" ? step.type : this.#stepType(step);
    writeMultiHeader(writer, type, false);
    if (step.op === "raw") return step.body(writer);
    if (step.op === "create" || step.op === "create2")
      return this.#writeCreate(writer, step.path, step);
    writer.string(this.full(step.path));
    if (step.op === "getData" || step.op === "getChildren") return writer.boolean(false);
    if (step.op === "setData") writer.buffer(Buffer.from(step.data ?? ""));
    writer.int(("version" in step ? step.version : undefined) ?? -1);
  }

  #stepType(step: Exclude<Step, { op: "raw" }>): number {
    if (step.op !== "create" && step.op !== "create2") return Opcode[step.op];
    return step.op === "create2" ? Opcode.create2 : (step.opcode ?? opcodeFor(step.flags ?? 0));
  }

  #readResults(reader: JuteReader): StepResult[] {
    const results: StepResult[] = [];
    for (;;) {
      const header = { type: reader.int(), done: reader.boolean(), err: reader.int() };
      if (header.done) {
        if (header.type !== -1 || header.err !== -1) throw new Error("a strange end of a multi");
        if (reader.remaining !== 0)
          throw new Error(`${reader.remaining} bytes behind the end of a multi`);
        return results;
      }
      results.push({
        type: header.type,
        err: header.err,
        ...this.#readResult(reader, header.type),
      });
    }
  }

  #readResult(reader: JuteReader, type: number): Partial<StepResult> {
    switch (type) {
      case Opcode.create:
        return { path: this.#below(reader.text()) };
      case Opcode.create2:
      case Opcode.createContainer:
      case Opcode.createTtl:
        return { path: this.#below(reader.text()), stat: readStat(reader) };
      case Opcode.setData:
        return { stat: readStat(reader) };
      case Opcode.getData:
        return { data: reader.buffer()?.toString(), stat: readStat(reader) };
      case Opcode.getChildren:
        return { children: readStrings(reader).sort() };
      case Opcode.error:
        return { code: reader.int() };
      default:
        return {};
    }
  }
}

function opcodeFor(flags: number): number {
  if (flags === Flags.container) return Opcode.createContainer;
  return flags === Flags.ttl || flags === Flags.sequentialTtl ? Opcode.createTtl : Opcode.create;
}

function readStrings(reader: JuteReader): string[] {
  return reader.vector(() => reader.text());
}
