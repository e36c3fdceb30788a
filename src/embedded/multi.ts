/**
 * multi: several writes in one request, applied all or none. multiRead: several reads in one
 * request, each with its own result.
 */
import { type JuteReader, type JuteWriter, MalformedFrameError } from "../wire/jute.ts";
import { ErrorCode, Opcode } from "../wire/protocol.ts";
import { readMultiHeader, type StatRecord, writeMultiHeader, writeStat } from "../wire/records.ts";
import { type CheckedChange, checkCreate } from "./check-changes.ts";
import type { Dialect } from "./dialect.ts";
import type { Body, Handler } from "./handler.ts";
import { PendingChanges } from "./pending-changes.ts";
import { childrenOf, dataOf, type Read, readRead } from "./reads.ts";
import { Refusal } from "./refusal.ts";
import type { ServerState } from "./server-state.ts";
import { check, checkContext, deleteNode, type Prepare, readOwnCreate, setData } from "./writes.ts";

/** No client needs a longer reply; a request for one is an attack. */
const MAX_REPLY_BYTES = 64 << 20;

interface WriteOperation {
  readonly kind: "write";
  /** The type in the header of its result. */
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
 * Checks every operation against the tree as the earlier operations will leave it, then applies all
 * of them.
 */
export const multi: Handler = (keeper, caller, request) => {
  const moment = keeper.begin();
  const asked = readOperations(keeper, request);
  const operations = asked.filter((operation) => operation.kind === "write");
  if (operations.length < asked.length) throw new MalformedFrameError("a multi of reads");
  const pending = new PendingChanges(keeper.tree);
  const context = checkContext(keeper, caller, (path) => pending.find(path));
  const changes: CheckedChange[] = [];
  for (const { prepare } of operations) {
    try {
      const change = prepare(context);
      pending.note(change);
      changes.push(change);
    } catch (error) {
      if (error instanceof Refusal) return failure(operations.length, changes.length, error.code);
      throw error;
    }
  }
  // Each stat is taken directly after its change: a later operation may change it again.
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
 * A failed multi has no error in its header; each result has an error code. Operations before the
 * failed one have code 0.
 */
function failure(count: number, failed: number, code: number): Body {
  return (writer) => {
    for (let index = 0; index < count; index++) {
      const err = index < failed ? 0 : index === failed ? code : ErrorCode.runtimeInconsistency;
      writeError(writer, err);
    }
    writeMultiHeader(writer, -1, true);
  };
}

function writeError(writer: JuteWriter, err: number): void {
  writeMultiHeader(writer, Opcode.error, false, err);
  writer.int(err);
}

/** Each read has its own result or error. Watches are not set, as in ZooKeeper 3.8. */
export const multiRead: Handler = (keeper, caller, request) => {
  const operations = readOperations(keeper, request);
  // ZooKeeper finds the write when it has begun the body of its reply, so the error is followed by
  // the end of a multi.
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
      writeOneRead(writer, type, body, keeper.options.dialect);
      if (writer.length - start > MAX_REPLY_BYTES)
        throw new MalformedFrameError("an answer without an end");
    }
    writeMultiHeader(writer, -1, true);
  };
};

function writeOneRead(
  writer: JuteWriter,
  type: number,
  read: () => Body,
  { hasErrorsInHeaders }: Dialect,
): void {
  try {
    const body = read();
    writeMultiHeader(writer, type, false, 0);
    body(writer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (hasErrorsInHeaders) writeMultiHeader(writer, type, false, error.code);
    else writeError(writer, error.code);
  }
}

/** The server that is played does not know an operation, and closes the connection. */
export class UnknownOperation extends Error {}

function readOperations(
  { options }: Pick<ServerState, "options">,
  request: JuteReader,
): Operation[] {
  const operations: Operation[] = [];
  for (let header = readMultiHeader(request); !header.done; header = readMultiHeader(request)) {
    if (options.dialect.lacks(header.type)) throw new UnknownOperation();
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
 * In a multi the flags decide, not the opcode, which ZooKeeper 3.8 ignores. Only containers and TTL
 * znodes have a stat in their result.
 */
function readCreateOperation(askedType: number, request: JuteReader): WriteOperation {
  const { ttlMs, ...record } = readOwnCreate(request, askedType);
  if (TTL_MODES.includes(record.flags)) {
    if (ttlMs === undefined)
      throw new MalformedFrameError("a create with a time to live, and no time");
    const prepare: Prepare = (context) =>
      checkCreate(context, Opcode.createTtl, { ...record, ttlMs });
    return { kind: "write", type: Opcode.create2, prepare };
  }
  const isContainer = record.flags === CONTAINER_MODE;
  const opcode = isContainer ? Opcode.createContainer : Opcode.create;
  const type = isContainer ? Opcode.create2 : Opcode.create;
  return { kind: "write", type, prepare: (context) => checkCreate(context, opcode, record) };
}
