/**
 * The records of runs below `KEY/runs`. Any client that may write there may have written one, so
 * each is decoded by its types; what is no record of ours counts as no run.
 */
import { NoNodeError } from "../../../errors.ts";
import { joinPath } from "../../../session/path.ts";
import type { CallOptions, Session, Stat } from "../../../session/session.ts";
import { shorten } from "../../../text/shorten.ts";
import { parseContender } from "../queue/contender.ts";
import { untilAnswered } from "../queue/retry-unanswered.ts";
import type { Period } from "./period.ts";

/** One run of the job, as its record and ZooKeeper's clock describe it. */
export interface Run {
  /** The znode of the record. */
  readonly node: string;
  readonly period: Period;
  /** The fencing token of the lock that it ran under. */
  readonly token: bigint;
  /** `ended`: with `code`, of which 0 is success; `crashed`: its lock has gone without a word of its end. */
  readonly state: "running" | "ended" | "crashed";
  readonly code?: number;
  /** Milliseconds since the epoch, by ZooKeeper's clock. */
  readonly begunAt: number;
  readonly endedAt?: number;
  readonly who?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly cmd?: string;
}

/** What is written; a run that has not ended has no `exit`. */
export interface RunRecord {
  readonly v: 1;
  readonly tool: string;
  readonly begin: number;
  readonly end: number;
  readonly token: string;
  /** The name of the ticket, which is there for as long as the job runs. */
  readonly ticket: string;
  readonly who?: string | undefined;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  readonly cmd?: string | undefined;
  readonly exit?: number;
}

const MAX_BYTES = 4 * 1024;
const MAX_TEXT = 100;
/** Zxids are 64 bits. */
const TOKEN = /^\d{1,20}$/;

export function runsPath(key: string): string {
  return joinPath(key, "runs");
}

export function encodeRun(record: RunRecord): Buffer {
  return Buffer.from(
    JSON.stringify(record, (_name, value) =>
      typeof value === "string" ? shorten(value, 2 * MAX_TEXT) : value,
    ),
  );
}

/** All runs that are recorded, the oldest first. Empty where there are none. */
export async function readRuns(
  session: Session,
  key: string,
  options: CallOptions = {},
): Promise<Run[]> {
  const path = runsPath(key);
  try {
    const [names, tickets] = await untilAnswered(() =>
      Promise.all([session.getChildren(path, options), session.getChildren(key, options)]),
    );
    const runs = await Promise.all(
      names.map((name) => readRun(session, joinPath(path, name), new Set(tickets), options)),
    );
    return runs.flatMap((run) => run ?? []).sort((a, b) => a.begunAt - b.begunAt);
  } catch (error) {
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

async function readRun(
  session: Session,
  node: string,
  tickets: ReadonlySet<string>,
  options: CallOptions,
): Promise<Run | undefined> {
  try {
    const { data, stat } = await untilAnswered(() => session.getData(node, options));
    return decodeRun(node, data, stat, tickets);
  } catch (error) {
    // Pruned since the list was read.
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

export function decodeRun(
  node: string,
  data: Buffer | null,
  stat: Pick<Stat, "ctime" | "mtime">,
  tickets: ReadonlySet<string>,
): Run | undefined {
  const record = parse(data);
  if (record === undefined) return undefined;
  const { begin, end, token, ticket, exit } = record;
  if (!Number.isSafeInteger(begin) || !Number.isSafeInteger(end)) return undefined;
  if (typeof token !== "string" || !TOKEN.test(token) || typeof ticket !== "string")
    return undefined;
  const hasEnded = typeof exit === "number" && Number.isInteger(exit) && exit >= 0 && exit <= 255;
  const isRunning = parseContender(ticket) !== undefined && tickets.has(ticket);
  return {
    node,
    period: { beginMs: begin as number, endMs: end as number },
    token: BigInt(token),
    begunAt: stat.ctime,
    state: hasEnded ? "ended" : isRunning ? "running" : "crashed",
    ...(hasEnded && { code: exit, endedAt: stat.mtime }),
    ...texts(record),
    ...(Number.isSafeInteger(record.pid) && { pid: record.pid as number }),
  };
}

function parse(data: Buffer | null): Readonly<Record<string, unknown>> | undefined {
  if (data === null || data.length > MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(data.toString());
    const isRecord = typeof value === "object" && value !== null && "v" in value;
    return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function texts(record: Readonly<Record<string, unknown>>): Pick<Run, "who" | "host" | "cmd"> {
  const known = ["who", "host", "cmd"].flatMap((name) => {
    const value = record[name];
    return typeof value === "string" && value !== "" ? [[name, shorten(value, MAX_TEXT)]] : [];
  });
  return Object.fromEntries(known);
}

/** Which run a ticket made; undefined where its request was lost. */
export async function findRun(
  session: Session,
  key: string,
  token: bigint,
): Promise<string | undefined> {
  const runs = await readRuns(session, key);
  return runs.find((run) => run.token === token)?.node;
}
