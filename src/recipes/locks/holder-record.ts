/**
 * The data of a ticket about its contender: our own JSON, or the data of other libraries. Any
 * client that can write to the lock path may have written it, so a record is decoded by a schema,
 * and only here.
 */
import type { Data } from "../../session/session.ts";
import { shorten } from "../../text/shorten.ts";
import type { Contender } from "./queue/contender.ts";

/** How a lock is held: alone, as reader or writer, with a permit, or as leader. */
export type LockMode = "exclusive" | "read" | "write" | "semaphore" | "leader";

/** Kept small and free of secrets: the program's name, never its arguments. */
export interface HolderRecord {
  readonly v: 1;
  readonly tool: string;
  readonly who?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly cmd?: string;
  readonly why?: string;
  readonly mode?: LockMode;
  readonly session?: string;
  /** What its maker knows it by, where the znode's name does not tell. */
  readonly id?: string;
  /** When it came to the queue, and when it got the lock: ISO 8601, by its own clock. */
  readonly queued?: string;
  readonly acquired?: string;
  readonly revoke?: RevokeRequest;
  /**
   * The tokens of the locks that the programs around this one hold: tells deadlocks between
   * commands.
   */
  readonly within?: readonly string[];
}

/** A client asks the holder to release the lock. */
export interface RevokeRequest {
  readonly by?: string;
  readonly at?: string;
  readonly reason?: string;
}

export function describeRequest(
  path: string,
  { by = "another client", reason }: RevokeRequest,
): string {
  return `${by} asked for ${path}${reason === undefined ? "" : ` (${reason})`}`;
}

/** The longest record that we write: every waiter reads it. */
const MAX_BYTES = 1024;
/**
 * A record that we read. Longer ones are not even parsed: each waiter would spend its time on them.
 */
export const MAX_READ_BYTES = 8 * 1024;
/** Of each text in a record that we read. */
const MAX_TEXT = 200;
/** Of the tokens in {@link HolderRecord.within}: commands nest a few deep. */
const MAX_WITHIN = 64;
/** Windows has the longest process ids. */
const MAX_PID = 2 ** 32 - 1;
/** Of a text; no id and no time is as long. */
const MIN_LENGTH = 40;

export function encodeRecord(record: HolderRecord): Buffer {
  return Buffer.from(recordText(record));
}

/** As JSON with room for `moreBytes`: its longest texts are cut for that. */
export function recordText(record: HolderRecord, moreBytes = 0): string {
  const isTooLong = (text: string) => Buffer.byteLength(text) + moreBytes > MAX_BYTES;
  let text = JSON.stringify(record);
  for (let length = MAX_BYTES; length >= MIN_LENGTH && isTooLong(text); length -= 8) {
    text = JSON.stringify(record, (_key, value) =>
      typeof value === "string" ? shorten(value, length) : value,
    );
  }
  return text;
}

/**
 * Undefined when the data is not a record of ours, or not one that can be read; other libraries
 * leave nothing, an address, or a name.
 */
export function decodeRecord(data: Buffer | null): HolderRecord | undefined {
  const record = readRecord(data);
  return record === UNREADABLE ? undefined : record;
}

/**
 * What is shown in place of a record that is too long, or that has a field of another type than
 * ours.
 */
const UNREADABLE = "unreadable record";

function readRecord(data: Buffer | null): HolderRecord | typeof UNREADABLE | undefined {
  if (data === null || data[0] !== 0x7b) return undefined;
  if (data.length > MAX_READ_BYTES) return UNREADABLE;
  const value = parse(data);
  if (value === undefined || !("v" in value) || !("tool" in value)) return undefined;
  return fieldsOf(value, RECORD) ?? UNREADABLE;
}

function parse(data: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

/** Returns a field's value, cut to what we keep of it; undefined when it does not fit. */
type Field<T> = (value: unknown) => T | undefined;
type Fields<T> = { readonly [Key in keyof T]-?: Field<NonNullable<T[Key]>> };

const text: Field<string> = (value) =>
  typeof value === "string" ? shorten(value, MAX_TEXT) : undefined;

const REQUEST: Fields<RevokeRequest> = { by: text, at: text, reason: text };

const RECORD: Fields<HolderRecord> = {
  v: (value) => (Number.isFinite(value) ? 1 : undefined),
  tool: text,
  who: text,
  host: text,
  pid: (value) => (isIntegerUpTo(MAX_PID, value) ? value : undefined),
  cmd: text,
  why: text,
  // Modes of later versions are as good as none: the ticket's name tells what it is.
  mode: (value) => text(value) as LockMode | undefined,
  session: text,
  id: text,
  queued: text,
  acquired: text,
  revoke: (value) => fieldsOf(value, REQUEST),
  within: (value) => (isTokens(value) ? value : undefined),
};

/**
 * The known fields, each as its schema wants it. Undefined when one of them does not fit; unknown
 * ones are left out.
 */
function fieldsOf<T>(value: unknown, fields: Fields<T>): T | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const known = Object.entries<Field<unknown>>(fields).filter(([key]) => Object.hasOwn(value, key));
  const read = known.map(([key, field]) => [key, field(Reflect.get(value, key))] as const);
  return read.some(([, field]) => field === undefined)
    ? undefined
    : (Object.fromEntries(read) as T);
}

function isIntegerUpTo(most: number, value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most;
}

function isToken(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}

function isTokens(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_WITHIN && value.every(isToken);
}

/** The words that ask a holder to give way: Curator's, and those of the ZooKeeper documentation. */
export const CURATOR_REVOKE = "__REVOKE__";
export const TEXTBOOK_REVOKE = "unlock";

/** The request to give way that is written into a ticket, if there is one. */
export function revokeRequest(data: Buffer | null): RevokeRequest | undefined {
  return isRevokeWord(data) ? {} : decodeRecord(data)?.revoke;
}

function isRevokeWord(data: Buffer | null): boolean {
  return (
    data !== null &&
    [CURATOR_REVOKE, TEXTBOOK_REVOKE].some((word) => data.equals(Buffer.from(word)))
  );
}

/** A contender as its ticket describes it. */
export interface Party {
  /** The ticket's path. */
  readonly node: string;
  readonly client: string;
  readonly session: bigint;
  /** The ticket's czxid. */
  readonly token: bigint;
  readonly who?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly cmd?: string;
  readonly why?: string;
  /** What the data says where it is not our record: an address, an identifier. */
  readonly note?: string;
  /**
   * Milliseconds since the epoch: since when it queues, by the server's clock, and since when it
   * holds, if it said so.
   */
  readonly queuedAt: number;
  readonly acquiredAt?: number;
  readonly isAskedToYield: boolean;
}

export function describeParty(
  node: string,
  contender: Contender | undefined,
  { data, stat }: Data,
): Party {
  const found = readRecord(data);
  const isUnreadable = found === UNREADABLE;
  const record = isUnreadable ? undefined : found;
  const acquiredAt = record?.acquired === undefined ? Number.NaN : Date.parse(record.acquired);
  return {
    node,
    // Its name cannot tell zksh from the library whose names zksh makes.
    client: isUnreadable
      ? "unknown"
      : (record?.tool ?? clientOf(contender, data === null && stat.dataLength > 0)),
    session: stat.ephemeralOwner,
    token: stat.czxid,
    ...facts(record),
    ...(isUnreadable ? { note: UNREADABLE } : record === undefined && noteOf(data)),
    queuedAt: stat.ctime,
    ...(Number.isFinite(acquiredAt) && { acquiredAt }),
    isAskedToYield: isRevokeWord(data) || record?.revoke !== undefined,
  };
}

function facts(
  record: HolderRecord | undefined,
): Pick<Party, "who" | "host" | "pid" | "cmd" | "why"> {
  const [who, host, cmd, why] = [record?.who, record?.host, record?.cmd, record?.why].map(
    (value) => value || undefined,
  );
  const pid = record?.pid;
  return {
    ...(who !== undefined && { who }),
    ...(host !== undefined && { host }),
    ...(pid !== undefined && { pid }),
    ...(cmd !== undefined && { cmd }),
    ...(why !== undefined && { why }),
  };
}

/**
 * Bytes that are no text are nothing to show: WriteLock writes two. Looked at is only what would be
 * shown.
 */
function noteOf(data: Buffer | null): { note?: string } {
  // In UTF-8 a UTF-16 unit takes three bytes at most; one more unit tells that there is more.
  const note = shorten(data?.subarray(0, 3 * (MAX_TEXT + 1)).toString() ?? "", MAX_TEXT);
  const isText = note !== "" && !/[\p{Cc}\uFFFD]/u.test(note);
  return isText && !isRevokeWord(data) ? { note } : {};
}

/**
 * We make Curator's names, and where the data is an id, or may not be read, there is no record to
 * tell us apart.
 */
export const CURATOR_OR_ZKSH = "Curator or zksh";

/** The library that makes such names. */
function clientOf(contender: Contender | undefined, isHidden: boolean): string {
  if (contender === undefined) return "unknown";
  const { name, family, claim, uuid } = contender;
  if (family === "curator" && uuid !== undefined && !uuid.includes("-")) return "go-zookeeper";
  if (family === "curator" && (isHidden || claim === "latch")) return CURATOR_OR_ZKSH;
  // Our second ticket, for kazoo to respect.
  if (family === "kazoo" && name.startsWith("_c_")) return "unknown";
  return { curator: "Curator", kazoo: "kazoo", writelock: "WriteLock", textbook: "unknown" }[
    family
  ];
}
