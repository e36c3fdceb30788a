/**
 * The answer to `dump`: sessions, their ephemeral znodes, and connections. Each server of an
 * ensemble tells all ephemerals; of connections only its own. Followers before 3.6 tell no
 * sessions, and servers before 3.6 no connections.
 */
import { addressOf } from "./cons.ts";
import { figure, sessionIdOf } from "./figures.ts";

export interface Dump {
  readonly sessions: readonly DumpedSession[];
  /** The paths of ephemeral znodes by their session, without a chroot taken off. */
  readonly ephemerals: ReadonlyMap<bigint, readonly string[]>;
  readonly connections: readonly { readonly address: string; readonly session: bigint }[];
}

interface DumpedSession {
  readonly session: bigint;
  /** Followers tell it. */
  readonly timeoutMs?: number;
}

const SESSION = /^\t?(0x[0-9a-f]{1,16})(?:\t(\d{1,12})ms)?$/i;
const OWNER = /^(0x[0-9a-f]{1,16}):$/i;
const CONNECTION = /^\tip: (\S{1,300}) sessionId: (0x[0-9a-f]{1,16})$/i;

/** Returns undefined for a text that is no such answer. */
export function parseDump(answer: string): Dump | undefined {
  const sessions: DumpedSession[] = [];
  const ephemerals = new Map<bigint, string[]>();
  const connections: { address: string; session: bigint }[] = [];
  let part: "sessions" | "ephemerals" | "connections" | undefined;
  let paths: string[] | undefined;
  for (const line of answer.split("\n")) {
    // No path can look like a title: paths begin with a tab here, and contain no line end.
    if (line === "SessionTracker dump:") part = "sessions";
    else if (line === "ephemeral nodes dump:" || line.startsWith("Sessions with Ephemerals"))
      part = "ephemerals";
    else if (line === "Connections dump:") part = "connections";
    else if (part === "sessions") sessions.push(...sessionOf(line));
    else if (part === "connections") connections.push(...connectionOf(line));
    else if (part === "ephemerals") {
      const owner = sessionIdOf(OWNER.exec(line)?.[1]);
      if (owner !== undefined) {
        paths = ephemerals.get(owner) ?? [];
        ephemerals.set(owner, paths);
      } else if (line.startsWith("\t/")) paths?.push(line.slice(1));
    }
  }
  return part === undefined ? undefined : { sessions, ephemerals, connections };
}

function sessionOf(line: string): DumpedSession[] {
  const [, id, timeout] = SESSION.exec(line) ?? [];
  const session = sessionIdOf(id);
  const timeoutMs = figure(timeout);
  if (session === undefined) return [];
  return [{ session, ...(timeoutMs !== undefined && { timeoutMs }) }];
}

function connectionOf(line: string): { address: string; session: bigint }[] {
  const [, name, id] = CONNECTION.exec(line) ?? [];
  const session = sessionIdOf(id);
  // 0x0: the connection has no session yet.
  return name === undefined || session === undefined || session === 0n
    ? []
    : [{ address: addressOf(name), session }];
}
