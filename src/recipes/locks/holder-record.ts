/** What a ticket's data says about whoever made it: our own JSON, or what other libraries leave there. */
import type { Data } from "../../session/session.ts";
import type { Contender } from "./contender.ts";

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
  /** The tokens of the locks that the programs around this one hold: tells deadlocks between commands. */
  readonly within?: readonly string[];
}

/** Somebody asks the holder to give way. */
export interface RevokeRequest {
  readonly by?: string;
  readonly at?: string;
  readonly reason?: string;
}

export function describeRequest(path: string, { by = "somebody", reason }: RevokeRequest): string {
  return `${by} asks for ${path}${reason === undefined ? "" : ` (${reason})`}`;
}

/** Everybody who waits reads it. */
const MAX_BYTES = 1024;
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
    text = JSON.stringify(record, (_key, value) => (typeof value === "string" ? cut(value, length) : value));
  }
  return text;
}

/** Between characters: half a surrogate pair is none. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Undefined when the data is not ours; other libraries leave nothing, an address, or a name. */
export function decodeRecord(data: Buffer | null): HolderRecord | undefined {
  if (data === null || data[0] !== 0x7b) return undefined;
  try {
    const value: unknown = JSON.parse(data.toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is HolderRecord {
  return (
    typeof value === "object" && value !== null && "v" in value && "tool" in value && typeof value.tool === "string"
  );
}

/** The words that ask a holder to give way: Curator's, and those of the ZooKeeper documentation. */
export const CURATOR_REVOKE = "__REVOKE__";
export const TEXTBOOK_REVOKE = "unlock";

/** The request to give way that is written into a ticket, if there is one. */
export function revokeRequest(data: Buffer | null): RevokeRequest | undefined {
  const text = data?.toString();
  if (text === CURATOR_REVOKE || text === TEXTBOOK_REVOKE) return {};
  return decodeRecord(data)?.revoke;
}

/** Somebody in the queue, as far as can be told from its ticket. */
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
  /** Milliseconds since the epoch: since when it queues, by the server's clock, and since when it holds, if it said so. */
  readonly queuedAt: number;
  readonly acquiredAt?: number;
  readonly isAskedToYield: boolean;
}

export function describeParty(node: string, contender: Contender | undefined, { data, stat }: Data): Party {
  const record = decodeRecord(data);
  const acquiredAt = record?.acquired === undefined ? Number.NaN : Date.parse(record.acquired);
  return {
    node,
    client: record?.tool ?? clientOf(contender, data === null && stat.dataLength > 0),
    session: stat.ephemeralOwner,
    token: stat.czxid,
    ...facts(record),
    ...(record === undefined && noteOf(data)),
    queuedAt: stat.ctime,
    ...(Number.isFinite(acquiredAt) && { acquiredAt }),
    isAskedToYield: revokeRequest(data) !== undefined,
  };
}

function facts(record: HolderRecord | undefined): Pick<Party, "who" | "host" | "pid" | "cmd" | "why"> {
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const [who, host, cmd, why] = [record?.who, record?.host, record?.cmd, record?.why].map(text);
  const pid = typeof record?.pid === "number" ? record.pid : undefined;
  return {
    ...(who !== undefined && { who }),
    ...(host !== undefined && { host }),
    ...(pid !== undefined && { pid }),
    ...(cmd !== undefined && { cmd }),
    ...(why !== undefined && { why }),
  };
}

/** Bytes that are no text are nothing to show: WriteLock writes two. */
function noteOf(data: Buffer | null): { note?: string } {
  const text = data?.toString() ?? "";
  const isText = text !== "" && !/[\p{Cc}\uFFFD]/u.test(text);
  return isText && text !== CURATOR_REVOKE && text !== TEXTBOOK_REVOKE ? { note: text.slice(0, 200) } : {};
}

/** We make Curator's names, and where the data is an id, or may not be read, there is no record to tell us apart. */
export const CURATOR_OR_ZKSH = "Curator or zksh";

/** The library that makes such names. */
function clientOf(contender: Contender | undefined, isHidden: boolean): string {
  if (contender === undefined) return "unknown";
  const { name, family, claim, uuid } = contender;
  if (family === "curator" && uuid !== undefined && !uuid.includes("-")) return "go-zookeeper";
  if (family === "curator" && (isHidden || claim === "latch")) return CURATOR_OR_ZKSH;
  // Our second ticket, for kazoo to respect.
  if (family === "kazoo" && name.startsWith("_c_")) return "unknown";
  return { curator: "Curator", kazoo: "kazoo", writelock: "WriteLock", textbook: "unknown" }[family];
}
