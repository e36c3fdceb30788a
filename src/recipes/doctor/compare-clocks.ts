/**
 * Compares clocks without writing. `cons` tells when a server accepted a connection, by its own
 * clock: for a session that was opened just now, the answer lies between two readings of ours. The
 * times in stats are those of the leader, whichever server is asked: a time in the future shows that
 * its clock was ahead, but no old time shows that it is behind. Only a write does.
 */
import { randomUUID } from "node:crypto";
import { ConnectionError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { parseCons } from "../servers/cons.ts";
import type { AskedServer } from "./ask-servers.ts";
import type { ClockFinding, EnsembleFinding } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a clock that is kept by NTP never differs by. */
const TOLERANCE_MS = 1_000;

/** How far a clock is ahead of this machine's, with what the network may have added. */
export interface ClockReading {
  readonly server: string;
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * The clock of one server; undefined where it does not allow `cons`. Opens a session at this server
 * and closes it.
 */
export async function readClock(
  { servers, openSession, signal }: Surroundings,
  { server, ip, name }: AskedServer,
): Promise<ClockReading | EnsembleFinding | undefined> {
  // Of a name with several addresses, a session could be opened at another one.
  if (ip !== undefined) return undefined;
  if ((await servers.ask(server, "cons")).kind !== "answered") return undefined;
  const before = Date.now();
  const session = await openSession([server]);
  try {
    await session.connected({ signal });
    const after = Date.now();
    const answer = await servers.ask(server, "cons");
    if (answer.kind !== "answered") return undefined;
    const own = parseCons(answer.bytes.toString()).find((one) => one.session === session.id);
    if (own?.establishedAt === undefined) return undefined;
    const { establishedAt } = own;
    return { server: name, leastMs: establishedAt - after, mostMs: establishedAt - before };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { check: "no-session", severity: "error", server: name, says: error.message };
  } finally {
    await session.close();
  }
}

/** The leader's clock, by the time in a znode that is created below `parent` and deleted at once. */
export async function readLeaderClock(
  session: Session,
  parent: string,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal },
): Promise<ClockReading> {
  const path = joinPath(parent, `zksh-doctor-${randomUUID()}`);
  const before = Date.now();
  // Ephemeral: if this process dies here, the znode goes with the session.
  const { stat } = await session.create2(path, null, { mode: "ephemeral", signal });
  const after = Date.now();
  await session.delete(path, { signal });
  return { server, leastMs: stat.ctime - after, mostMs: stat.ctime - before };
}

/** How far a clock is off at least; 0 where it may be right. */
function offBy({ leastMs, mostMs }: ClockReading): number {
  if (leastMs > TOLERANCE_MS) return leastMs;
  return mostMs < -TOLERANCE_MS ? mostMs : 0;
}

export function judgeClocks(readings: readonly ClockReading[]): ClockFinding[] {
  const off = readings.map(offBy);
  const [first] = readings;
  // Several servers that agree are more likely to be right than this machine.
  const areAlike =
    first !== undefined &&
    readings.length > 1 &&
    off.every((ms) => ms !== 0) &&
    readings.every(
      ({ leastMs, mostMs }) =>
        leastMs - first.mostMs <= TOLERANCE_MS && first.leastMs - mostMs <= TOLERANCE_MS,
    );
  if (areAlike) {
    const aheadMs = -Math.round((first.leastMs + first.mostMs) / 2);
    return [{ check: "clock-skew", severity: "warning", aheadMs }];
  }
  return readings.flatMap(({ server }, index) => {
    const aheadMs = off[index] ?? 0;
    return aheadMs === 0 ? [] : [{ check: "clock-skew", severity: "warning", server, aheadMs }];
  });
}

/** The latest time in the stats of a tree, if it is in the future. */
export class LatestTime {
  #path = "";
  #time = 0;

  add(path: string, { ctime, mtime }: { readonly ctime: number; readonly mtime: number }): void {
    const time = Math.max(ctime, mtime);
    if (time <= this.#time) return;
    this.#time = time;
    this.#path = path;
  }

  findings(now: number): ClockFinding[] {
    const aheadMs = this.#time - now;
    if (aheadMs <= TOLERANCE_MS) return [];
    return [
      { check: "clock-skew", severity: "warning", server: "leader", aheadMs, path: this.#path },
    ];
  }
}
