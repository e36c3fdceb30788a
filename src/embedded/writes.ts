/** The requests that change znodes. Each takes a zxid, whether it succeeds or not. */
import type { JuteReader } from "../wire/jute.ts";
import { type ErrorCode, Opcode } from "../wire/protocol.ts";
import {
  type CreateRecord,
  readAcl,
  readCreate,
  type StatRecord,
  writeStat,
} from "../wire/records.ts";
import {
  type CheckContext,
  type CheckedChange,
  checkCreate,
  checkDelete,
  checkSetAcl,
  checkSetData,
  checkVersion,
} from "./check-changes.ts";
import type { Body, Handler, RequestSource } from "./handler.ts";
import { refuse } from "./refusal.ts";
import type { ServerState } from "./server-state.ts";

/** Reads a request; the result checks it. */
type Reading = (request: JuteReader) => Prepare;
export type Prepare = (around: CheckContext) => CheckedChange;

function create(opcode: number): Reading {
  return (request) => {
    const record = readOwnCreate(request, opcode);
    return (around) => checkCreate(around, opcode, record);
  };
}

export function readOwnCreate(request: JuteReader, opcode: number): CreateRecord {
  const record = readCreate(request, { hasTtl: opcode === Opcode.createTtl });
  return { ...record, data: own(record.data) };
}

export const deleteNode: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (around) => checkDelete(around, path, version);
};

export const setData: Reading = (request) => {
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

export const check: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (around) => checkVersion(around, path, version);
};

/**
 * Data are kept for long. In memory of their own: a few bytes must not keep what they arrived in,
 * nor a shared pool.
 */
function own(data: Buffer | null): Buffer | null {
  if (data === null) return null;
  const copy = Buffer.allocUnsafeSlow(data.length);
  data.copy(copy);
  return copy;
}

export function circumstances(
  keeper: ServerState,
  { identities, session }: RequestSource,
  find: CheckContext["find"],
): CheckContext {
  const { tree, options } = keeper;
  return {
    find,
    identities,
    sessionId: session.id,
    quotas: options.enforceQuotas ? tree.quotas : undefined,
  };
}

/** A request with one change, answered by what `answer` makes of it. */
function one(
  reading: Reading,
  answer: (change: CheckedChange, stat: StatRecord | undefined) => Body | undefined,
): Handler {
  return (keeper, caller, request) => {
    const moment = keeper.begin();
    const prepare = reading(request);
    const change = prepare(circumstances(keeper, caller, (path) => keeper.tree.find(path)));
    return answer(change, keeper.apply(change, moment)?.stat());
  };
}

const path = ({ path }: CheckedChange): Body => {
  return (writer) => writer.string(path);
};

const stat = (_change: CheckedChange, stat: StatRecord | undefined): Body | undefined => {
  return stat && ((writer) => writeStat(writer, stat));
};

const pathAndStat = ({ path }: CheckedChange, stat: StatRecord | undefined): Body => {
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
