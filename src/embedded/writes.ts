/** The requests that change znodes. Each takes a zxid, whether it succeeds or not. */
import { type JuteReader, type JuteWriter, MalformedFrameError } from "../wire/jute.ts";
import { ErrorCode, Opcode } from "../wire/protocol.ts";
import { readAcl, readCreate, readMultiHeader, type StatRecord, writeMultiHeader, writeStat } from "../wire/records.ts";
import {
  type Change,
  type Circumstances,
  checkCreate,
  checkDelete,
  checkSetAcl,
  checkSetData,
  checkVersion,
} from "./changes.ts";
import { Drafts } from "./drafts.ts";
import type { Body, Caller, Handler } from "./handler.ts";
import type { Keeper } from "./keeper.ts";
import { Refusal, refuse } from "./refusal.ts";

/** Reads a request; the result checks it. */
type Reading = (request: JuteReader) => (around: Circumstances) => Change;

function create(opcode: number): Reading {
  return (request) => {
    const record = readCreate(request, { hasTtl: opcode === Opcode.createTtl });
    const owned = { ...record, data: own(record.data) };
    return (around) => checkCreate(around, opcode, owned);
  };
}

const deleteNode: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (around) => checkDelete(around, path, version);
};

const setData: Reading = (request) => {
  const path = request.text();
  const data = own(request.buffer());
  const version = request.int();
  return (around) => checkSetData(around, path, data, version);
};

const setAcl: Reading = (request) => {
  const path = request.text();
  const acl = request.vector(() => readAcl(request));
  const version = request.int();
  return (around) => checkSetAcl(around, path, acl, version);
};

const check: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (around) => checkVersion(around, path, version);
};

/** Data are kept for long. In memory of their own: a few bytes must not keep what they arrived in, nor a shared pool. */
function own(data: Buffer | null): Buffer | null {
  if (data === null) return null;
  const copy = Buffer.allocUnsafeSlow(data.length);
  data.copy(copy);
  return copy;
}

function circumstances(keeper: Keeper, { identities, session }: Caller, find: Circumstances["find"]): Circumstances {
  const { tree, options } = keeper;
  return { find, identities, sessionId: session.id, quotas: options.enforceQuotas ? tree.quotas : undefined };
}

/** A request with one change, answered by what `answer` makes of it. */
function one(reading: Reading, answer: (change: Change, stat: StatRecord | undefined) => Body | undefined): Handler {
  return (keeper, caller, request) => {
    const moment = keeper.begin();
    const prepare = reading(request);
    const change = prepare(circumstances(keeper, caller, (path) => keeper.tree.find(path)));
    return answer(change, keeper.apply(change, moment)?.stat());
  };
}

const path = ({ path }: Change): Body => {
  return (writer) => writer.string(path);
};

const stat = (_change: Change, stat: StatRecord | undefined): Body | undefined => {
  return stat && ((writer) => writeStat(writer, stat));
};

const pathAndStat = ({ path }: Change, stat: StatRecord | undefined): Body => {
  return (writer) => {
    writer.string(path);
    if (stat !== undefined) writeStat(writer, stat);
  };
};

export const writeHandlers: readonly (readonly [opcode: number, handler: Handler])[] = [
  [Opcode.create, one(create(Opcode.create), path)],
  [Opcode.create2, one(create(Opcode.create2), pathAndStat)],
  [Opcode.createContainer, one(create(Opcode.createContainer), pathAndStat)],
  [Opcode.createTtl, one(create(Opcode.createTtl), pathAndStat)],
  [Opcode.delete, one(deleteNode, () => undefined)],
  [Opcode.setData, one(setData, stat)],
  [Opcode.setAcl, one(setAcl, stat)],
  [Opcode.check, one(check, stat)],
  [Opcode.multi, (keeper, caller, request) => multi(keeper, caller, request)],
  // Asked by the server itself; and what only an ensemble can do.
  [Opcode.deleteContainer, refusing("badArguments")],
  [Opcode.reconfig, refusing("reconfigDisabled")],
];

function refusing(reason: keyof typeof ErrorCode): Handler {
  return (keeper) => {
    keeper.begin();
    return refuse(reason);
  };
}

interface SubOperation {
  /** The number its result goes by. */
  readonly type: number;
  readonly prepare: (around: Circumstances) => Change;
}

/** All or nothing: every operation is checked against what those before it would leave, then all of them are done. */
function multi(keeper: Keeper, caller: Caller, request: JuteReader): Body {
  const moment = keeper.begin();
  const operations = readOperations(request);
  const drafts = new Drafts(keeper.tree);
  const around = circumstances(keeper, caller, (at) => drafts.find(at));
  const changes: Change[] = [];
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
}

function writeResult(writer: JuteWriter, type: number, created: string, stat: StatRecord | undefined): void {
  if (type === Opcode.create || type === Opcode.create2) writer.string(created);
  if ((type === Opcode.create2 || type === Opcode.setData) && stat !== undefined) writeStat(writer, stat);
}

/** A multi that fails is answered without an error; the errors are its results. Those before the culprit have 0. */
function failure(count: number, culprit: number, code: number): Body {
  return (writer) => {
    for (let index = 0; index < count; index++) {
      const err = index < culprit ? 0 : index === culprit ? code : ErrorCode.runtimeInconsistency;
      writeMultiHeader(writer, Opcode.error, false, err);
      writer.int(err);
    }
    writeMultiHeader(writer, -1, true);
  };
}

function readOperations(request: JuteReader): SubOperation[] {
  const operations: SubOperation[] = [];
  for (let header = readMultiHeader(request); !header.done; header = readMultiHeader(request)) {
    operations.push(readOperation(header.type, request));
  }
  return operations;
}

function readOperation(type: number, request: JuteReader): SubOperation {
  switch (type) {
    case Opcode.create:
    case Opcode.create2:
    case Opcode.createContainer:
    case Opcode.createTtl:
      return readSubCreate(type, request);
    case Opcode.delete:
      return { type, prepare: deleteNode(request) };
    case Opcode.setData:
      return { type, prepare: setData(request) };
    case Opcode.check:
      return { type, prepare: check(request) };
    default:
      throw new MalformedFrameError(`a multi with operation ${type}`);
  }
}

const CONTAINER_MODE = 4;
const TTL_MODES: readonly number[] = [5, 6];

/**
 * Here the mode decides, not the number that the operation came under; ZooKeeper 3.8 does not even look at it. Only
 * containers and znodes with a time to live are answered with a stat.
 */
function readSubCreate(askedType: number, request: JuteReader): SubOperation {
  const { ttlMs, ...record } = readCreate(request, { hasTtl: askedType === Opcode.createTtl });
  const owned = { ...record, data: own(record.data) };
  if (TTL_MODES.includes(record.flags)) {
    if (ttlMs === undefined) throw new MalformedFrameError("a create with a time to live, and no time");
    return { type: Opcode.create2, prepare: (around) => checkCreate(around, Opcode.createTtl, { ...owned, ttlMs }) };
  }
  const isContainer = record.flags === CONTAINER_MODE;
  const opcode = isContainer ? Opcode.createContainer : Opcode.create;
  const type = isContainer ? Opcode.create2 : Opcode.create;
  return { type, prepare: (around) => checkCreate(around, opcode, owned) };
}
