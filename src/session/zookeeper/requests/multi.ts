import { type JuteReader, type JuteWriter, MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import { readMultiHeader, readStat, writeCreate, writeMultiHeader } from "../../../wire/records.ts";
import {
  CreateMode,
  type MultiOp,
  type MultiResult,
  OPEN_ACL,
  type ReadOp,
  type ReadResult,
} from "../../session.ts";
import type { Chroot } from "../chroot.ts";
import { failureOf } from "./error-codes.ts";

export const ANY_VERSION = -1;

/**
 * The opcode a create goes out with. Containers and TTL nodes have their own; the plain one would
 * be refused.
 */
export function createOpcode(mode: CreateMode, { withStat = false } = {}): number {
  if (mode === "container") return Opcode.createContainer;
  if (mode === "persistentWithTtl" || mode === "persistentSequentialWithTtl")
    return Opcode.createTtl;
  return withStat ? Opcode.create2 : Opcode.create;
}

/**
 * Only the TTL modes have the field. Without a value the server is left to refuse, as it refuses 0.
 */
export function ttlField(mode: CreateMode, ttlMs: number | undefined): number | undefined {
  return createOpcode(mode) === Opcode.createTtl ? (ttlMs ?? 0) : undefined;
}

export function writeMulti(
  writer: JuteWriter,
  ops: readonly MultiOp[],
  toServerPath: (path: string) => string,
): void {
  for (const op of ops) {
    writeMultiHeader(
      writer,
      op.op === "create" ? createOpcode(op.mode ?? "persistent") : Opcode[op.op],
      false,
    );
    const path = toServerPath(op.path);
    switch (op.op) {
      case "create": {
        const { data = null, acl = OPEN_ACL, mode = "persistent", ttlMs } = op;
        writeCreate(writer, path, data, acl, CreateMode[mode], ttlField(mode, ttlMs));
        break;
      }
      case "delete":
        writeDelete(writer, op.path, path, op.version);
        break;
      case "check":
        writer.string(path);
        writer.int(op.version ?? ANY_VERSION);
        break;
      case "setData":
        writer.string(path);
        writer.buffer(op.data);
        writer.int(op.version ?? ANY_VERSION);
        break;
    }
  }
  writeMultiHeader(writer, -1, true);
}

/**
 * As the Java client does: `/` cannot be deleted, and under a chroot that must not mean the chroot
 * itself.
 */
export function writeDelete(
  writer: JuteWriter,
  path: string,
  serverPath: string,
  version = ANY_VERSION,
): void {
  writer.string(path === "/" ? path : serverPath);
  writer.int(version);
}

/**
 * The path of a znode that was created: the one that was asked for, and behind it the number of a
 * sequential one. Any other path does not answer our request, and a caller must not go on with it:
 * it would watch and delete it.
 */
export function readCreatedPath(reader: JuteReader, askedPath: string): string {
  const path = reader.text();
  if (
    path === askedPath ||
    (path.startsWith(askedPath) && /^-?\d+$/.test(path.slice(askedPath.length)))
  )
    return path;
  throw new MalformedFrameError("a created path that was not asked for");
}

/**
 * A failed multi comes as a success whose every result is an error: the first real one among them
 * is thrown.
 */
export function readMulti(
  reader: JuteReader,
  ops: readonly MultiOp[],
  chroot: Chroot,
): MultiResult[] {
  const createdPath = (asked: string) =>
    chroot.toClientPath(readCreatedPath(reader, chroot.toServerPath(asked)));
  const results: MultiResult[] = [];
  let failure: Error | undefined;
  for (let header = readMultiHeader(reader); !header.done; header = readMultiHeader(reader)) {
    const op = ops[results.length];
    if (op === undefined) throw new MalformedFrameError("a multi with too many results");
    switch (header.type) {
      case Opcode.create:
        results.push({ op: "create", path: createdPath(op.path) });
        break;
      // Servers before 3.7.2, 3.8.2 and 3.9 answer create2 as create; the header tells which it is.
      case Opcode.create2:
      case Opcode.createContainer:
      case Opcode.createTtl:
        results.push({ op: "create", path: createdPath(op.path), stat: readStat(reader) });
        break;
      case Opcode.setData:
        results.push({ op: "setData", stat: readStat(reader) });
        break;
      case Opcode.delete:
      case Opcode.check:
        results.push({ op: header.type === Opcode.delete ? "delete" : "check" });
        break;
      case Opcode.error: {
        const code = reader.int();
        if (code !== 0 && code !== ErrorCode.runtimeInconsistency)
          failure ??= failureOf(code, op.path, results.length);
        results.push({ op: "check" });
        break;
      }
      default:
        throw new MalformedFrameError(`a multi result of type ${header.type}`);
    }
  }
  if (failure !== undefined) throw failure;
  if (ops.some(({ op }, index) => results[index]?.op !== op))
    throw new MalformedFrameError("a multi with other results");
  return results;
}

/**
 * The error of the session in a failed multi, or 0. Such a multi comes under a header that says 0,
 * though it proves the opposite of a committed transaction: the leader is about to close the
 * session, or the session has moved.
 */
export function sessionErrorOf(reader: JuteReader): number {
  for (let header = readMultiHeader(reader); header.type === Opcode.error && !header.done; ) {
    const code = reader.int();
    if (code === ErrorCode.sessionExpired || code === ErrorCode.sessionMoved) return code;
    header = readMultiHeader(reader);
  }
  return 0;
}

export function writeMultiRead(
  writer: JuteWriter,
  ops: readonly ReadOp[],
  toServerPath: (path: string) => string,
): void {
  for (const { op, path } of ops) {
    writeMultiHeader(writer, Opcode[op], false);
    writer.string(toServerPath(path));
    writer.boolean(false); // servers ignore a watch here
  }
  writeMultiHeader(writer, -1, true);
}

export function readMultiRead(reader: JuteReader, ops: readonly ReadOp[]): ReadResult[] {
  const results: ReadResult[] = [];
  for (let header = readMultiHeader(reader); !header.done; header = readMultiHeader(reader)) {
    const asked = ops[results.length];
    if (asked === undefined) throw new MalformedFrameError("a multiRead with too many results");
    const { path } = asked;
    if (header.type !== Opcode.error && header.type !== Opcode[asked.op])
      throw new MalformedFrameError(`a multiRead result of type ${header.type}`);
    // Servers other than Apache's tell an error in the header of the read itself, without a body
    // behind it.
    if (header.type !== Opcode.error && header.err !== 0) {
      results.push({ op: "error", path, error: failureOf(header.err, path) });
      continue;
    }
    switch (header.type) {
      case Opcode.getData:
        results.push({ op: "getData", path, data: reader.buffer(), stat: readStat(reader) });
        break;
      case Opcode.getChildren:
        results.push({ op: "getChildren", path, children: reader.vector(() => reader.text()) });
        break;
      case Opcode.error:
        results.push({ op: "error", path, error: failureOf(reader.int(), path) });
        break;
      default:
        throw new MalformedFrameError(`a multiRead result of type ${header.type}`);
    }
  }
  if (results.length < ops.length)
    throw new MalformedFrameError("a multiRead with too few results");
  return results;
}
