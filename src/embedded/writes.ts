/** The handlers of write requests. Each uses a zxid, whether it succeeds or not. */
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

/** Reads a request and returns the function that checks it. */
type Reading = (request: JuteReader) => Prepare;
export type Prepare = (context: CheckContext) => CheckedChange;

function create(opcode: number): Reading {
  return (request) => {
    const record = readOwnCreate(request, opcode);
    return (context) => checkCreate(context, opcode, record);
  };
}

export function readOwnCreate(request: JuteReader, opcode: number): CreateRecord {
  const record = readCreate(request, { hasTtl: opcode === Opcode.createTtl });
  return { ...record, data: own(record.data) };
}

export const deleteNode: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (context) => checkDelete(context, path, version);
};

export const setData: Reading = (request) => {
  const path = request.text();
  const data = own(request.buffer());
  const version = request.int();
  return (context) => checkSetData(context, path, data, version);
};

const setAcl: Reading = (request) => {
  const path = request.text();
  const acl = request.vector(() => readAcl(request));
  const version = request.int();
  return (context) => checkSetAcl(context, path, acl, version);
};

export const check: Reading = (request) => {
  const path = request.text();
  const version = request.int();
  return (context) => checkVersion(context, path, version);
};

/**
 * Copies data that will be stored: a slice of the receive buffer or of Node's pool would keep the
 * whole buffer in memory.
 */
function own(data: Buffer | null): Buffer | null {
  if (data === null) return null;
  const copy = Buffer.allocUnsafeSlow(data.length);
  data.copy(copy);
  return copy;
}

export function checkContext(
  keeper: ServerState,
  { identities, session }: RequestSource,
  find: CheckContext["find"],
): CheckContext {
  const { tree, options } = keeper;
  return {
    find,
    identities,
    sessionId: session.id,
    doesSasl: options.doesSasl,
    dialect: options.dialect,
    quotas: options.enforceQuotas ? tree.quotas : undefined,
  };
}

/** The handler of a request with one change; `answer` returns the body of its reply. */
function one(
  reading: Reading,
  answer: (change: CheckedChange, stat: StatRecord | undefined) => Body | undefined,
): Handler {
  return (keeper, caller, request) => {
    const moment = keeper.begin();
    const prepare = reading(request);
    const change = prepare(checkContext(keeper, caller, (path) => keeper.tree.find(path)));
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
  // Requests that only a server sends to itself, and operations of an ensemble.
  [Opcode.deleteContainer, refusing("badArguments")],
  [Opcode.reconfig, refusing("reconfigDisabled")],
];

function refusing(reason: keyof typeof ErrorCode): Handler {
  return (keeper) => {
    keeper.begin();
    return refuse(reason);
  };
}
