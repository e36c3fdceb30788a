import { type JuteReader, type JuteWriter, MalformedFrameError } from "./jute.ts";
import { Opcode } from "./protocol.ts";

/** Stat, with its fields in the order of the protocol. */
export interface StatRecord {
  czxid: bigint;
  mzxid: bigint;
  ctime: number;
  mtime: number;
  version: number;
  cversion: number;
  aversion: number;
  ephemeralOwner: bigint;
  dataLength: number;
  numChildren: number;
  pzxid: bigint;
}

export interface AclRecord {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export function readStat(reader: JuteReader): StatRecord {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.time(),
    mtime: reader.time(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

export function writeStat(writer: JuteWriter, stat: StatRecord): void {
  writer.long(stat.czxid);
  writer.long(stat.mzxid);
  writer.time(stat.ctime);
  writer.time(stat.mtime);
  writer.int(stat.version);
  writer.int(stat.cversion);
  writer.int(stat.aversion);
  writer.long(stat.ephemeralOwner);
  writer.int(stat.dataLength);
  writer.int(stat.numChildren);
  writer.long(stat.pzxid);
}

/** kazoo sends an empty scheme or id as null. */
export function readAcl(reader: JuteReader): AclRecord {
  return { perms: reader.int(), scheme: reader.string() ?? "", id: reader.string() ?? "" };
}

export function writeAcl(writer: JuteWriter, acl: AclRecord): void {
  writer.int(acl.perms);
  writer.string(acl.scheme);
  writer.string(acl.id);
}

/** The body of create, create2, createContainer and, with a `ttlMs`, createTTL. */
export function writeCreate(
  writer: JuteWriter,
  path: string,
  data: Uint8Array | null,
  acl: readonly AclRecord[],
  flags: number,
  ttlMs?: number,
): void {
  writer.string(path);
  writer.buffer(data);
  writer.vector(acl, (entry) => writeAcl(writer, entry));
  writer.int(flags);
  if (ttlMs !== undefined) writer.long(BigInt(ttlMs));
}

export interface CreateRecord {
  readonly path: string;
  readonly data: Buffer | null;
  readonly acl: readonly AclRecord[];
  readonly flags: number;
  /** Present only if {@link readCreate} was called for a createTTL. */
  readonly ttlMs?: bigint;
}

export function readCreate(
  reader: JuteReader,
  { hasTtl }: { readonly hasTtl: boolean },
): CreateRecord {
  return {
    path: reader.text(),
    data: reader.buffer(),
    acl: reader.vector(() => readAcl(reader)),
    flags: reader.int(),
    ...(hasTtl && { ttlMs: reader.long() }),
  };
}

export interface ConnectRequest {
  readonly lastZxidSeen: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Uint8Array;
  readonly readOnly: boolean;
}

export function writeConnectRequest(writer: JuteWriter, request: ConnectRequest): void {
  writer.int(0); // protocol version
  writer.long(request.lastZxidSeen);
  writer.int(request.timeoutMs);
  writer.long(request.sessionId);
  writer.buffer(request.password);
  writer.boolean(request.readOnly);
}

/**
 * Reads a {@link ConnectRequest}. Clients before 3.4 omit the read-only flag and expect none in the
 * reply.
 */
export function readConnectRequest(
  reader: JuteReader,
): ConnectRequest & { readonly hasReadOnlyFlag: boolean } {
  reader.int(); // protocol version
  const request = {
    lastZxidSeen: reader.long(),
    timeoutMs: reader.int(),
    sessionId: reader.long(),
    password: reader.buffer() ?? Buffer.alloc(0),
  };
  const hasReadOnlyFlag = reader.remaining > 0;
  return { ...request, hasReadOnlyFlag, readOnly: hasReadOnlyFlag && reader.boolean() };
}

export interface ConnectResponse {
  /** Servers of Apache ZooKeeper send 0. */
  readonly protocolVersion: number;
  /** Zero or less: the session has expired. */
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
  readonly readOnly: boolean;
  /** The answer ends with the flag {@link readOnly}. */
  readonly hasReadOnlyFlag: boolean;
}

export function readConnectResponse(reader: JuteReader): ConnectResponse {
  const protocolVersion = reader.int();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  const password = reader.buffer() ?? Buffer.alloc(16);
  // Servers before 3.4 omit the flag, and so does ClickHouse Keeper.
  const hasReadOnlyFlag = reader.remaining > 0;
  const readOnly = hasReadOnlyFlag && reader.boolean();
  return { protocolVersion, timeoutMs, sessionId, password, readOnly, hasReadOnlyFlag };
}

export function writeConnectResponse(
  writer: JuteWriter,
  response: Pick<ConnectResponse, "timeoutMs" | "sessionId" | "password">,
  {
    hasReadOnlyFlag,
    protocolVersion = 0,
  }: { readonly hasReadOnlyFlag: boolean; readonly protocolVersion?: number },
): void {
  writer.int(protocolVersion);
  writer.int(response.timeoutMs);
  writer.long(response.sessionId);
  writer.buffer(response.password);
  if (hasReadOnlyFlag) writer.boolean(false);
}

/** Between the operations of a multi, and after the last one. */
export function writeMultiHeader(writer: JuteWriter, type: number, done: boolean, err = -1): void {
  writer.int(type);
  writer.boolean(done);
  writer.int(err);
}

export function readMultiHeader(reader: JuteReader): { type: number; done: boolean; err: number } {
  return { type: reader.int(), done: reader.boolean(), err: reader.int() };
}

/**
 * Reads the error code of one result of a multiRead; after 0 the result follows. Apache's servers
 * send an error as a result of its own type followed by the code; other servers set the code in the
 * header of the read and send no body.
 */
export function readResultCode(reader: JuteReader, expected: number): number {
  const { type, done, err } = readMultiHeader(reader);
  const code = !done && type === Opcode.error ? reader.int() : err;
  if (done || (type !== expected && (type !== Opcode.error || code === 0)))
    throw new MalformedFrameError(`a multiRead result of type ${type}`);
  return code;
}
