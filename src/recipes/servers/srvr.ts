/** The answer to `srvr` (and the same lines of `stat`). */
import { figure, releaseOf, zxidOf } from "./figures.ts";

/** What a server tells of itself. A figure that its release does not tell is left out. */
export interface ServerStatus {
  /** `3.8.0-5a02a05…, built on 2022-02-25 08:49 UTC`, as the server writes it. */
  readonly version: string;
  /** `3.8.0`; `Keeper 24.8.1.2684` of ClickHouse Keeper. */
  readonly release?: string;
  /** `leader`, `follower`, `observer`, `standalone`, `read-only`. */
  readonly mode?: string;
  readonly zxid?: bigint;
  /** In milliseconds, since the server started or its statistics were reset. */
  readonly latency?: { readonly min: number; readonly avg: number; readonly max: number };
  readonly received?: number;
  readonly sent?: number;
  readonly connections?: number;
  readonly outstanding?: number;
  readonly znodes?: number;
}

/** What a server answers instead that is up, but has no quorum; ClickHouse Keeper leaves the name out. */
export function isNotServing(answer: string): boolean {
  return /^This (?:ZooKeeper )?instance is not currently serving requests\s*$/.test(answer);
}

/** Returns undefined for a text that is no such answer. */
export function parseSrvr(answer: string): ServerStatus | undefined {
  const lines = answer.split(/\r?\n/, MAX_LINES);
  // `ClickHouse Keeper version: v23.3.1.2-…`
  const version = lines
    .map((line) => /^[A-Za-z ]{0,40}version: (.{1,200})$/.exec(line)?.[1])
    .find((found) => found !== undefined);
  if (version === undefined) return undefined;
  const fields = fieldsOf(lines);
  const isKeeper = lines.some((line) => line.startsWith("ClickHouse Keeper version: "));
  const number = releaseOf(version);
  const release = isKeeper && number !== undefined ? `Keeper ${number}` : number;
  const latency = latencyOf(fields.get("Latency min/avg/max"));
  const zxid = zxidOf(fields.get("Zxid"));
  const mode = /^[a-z-]{1,20}$/.exec(fields.get("Mode") ?? "")?.[0];
  return {
    version,
    ...(release !== undefined && { release }),
    ...(mode !== undefined && { mode }),
    ...(zxid !== undefined && { zxid }),
    ...(latency && { latency }),
    ...known({
      received: figure(fields.get("Received")),
      sent: figure(fields.get("Sent")),
      connections: figure(fields.get("Connections")),
      outstanding: figure(fields.get("Outstanding")),
      znodes: figure(fields.get("Node count")),
    }),
  };
}

/** `srvr` has ten lines; `stat` has one more for each client, at its start. */
const MAX_LINES = 100_000;

function fieldsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^([A-Z][A-Za-z/ ]{0,40}): (\S{1,100})\s*$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function latencyOf(text = ""): ServerStatus["latency"] {
  const [min, avg, max] = text.split("/").map(figure);
  return min === undefined || avg === undefined || max === undefined
    ? undefined
    : { min, avg, max };
}

type Known<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function known<T extends Record<string, number | undefined>>(figures: T): Known<T> {
  const entries = Object.entries(figures).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Known<T>;
}
