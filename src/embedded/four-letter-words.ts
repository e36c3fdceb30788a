/** The answers to ZooKeeper's four-letter words. */
import { hostname } from "node:os";
import { hexId } from "../text/hex-id.ts";
import type { Connection } from "./connection.ts";
import type { ServerState } from "./server-state.ts";
import type { TrafficCounters } from "./traffic-counters.ts";
import type { Watcher } from "./watches.ts";

export interface Subject {
  readonly keeper: ServerState;
  readonly traffic: TrafficCounters;
  readonly connections: ReadonlySet<Connection>;
  readonly port: number;
  readonly startedAt: number;
}

const WORDS: Readonly<Record<string, (subject: Subject) => string>> = {
  ruok: () => "imok",
  isro: () => "rw",
  srvr,
  stat: (subject) => {
    const clients = [...subject.connections]
      .map((connection) => `${describe(connection, true)}\n`)
      .join("");
    return srvr(subject).replace("\n", `\nClients:\n${clients}\n`);
  },
  cons: ({ connections }) =>
    `${[...connections].map((connection) => `${describe(connection, false)}\n`).join("")}\n`,
  mntr,
  dump,
  conf,
  envi: ({ keeper }) =>
    `Environment:\nzookeeper.version=${keeper.options.dialect.version}\nhost.name=${hostname()}\n`,
  wchs: ({ keeper: { watches } }) => {
    const { data } = watches;
    return `${data.watcherCount} connections watching ${data.paths.size} paths\nTotal watches:${data.size}\n`;
  },
  wchp: ({ keeper: { watches } }) => {
    const lines = [...watches.data.paths].map(
      ([path, watchers]) => `${path}\n${indented([...watchers.keys()].map(sessionOf))}`,
    );
    return `${lines.join("")}\n`;
  },
  wchc: ({ keeper: { watches } }) => {
    const lines = [...watches.data.watchers].map(([watcher, paths]) => {
      return `${sessionOf(watcher)}\n${indented(paths)}`;
    });
    return `${lines.join("")}\n`;
  },
};

/** The answer; `hang-up` for a word that is not answered, undefined for an unknown one. */
export function answerWord(
  word: string,
  subject: Subject,
): { readonly text: string } | "hang-up" | undefined {
  const answer = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (answer === undefined) return undefined;
  const text = subject.keeper.options.dialect.answerTo(word, () => answer(subject));
  return text === undefined ? "hang-up" : { text };
}

function srvr({ keeper, traffic, connections }: Subject): string {
  return [
    `${keeper.options.dialect.product} version: ${keeper.options.dialect.version}`,
    "Latency min/avg/max: 0/0.0/0",
    `Received: ${traffic.received}`,
    `Sent: ${traffic.sent}`,
    `Connections: ${connections.size}`,
    "Outstanding: 0",
    `Zxid: ${hexId(keeper.lastZxid)}`,
    "Mode: standalone",
    `Node count: ${keeper.tree.size}`,
    "",
  ].join("\n");
}

function mntr({ keeper, traffic, connections, startedAt }: Subject): string {
  const { tree, watches, sessions, options } = keeper;
  const ephemerals = [...tree.ephemerals.values()].reduce((sum, paths) => sum + paths.size, 0);
  const values = {
    version: options.dialect.version,
    server_state: "standalone",
    uptime: Math.round(options.now() - startedAt),
    avg_latency: "0.0",
    min_latency: 0,
    max_latency: 0,
    packets_received: traffic.received,
    packets_sent: traffic.sent,
    num_alive_connections: connections.size,
    outstanding_requests: 0,
    znode_count: tree.size,
    watch_count: watches.size,
    ephemerals_count: ephemerals,
    approximate_data_size: tree.approximateBytes,
    global_sessions: sessions.size,
    local_sessions: 0,
    auth_failed_count: traffic.authFailures,
    // The server knows only its sockets, and no limit.
    open_file_descriptor_count: connections.size + 1,
    max_file_descriptor_count: 0x7fff_ffff,
  };
  return Object.entries(values)
    .map(([key, value]) => `zk_${key}\t${value}\n`)
    .join("");
}

function dump({ keeper: { sessions, tree, options }, connections }: Subject): string {
  const { expiry } = sessions;
  const now = options.now();
  const ephemerals = [...tree.ephemerals].map(([id, paths]) => `${hexId(id)}:\n${indented(paths)}`);
  const attached = new Map<number, Connection[]>();
  for (const connection of connections) {
    const deadline =
      (connection.attachedSession && expiry.deadlineOf(connection.attachedSession)) ?? now;
    attached.set(deadline, [...(attached.get(deadline) ?? []), connection]);
  }
  return [
    "SessionTracker dump:\nSession ",
    sets(expiry.buckets, now, ({ id }) => hexId(id)),
    `ephemeral nodes dump:\nSessions with Ephemerals (${tree.ephemerals.size}):\n`,
    ...ephemerals,
    "Connections dump:\nConnections ",
    sets([...attached], now, (connection) => {
      const { remoteAddress, remotePort, attachedSession } = connection;
      return `ip: /${remoteAddress}:${remotePort} sessionId: ${hexId(attachedSession?.id ?? 0n)}`;
    }),
  ].join("");
}

/** Lists things by the time of their expiry. */
function sets<Thing>(
  groups: readonly (readonly [deadline: number, things: Iterable<Thing>])[],
  now: number,
  name: (thing: Thing) => string,
): string {
  const named = groups.map(([deadline, things]) => ({ deadline, names: [...things].map(name) }));
  const total = named.reduce((sum, { names }) => sum + names.length, 0);
  const texts = named.map(({ deadline, names }) => {
    return `${names.length} expire at ${javaDate(new Date(Date.now() + deadline - now))}:\n${indented(names)}`;
  });
  return `Sets (${groups.length})/(${total}):\n${texts.join("")}`;
}

/** `Tue Nov 16 10:00:00 UTC 2026`, as Java writes dates. */
function javaDate(date: Date): string {
  const [weekday, day, month, year, time] = date.toUTCString().replace(",", "").split(" ");
  return `${weekday} ${month} ${day} ${time} UTC ${year}`;
}

function indented(lines: Iterable<string>): string {
  return [...lines].map((line) => `\t${line}\n`).join("");
}

function conf({ keeper: { options }, port }: Subject): string {
  return [
    `clientPort=${port}`,
    `tickTime=${options.tickTimeMs}`,
    "maxClientCnxns=0",
    `minSessionTimeout=${options.minSessionTimeoutMs}`,
    `maxSessionTimeout=${options.maxSessionTimeoutMs}`,
    "serverId=0",
    "",
  ].join("\n");
}

function describe(
  { remoteAddress, remotePort, traffic, attachedSession }: Connection,
  isBrief: boolean,
): string {
  const { received, sent, lastOperation, establishedAt, lastXid, lastZxid, lastReplyAt } = traffic;
  const session =
    isBrief || attachedSession === undefined
      ? ""
      : `,sid=${hexId(attachedSession.id)},lop=${lastOperation},est=${establishedAt},to=${attachedSession.timeoutMs}` +
        `,lcxid=0x${lastXid.toString(16)},lzxid=${hexId(lastZxid)},lresp=${lastReplyAt}` +
        ",llat=0,minlat=0,avglat=0,maxlat=0";
  return ` /${remoteAddress}:${remotePort}[1](queued=0,recved=${received},sent=${sent}${session})`;
}

function sessionOf(watcher: Watcher): string {
  return hexId(
    "attachedSession" in watcher ? ((watcher as Connection).attachedSession?.id ?? 0n) : 0n,
  );
}
