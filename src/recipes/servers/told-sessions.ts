/**
 * What the servers tell of sessions, by `cons` and `dump`. Each server knows the connections of its
 * own clients; all sessions and their ephemerals are in the `dump` of any server, except that
 * followers before 3.6 leave out the sessions. Creates nothing; a word that is not allowed, or a
 * server that does not answer, leaves a gap.
 */
import type { WordAnswer } from "../../session/four-letter-word.ts";
import { type ClientConnection, parseCons } from "./cons.ts";
import { type Dump, parseDump } from "./dump.ts";

/** Where sessions are asked for. */
export interface AskedServer {
  readonly name: string;
  /** Rejects only when the caller is interrupted. */
  ask(word: string): Promise<WordAnswer>;
}

export interface ToldSession extends Partial<Omit<ClientConnection, "session">> {
  readonly session: bigint;
  /** The server that the client is connected to, where one tells. */
  readonly server?: string;
  /** With the chroot of no client taken off; left out where no `dump` was to be had. */
  readonly ephemerals?: readonly string[];
}

/** What is not known because a server did not answer a word. */
export interface Gap {
  readonly server: string;
  readonly word: string;
  /** The whitelist of the server does not have the word. */
  readonly isNotAllowed: boolean;
  /** Another reason for the missing answer, in words for people. */
  readonly says?: string;
}

export interface ToldSessions {
  readonly sessions: ReadonlyMap<bigint, ToldSession>;
  readonly gaps: readonly Gap[];
  /** Some server has told the ephemerals of all sessions. */
  readonly hasEphemerals: boolean;
  /** A session that is not among them does not exist. */
  readonly isComplete: boolean;
}

/** What the servers tell of connections, by `cons` alone. */
export async function toldConnections(
  servers: readonly AskedServer[],
): Promise<Pick<ToldSessions, "sessions" | "gaps">> {
  const gaps: Gap[] = [];
  const sessions = new Map<bigint, ToldSession>();
  const answers = await Promise.all(servers.map((server) => server.ask("cons")));
  for (const [index, { name }] of servers.entries()) {
    const text = textOf(answers[index], { server: name, word: "cons" }, gaps);
    for (const { session, ...connection } of parseCons(text ?? ""))
      if (session !== undefined) sessions.set(session, { ...connection, session, server: name });
  }
  return { sessions, gaps };
}

export async function toldSessions(servers: readonly AskedServer[]): Promise<ToldSessions> {
  const connections = await toldConnections(servers);
  const gaps = [...connections.gaps];
  const silent = new Set(gaps.map(({ server }) => server));
  const sessions = new Map(connections.sessions);
  const add = (session: bigint, more: Partial<ToldSession>) =>
    sessions.set(session, { ...sessions.get(session), ...more, session });
  let hasEphemerals = false;
  let isComplete = false;
  // The servers without `cons` first: their `dump` is also asked for their connections.
  const isSilent = ({ name }: AskedServer) => silent.has(name);
  for (const server of [...servers.filter(isSilent), ...servers.filter((one) => !isSilent(one))]) {
    if (isComplete && !isSilent(server)) break;
    const dump = await dumpOf(server, gaps);
    if (!dump) continue;
    for (const { session, timeoutMs } of dump.sessions)
      add(session, timeoutMs === undefined ? {} : { timeoutMs });
    for (const [session, ephemerals] of hasEphemerals ? [] : dump.ephemerals)
      add(session, { ephemerals });
    for (const { session, address } of isSilent(server) ? dump.connections : [])
      add(session, { address, server: server.name });
    hasEphemerals = true;
    isComplete ||= dump.sessions.length > 0;
  }
  return { sessions, gaps, hasEphemerals, isComplete };
}

async function dumpOf(server: AskedServer, gaps: Gap[]): Promise<Dump | undefined> {
  const where = { server: server.name, word: "dump" };
  const text = textOf(await server.ask("dump"), where, gaps);
  const dump = text === undefined ? undefined : parseDump(text);
  if (text !== undefined && !dump)
    gaps.push({ ...where, isNotAllowed: false, says: "the server's answer cannot be read" });
  return dump;
}

function textOf(
  answer: WordAnswer | undefined,
  where: Pick<Gap, "server" | "word">,
  gaps: Gap[],
): string | undefined {
  if (answer?.kind === "answered") return answer.bytes.toString();
  const isNotAllowed = answer?.kind === "not-allowed";
  const says = answer?.kind === "failed" ? answer.says : undefined;
  gaps.push({ ...where, isNotAllowed, ...(says !== undefined && { says }) });
  return undefined;
}
