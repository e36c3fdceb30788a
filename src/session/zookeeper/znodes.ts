import {
  ConnectionError,
  DeadlineError,
  InterruptedError,
  OperationError,
  ZkshError,
} from "../../errors.ts";
import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../wire/protocol.ts";
import { readAcl, readStat, writeAcl, writeCreate } from "../../wire/records.ts";
import { validatePath } from "../path.ts";
import type * as S from "../session.ts";
import { CreateMode, OPEN_ACL } from "../session.ts";
import {
  ANY_VERSION,
  createOpcode,
  readCreatedPath,
  readMulti,
  readMultiRead,
  ttlField,
  writeDelete,
  writeMulti,
  writeMultiRead,
} from "./requests/multi.ts";
import type { OperationCaller } from "./requests/operation-caller.ts";
import type { SessionParts } from "./session-parts.ts";

type CreateOp = Omit<Extract<S.MultiOp, { op: "create" }>, "op">;

/** The operations on znodes. */
export class Znodes {
  protected readonly parts: SessionParts;
  protected readonly caller: OperationCaller;

  constructor(parts: SessionParts, caller: OperationCaller) {
    this.parts = parts;
    this.caller = caller;
  }

  create(path: string, data: Buffer | null, options: S.CreateOptions = {}): Promise<string> {
    return this.#create({ path, data, ...options }, options, false, (created) => created);
  }

  async create2(
    path: string,
    data: Buffer | null,
    options: S.CreateOptions = {},
  ): Promise<{ path: string; stat: S.Stat }> {
    const isPlain = createOpcode(options.mode ?? "persistent") === Opcode.create;
    if (!isPlain || (await this.caller.has("create2", options))) {
      return this.#create({ path, data, ...options }, options, true, (created, body) => ({
        path: created,
        stat: readStat(body),
      }));
    }
    const created = await this.create(path, data, options);
    const stat = await this.exists(created, limitsOf(options));
    if (stat !== undefined) return { path: created, stat };
    throw new OperationError(
      "no-node",
      `${created} was created, but deleted before its stat was read`,
      {
        path: created,
      },
    );
  }

  delete(path: string, options: S.VersionOptions = {}): Promise<void> {
    return this.#delete(path, options, options, nothing);
  }

  exists(path: string, options: S.ReadOptions = {}): Promise<S.Stat | undefined> {
    return this.caller.read<S.Stat | undefined>(Opcode.exists, path, options, readStat, {
      kind: "data",
      whenMissing: (code) => (code === ErrorCode.noNode ? { value: undefined } : undefined),
    });
  }

  getData(path: string, options: S.ReadOptions = {}): Promise<S.Data> {
    return this.caller.read(Opcode.getData, path, options, readData, { kind: "data" });
  }

  setData(path: string, data: Buffer | null, options: S.VersionOptions = {}): Promise<S.Stat> {
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.buffer(data);
      writer.int(options.version ?? ANY_VERSION);
    };
    return this.caller.call({ opcode: Opcode.setData, path, write, read: readStat }, options);
  }

  getAcl(path: string, options: S.CallOptions = {}): Promise<{ acl: S.Acl[]; stat: S.Stat }> {
    const read = (body: JuteReader) => ({
      acl: body.vector(() => readAcl(body)),
      stat: readStat(body),
    });
    return this.caller.call({ opcode: Opcode.getAcl, path, write: writePath, read }, options);
  }

  setAcl(path: string, acl: readonly S.Acl[], options: S.VersionOptions = {}): Promise<S.Stat> {
    const write = (writer: JuteWriter, serverPath: string) => {
      writer.string(serverPath);
      writer.vector(acl, (entry) => writeAcl(writer, entry));
      writer.int(options.version ?? ANY_VERSION);
    };
    return this.caller.call({ opcode: Opcode.setAcl, path, write, read: readStat }, options);
  }

  getChildren(path: string, options: S.ReadOptions = {}): Promise<string[]> {
    return this.caller.read(Opcode.getChildren, path, options, readNames, { kind: "child" });
  }

  getChildren2(
    path: string,
    options: S.ReadOptions = {},
  ): Promise<{ children: string[]; stat: S.Stat }> {
    const read = (body: JuteReader) => ({ children: readNames(body), stat: readStat(body) });
    return this.caller.read(Opcode.getChildren2, path, options, read, { kind: "child" });
  }

  sync(path: string, options: S.CallOptions = {}): Promise<void> {
    return this.caller.call(
      { opcode: Opcode.sync, path, write: writePath, read: nothing },
      options,
    );
  }

  multi(ops: readonly S.MultiOp[], options: S.CallOptions = {}): Promise<S.Committed> {
    const [only] = ops;
    // One alone costs the server less than a transaction of one.
    if (ops.length === 1 && only?.op === "create" && newerCreate(only.mode) === undefined) {
      return this.#create(
        only,
        options,
        false,
        (path, _, zxid) => ({ results: [{ op: "create", path }], zxid }),
        0,
      );
    }
    if (ops.length === 1 && only?.op === "delete") {
      return this.#delete(
        only.path,
        only,
        options,
        (_, zxid) => ({ results: [{ op: "delete" }], zxid }),
        0,
      );
    }
    return this.#transact(ops, options);
  }

  async multiRead(ops: readonly S.ReadOp[], options: S.CallOptions = {}): Promise<S.ReadResult[]> {
    for (const { path } of ops) validatePath(path);
    const isKnown =
      this.caller.surelyHas("multiRead") || (await this.caller.has("multiRead", options));
    if (!isKnown) return Promise.all(ops.map((op) => this.#readAlone(op, options)));
    const write = (writer: JuteWriter) => writeMultiRead(writer, ops, this.serverPath);
    return this.caller.call(
      { opcode: Opcode.multiRead, write, read: (body) => readMultiRead(body, ops) },
      options,
    );
  }

  protected readonly serverPath = (path: string) => this.parts.chroot.toServerPath(path);
  protected readonly clientPath = (path: string) => this.parts.chroot.toClientPath(path);

  #create<T>(
    { path, data = null, mode = "persistent", acl = OPEN_ACL, ttlMs }: CreateOp,
    options: S.CallOptions,
    withStat: boolean,
    result: (path: string, body: JuteReader, zxid: bigint) => T,
    opIndex?: number,
  ): Promise<T> {
    const opcode = createOpcode(mode, { withStat });
    const read = (body: JuteReader, zxid: bigint) =>
      result(this.clientPath(readCreatedPath(body, this.serverPath(path))), body, zxid);
    const write = (writer: JuteWriter, serverPath: string) =>
      writeCreate(writer, serverPath, data, acl, CreateMode[mode], ttlField(mode, ttlMs));
    const send = () =>
      this.caller.call(
        { opcode, path, opIndex, isSequential: SEQUENTIAL.has(mode), write, read },
        options,
      );
    const newer = newerCreate(mode);
    if (newer === undefined || this.caller.surelyHas(newer)) return send();
    return this.caller.require(newer, options).then(send);
  }

  #delete<T>(
    path: string,
    { version }: { readonly version?: number | undefined },
    options: S.CallOptions,
    read: (body: JuteReader, zxid: bigint) => T,
    opIndex?: number,
  ): Promise<T> {
    const write = (writer: JuteWriter, serverPath: string) =>
      writeDelete(writer, path, serverPath, version);
    return this.caller.call({ opcode: Opcode.delete, path, opIndex, write, read }, options);
  }

  async #transact(ops: readonly S.MultiOp[], options: S.CallOptions): Promise<S.Committed> {
    for (const op of ops)
      validatePath(op.path, { sequential: op.op === "create" && SEQUENTIAL.has(op.mode) });
    for (const op of ops) {
      const newer = op.op === "create" ? newerCreate(op.mode) : undefined;
      if (newer !== undefined && !this.caller.surelyHas(newer))
        await this.caller.require(newer, options);
    }
    const write = (writer: JuteWriter) => writeMulti(writer, ops, this.serverPath);
    const read = (body: JuteReader, zxid: bigint) => ({
      results: readMulti(body, ops, this.parts.chroot),
      zxid,
    });
    return this.caller.call({ opcode: Opcode.multi, write, read }, options);
  }

  /** One read of a multiRead, for servers that do not know multiRead. */
  async #readAlone({ op, path }: S.ReadOp, options: S.CallOptions): Promise<S.ReadResult> {
    try {
      if (op === "getChildren")
        return { op, path, children: await this.getChildren(path, options) };
      return { op, path, ...(await this.getData(path, options)) };
    } catch (error) {
      if (!(error instanceof ZkshError) || isNoAnswer(error)) throw error;
      return { op: "error", path, error };
    }
  }
}

export const nothing = () => undefined;

export function writePath(writer: JuteWriter, serverPath: string): void {
  writer.string(serverPath);
}

export function readData(body: JuteReader): S.Data {
  return { data: body.buffer(), stat: readStat(body) };
}

export function readNames(body: JuteReader): string[] {
  return body.vector(() => body.text());
}

/** The request as a whole failed; a server's refusal is an answer. */
function isNoAnswer(error: ZkshError): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof DeadlineError ||
    error instanceof InterruptedError
  );
}

/** The operation that a mode needs, when not every server has it. */
function newerCreate(
  mode: S.CreateMode = "persistent",
): "createContainer" | "createTtl" | undefined {
  const opcode = createOpcode(mode);
  if (opcode === Opcode.create) return undefined;
  return opcode === Opcode.createContainer ? "createContainer" : "createTtl";
}

const SEQUENTIAL: ReadonlySet<S.CreateMode | undefined> = new Set<S.CreateMode>([
  "persistentSequential",
  "ephemeralSequential",
  "persistentSequentialWithTtl",
]);

function limitsOf({ signal, timeoutMs }: S.CallOptions): S.CallOptions {
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
}
