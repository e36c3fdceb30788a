/**
 * Several operations in one request: all or nothing where they write, each for itself where they
 * read.
 */
import { type JuteReader, type JuteWriter, MalformedFrameError } from "../wire/jute.ts";
import { ErrorCode, Opcode } from "../wire/protocol.ts";
import { readMultiHeader, type StatRecord, writeMultiHeader, writeStat } from "../wire/records.ts";
import { type CheckedChange, checkCreate } from "./check-changes.ts";
import type { Body, Handler } from "./handler.ts";
import { PendingChanges } from "./pending-changes.ts";
import { childrenOf, dataOf, type Read, readRead } from "./reads.ts";
import { Refusal } from "./refusal.ts";
import {
  check,
  circumstances,
  deleteNode,
  type Prepare,
  readOwnCreate,
  setData,
} from "./writes.ts";

/** No client needs more than this in one answer; asking for it is an attack. */
const MAX_REPLY_BYTES = 64 << 20;

interface WriteOperation {
  readonly kind: "write";
  /** The number its result goes by. */
  readonly type: number;
  readonly prepare: Prepare;
}

interface ReadOperation {
  readonly kind: "read";
  readonly type: number;
  readonly read: Read;
}

type Operation = WriteOperation | ReadOperation;

/**
 * Every operation is checked against what those before it would leave; then all of them are done.
 */
export const multi: Handler = (keeper, caller, request) => {
  const moment = keeper.begin();
  const asked = readOperations(request);
  const operations = asked.filter((operation) => operation.kind === "write");
  if (operations.length < asked.length) throw new MalformedFrameError("a multi of reads");
  const drafts = new PendingChanges(keeper.tree);
  const around = circumstances(keeper, caller, (path) => drafts.find(path));
  const changes: CheckedChange[] = [];
  for (const { prepare } of operations) {
    try {
      const change = prepare(around);
      drafts.note(change);
      changes.push(change);
    } catch (error) {
      if (error instanceof Refusal) return failure(operations.length, changes.length, error.code);
      throw error;
    }
  }
  // Stats as they are right after each change; a later one may change them again.
  const stats = changes.map((change) => keeper.apply(change, moment)?.stat());
  return (writer) => {
    for (const [index, { type }] of operations.entries()) {
      writeMultiHeader(writer, type, false, 0);
      writeResult(writer, type, changes[index]?.path ?? "", stats[index]);
    }
    writeMultiHeader(writer, -1, true);
  };
};

function writeResult(
  writer: JuteWriter,
  type: number,
  created: string,
  stat: StatRecord | undefined,
): void {
  if (type === Opcode.create || type === Opcode.create2) writer.string(created);
  if ((type === Opcode.create2 || type === Opcode.setData) && stat !== undefined)
    writeStat(writer, stat);
}

/**
 * A multi that fails is answered without an error; the errors are its results. Those before the
 * culprit have 0.
 */
function failure(count: number, culprit: number, code: number): Body {
  return (writer) => {
    for (let index = 0; index < count; index++) {
      const err = index < culprit ? 0 : index === culprit ? code : ErrorCode.runtimeInconsistency;
      writeError(writer, err);
    }
    writeMultiHeader(writer, -1, true);
  };
}

function writeError(writer: JuteWriter, err: number): void {
  writeMultiHeader(writer, Opcode.error, false, err);
  writer.int(err);
}

/**
 * Each read succeeds or fails for itself. Watches that the client asks for are not set here.
 */
export const multiRead: Handler = (keeper, caller, request) => {
  const operations = readOperations(request);
  // ZooKeeper has begun its answer when it finds out, and sends what it has.
  if (operations.some(({ kind }) => kind === "write")) {
    throw new Refusal(ErrorCode.marshallingError, (writer) => writeMultiHeader(writer, -1, true));
  }
  const reads = operations.filter((operation) => operation.kind === "read");
  return (writer) => {
    const start = writer.length;
    for (const { type, read } of reads) {
      const body = () =>
        type === Opcode.getData
          ? dataOf(keeper, caller, read)
          : childrenOf(keeper, caller, read).names;
      writeOneRead(writer, type, body);
      if (writer.length - start > MAX_REPLY_BYTES)
        throw new MalformedFrameError("an answer without an end");
    }
    writeMultiHeader(writer, -1, true);
  };
};

function writeOneRead(writer: JuteWriter, type: number, read: () => Body): void {
  try {
    const body = read();
    writeMultiHeader(writer, type, false, 0);
    body(writer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    writeError(writer, error.code);
  }
}

function readOperations(request: JuteReader): Operation[] {
  const operations: Operation[] = [];
  for (let header = readMultiHeader(request); !header.done; header = readMultiHeader(request)) {
    const operation = readOperation(header.type, request);
    if (operation.kind !== (operations[0] ?? operation).kind)
      throw new MalformedFrameError("reads among writes");
    operations.push(operation);
  }
  return operations;
}

function readOperation(type: number, request: JuteReader): Operation {
  switch (type) {
    case Opcode.create:
    case Opcode.create2:
    case Opcode.createContainer:
    case Opcode.createTtl:
      return readCreateOperation(type, request);
    case Opcode.delete:
      return { kind: "write", type, prepare: deleteNode(request) };
    case Opcode.setData:
      return { kind: "write", type, prepare: setData(request) };
    case Opcode.check:
      return { kind: "write", type, prepare: check(request) };
    case Opcode.getData:
    case Opcode.getChildren:
      return { kind: "read", type, read: { ...readRead(request), watch: false } };
    default:
      throw new MalformedFrameError(`a multi with operation ${type}`);
  }
}

const CONTAINER_MODE = 4;
const TTL_MODES: readonly number[] = [5, 6];

/**
 * Here the mode decides, not the number that the operation came under; ZooKeeper 3.8 does not even
 * look at it. Only containers and znodes with a time to live are answered with a stat.
 */
function readCreateOperation(askedType: number, request: JuteReader): WriteOperation {
  const { ttlMs, ...record } = readOwnCreate(request, askedType);
  if (TTL_MODES.includes(record.flags)) {
    if (ttlMs === undefined)
      throw new MalformedFrameError("a create with a time to live, and no time");
    const prepare: Prepare = (around) =>
      checkCreate(around, Opcode.createTtl, { ...record, ttlMs });
    return { kind: "write", type: Opcode.create2, prepare };
  }
  const isContainer = record.flags === CONTAINER_MODE;
  const opcode = isContainer ? Opcode.createContainer : Opcode.create;
  const type = isContainer ? Opcode.create2 : Opcode.create;
  return { kind: "write", type, prepare: (around) => checkCreate(around, opcode, record) };
}
