/**
 * Asks every server of a connect string who it is. A name with several addresses may stand for
 * several servers, so each of its addresses is asked.
 */
import { isIPv4 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { formatAddress } from "../../session/connect-string.ts";
import type { Servers, WordFailure } from "../../session/four-letter-word.ts";
import type { ServerAddress } from "../../session/options.ts";
import { metric, parseMntr } from "../servers/mntr.ts";
import { isNotServing, parseSrvr, type ServerStatus } from "../servers/srvr.ts";

export interface AskedServer {
  readonly server: ServerAddress;
  /** The one of several addresses of its name that was asked. */
  readonly ip?: string;
  /** `host:port`, with the address behind it where there are several. */
  readonly name: string;
  /** False for a member of the ensemble that the connect string lacks. */
  readonly isListed: boolean;
  readonly answer: ServerAnswer;
}

export type ServerAnswer =
  | { readonly kind: "status"; readonly status: ServerStatus; readonly ms: number }
  | { readonly kind: "not-serving" }
  /** `srvr` is not in its whitelist: nothing is known of it. */
  | { readonly kind: "not-allowed" }
  /** The answer has no form that is known. */
  | { readonly kind: "unknown" }
  | { readonly kind: "no-address"; readonly says: string }
  | { readonly kind: "failed"; readonly why: WordFailure; readonly says: string };

export function askServers(
  servers: Servers,
  listed: readonly ServerAddress[],
  { isListed = true } = {},
): Promise<AskedServer[]> {
  return Promise.all(listed.map((server) => askHost(servers, server, isListed))).then((asked) =>
    asked.flat(),
  );
}

async function askHost(
  servers: Servers,
  server: ServerAddress,
  isListed: boolean,
): Promise<AskedServer[]> {
  const found = await servers.addresses(server.host);
  const name = formatAddress(server);
  if (found.kind === "failed")
    return [{ server, name, isListed, answer: { kind: "no-address", says: found.says } }];
  const ips = severalAddresses(found.ips);
  if (ips.length === 0)
    return [{ server, name, isListed, answer: await askStatus(servers, server) }];
  return Promise.all(
    ips.map(async (ip) => ({
      server,
      ip,
      name: `${name} (${ip})`,
      isListed,
      answer: await askStatus(servers, server, ip),
    })),
  );
}

/** An IPv4 and an IPv6 address are two ways to one server, as those of localhost. */
function severalAddresses(ips: readonly string[]): string[] {
  const v4 = [...new Set(ips.filter(isIPv4))];
  const v6 = [...new Set(ips.filter((ip) => !isIPv4(ip)))];
  if (v4.length > 1) return v4;
  return v6.length > 1 ? v6 : [];
}

async function askStatus(
  servers: Servers,
  server: ServerAddress,
  ip?: string,
): Promise<ServerAnswer> {
  const answer = await servers.ask(server, "srvr", ip);
  if (answer.kind === "not-allowed") return { kind: "not-allowed" };
  if (answer.kind === "failed") return answer;
  const text = answer.bytes.toString();
  if (isNotServing(text)) return { kind: "not-serving" };
  const status = parseSrvr(text);
  return status ? { kind: "status", status, ms: answer.ms } : { kind: "unknown" };
}

/** A server that can be asked for its figures again. */
type Known = AskedServer & { readonly answer: Extract<ServerAnswer, { kind: "status" }> };

export function isKnown(asked: AskedServer): asked is Known {
  return asked.answer.kind === "status";
}

/** Where a server stands behind what the leader had applied when `waitedMs` began. */
export interface Lag {
  readonly asked: AskedServer;
  readonly zxid: bigint;
  readonly leaderZxid: bigint;
  readonly waitedMs: number;
}

const CATCH_UP_MS = 2_000;
/** The part of a zxid that counts transactions; above it is the number of the leader's term. */
const COUNTER = 0xffff_ffffn;
const ASK_AGAIN_MS = 250;

/**
 * The servers that have not applied, two seconds later, what the leader had applied when it was
 * asked first: under writes every follower is some transactions behind at any moment.
 */
export async function findLags(
  servers: Servers,
  asked: readonly AskedServer[],
  signal: AbortSignal,
): Promise<Lag[]> {
  const known = asked.filter(isKnown);
  const leaderZxid = known.find(({ answer }) => answer.status.mode === "leader")?.answer.status
    .zxid;
  // A new leader begins with a number that no follower takes over before the first transaction.
  if (leaderZxid === undefined || (leaderZxid & COUNTER) === 0n) return [];
  const startedAt = performance.now();
  let behind = known.flatMap((one) => lagOf(one, one.answer, leaderZxid));
  while (behind.length > 0 && performance.now() - startedAt < CATCH_UP_MS) {
    await delay(ASK_AGAIN_MS, undefined, { signal });
    const again = await Promise.all(
      behind.map(async ({ asked: one }) => {
        const answer = await askStatus(servers, one.server, one.ip);
        // A server that answers no longer is no proof of a lag.
        return answer.kind === "status" ? lagOf(one, answer, leaderZxid) : [];
      }),
    );
    behind = again.flat();
  }
  const waitedMs = Math.round(performance.now() - startedAt);
  return behind.map((one) => ({ ...one, leaderZxid, waitedMs }));
}

function lagOf(
  asked: AskedServer,
  { status: { mode, zxid } }: Known["answer"],
  leaderZxid: bigint,
): { asked: AskedServer; zxid: bigint }[] {
  const follows = mode === "follower" || mode === "observer";
  return follows && zxid !== undefined && zxid < leaderZxid ? [{ asked, zxid }] : [];
}

/** The followers that the leader counts as in sync. */
export async function askSynced(
  servers: Servers,
  leader: AskedServer,
): Promise<{ readonly synced?: number; readonly learners?: number; readonly isAllowed: boolean }> {
  const answer = await servers.ask(leader.server, "mntr", leader.ip);
  if (answer.kind === "not-allowed") return { isAllowed: false };
  if (answer.kind === "failed") return { isAllowed: true };
  const metrics = parseMntr(answer.bytes.toString());
  const synced = metric(metrics, "zk_synced_followers");
  // Before 3.6 zk_followers has observers among them.
  const observers = metric(metrics, "zk_synced_observers") ?? 0;
  const all = metric(metrics, "zk_learners") ?? metric(metrics, "zk_followers");
  return {
    isAllowed: true,
    ...(synced !== undefined && { synced }),
    ...(all !== undefined && { learners: all - observers }),
  };
}
