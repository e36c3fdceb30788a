import { monotonicMs } from "./monotonic-clock.ts";
import {
  findProcess,
  hasInEnvironment,
  isTableOurs,
  type ProcessRow,
  processTable,
} from "./process-table.ts";
import { isShortage, SpareDescriptor } from "./spare-descriptor.ts";

/** What tells the processes of a tree from others; see {@link ProcessTree}. */
export interface TreeIdentity {
  /** The pid of the program. */
  readonly pid: number;
  readonly start: string;
  /** The session of the tree; the program's pid when it leads the session. */
  readonly session: number;
  /** The pid of zksh, which is no part of the tree. */
  readonly guard: number;
  /** `NAME=value` in the environment of the tree: finds processes whose parents have ended. */
  readonly mark: string;
}

/**
 * The table is read again to find processes that were forked during the last reading. The limit is
 * for a program that forks all the time.
 */
const MAX_LOOKS = 20;
/**
 * Without a table, a zombie that is never waited for looks like a running process. So after SIGKILL
 * the group counts as ended after this time.
 */
const KILLED_WITHIN_MS = 1_000;

/** A program and the processes it has started, except those in a session of their own. */
export class ProcessTree {
  readonly identity: TreeIdentity;
  readonly #spare = new SpareDescriptor();
  /** Members seen earlier: pid → start time. */
  readonly #known = new Map<number, string>();
  #isGone = false;
  #hasProgramEnded = false;
  /** When its group was killed. */
  #killedAt = Number.POSITIVE_INFINITY;

  /** Throws when the process has too few descriptors to look after a tree. */
  constructor(identity: TreeIdentity) {
    this.identity = identity;
  }

  /** Nothing more is asked of it in a shortage. May be called twice. */
  dispose(): void {
    this.#spare.close();
  }

  get hasOwnGroup(): boolean {
    return this.identity.session === this.identity.pid;
  }

  /** The program has been waited for: its pid may belong to another process from now on. */
  programEnded(): void {
    this.#hasProgramEnded = true;
  }

  /** True when the program has been stopped. */
  isStopped(): boolean {
    return this.#read(() => this.#isStopped(), false);
  }

  /**
   * Sends the signal to the tree, also to processes that are being forked meanwhile. Returns the
   * processes that could not be signalled because they belong to another user.
   */
  signal(name: NodeJS.Signals): number[] {
    return this.#read(() => this.#signal(name), undefined) ?? this.#signalUnseen(name);
  }

  /**
   * Sends the signal to its own group, or to the program alone where it shares ours; returns the
   * program when refused.
   */
  signalGroup(name: NodeJS.Signals): number[] {
    return this.#read(() => this.#signalGroup(name), undefined) ?? this.#signalUnseen(name);
  }

  /** True when no process of the tree runs any more; it then stays true. */
  isGone(): boolean {
    return this.#read(() => this.#isGoneNow(), undefined) ?? this.#isEmptyUnseen();
  }

  /** Looks processes up; `unseen` when there is no descriptor left to do so. */
  #read<T, U>(look: () => T, unseen: U): T | U {
    try {
      return this.#spare.lend(look);
    } catch (error) {
      if (!isShortage(error)) throw error;
      return unseen;
    }
  }

  /** Without looking anything up, which is safe until the program has been waited for. */
  #signalUnseen(name: NodeJS.Signals): number[] {
    if (this.#isGone || this.#hasProgramEnded) return [];
    return this.#send(name);
  }

  #isStopped(): boolean {
    // Without a table: a group that was sent SIGSTOP stops.
    if (!isTableOurs()) return this.hasOwnGroup;
    const program = this.#program();
    if (program?.state !== "blocked") return program?.state === "stopped";
    // A program that is just starting another (vfork) waits for it, and so never stops when the
    // other was stopped first.
    return processTable().some(
      ({ parent, state }) => parent === program.pid && state === "stopped",
    );
  }

  #signal(name: NodeJS.Signals): number[] {
    // The whole table takes 0.1 s on a busy machine, too long where the lease ends: a group is
    // signalled before it is read. Without a group of its own, the family of the program can only be
    // found while the program is there.
    const canSignalFirst = this.hasOwnGroup && this.#program() !== undefined;
    if (!canSignalFirst && this.#isGoneNow()) return [];
    const isRefused = this.#signalGroup(name);
    // With a table, the members of a group that refused the signal are found below.
    const refused = new Set(this.hasOwnGroup && isTableOurs() ? [] : isRefused);
    const told = new Set([this.identity.pid]);
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const members = this.#members(processTable());
      // kill(2) does not say which members of a group it has skipped.
      for (const { pid, group } of members) {
        if (this.#isOwn(group) && send(pid, 0) === "refused") refused.add(pid);
      }
      const others = members.filter(({ pid, group }) => !told.has(pid) && !this.#isOwn(group));
      if (others.length === 0) break;
      for (const { pid } of others) {
        told.add(pid);
        if (send(pid, name) === "refused") refused.add(pid);
      }
    }
    return [...refused];
  }

  #signalGroup(name: NodeJS.Signals): number[] {
    // Never after the tree has ended: its pids may belong to other processes by then.
    if (this.#isGone) return [];
    const { pid } = this.identity;
    if (this.hasOwnGroup && this.#isNumberReused(findProcess(pid))) return [];
    if (!this.hasOwnGroup && !this.#isProgramThere()) return [];
    return this.#send(name);
  }

  #send(name: NodeJS.Signals): number[] {
    const { pid } = this.identity;
    const sent = send(this.hasOwnGroup ? -pid : pid, name);
    if (sent === "sent" && name === "SIGKILL")
      this.#killedAt = Math.min(this.#killedAt, monotonicMs());
    return sent === "refused" ? [pid] : [];
  }

  /** The program itself, while it has not been waited for. */
  #program(): ProcessRow | undefined {
    const row = findProcess(this.identity.pid);
    return row?.start === this.identity.start ? row : undefined;
  }

  #isProgramThere(): boolean {
    return isTableOurs() ? this.#program() !== undefined : !this.#hasProgramEnded;
  }

  #isGoneNow(): boolean {
    // Twice, to find a process whose parent forked it and ended during the first reading.
    this.#isGone ||= !this.#isAnyKnownRunning() && this.#isEmpty() && this.#isEmpty();
    return this.#isGone;
  }

  /** Makes reading the whole table unnecessary most of the time. */
  #isAnyKnownRunning(): boolean {
    for (const [pid, start] of this.#known) {
      const row = findProcess(pid);
      if (row?.start === start && row.state !== "zombie" && row.session === this.identity.session)
        return true;
      this.#known.delete(pid);
    }
    return false;
  }

  #isEmpty(): boolean {
    const { pid } = this.identity;
    if (!isTableOurs()) return this.#isEmptyUnseen();
    const table = processTable();
    if (this.#members(table).length > 0) return false;
    // /proc may hide processes of other users (hidepid), but the group still has them.
    const isHidden = !table.some(({ group }) => group === pid) && send(-pid, 0) === "refused";
    return !(this.hasOwnGroup && isHidden);
  }

  /** As far as it can be told without the table: of the group, or of the program alone. */
  #isEmptyUnseen(): boolean {
    const isKilled = monotonicMs() - this.#killedAt > KILLED_WITHIN_MS;
    if (this.#hasProgramEnded && (isKilled || !this.hasOwnGroup)) return true;
    return send(this.hasOwnGroup ? -this.identity.pid : this.identity.pid, 0) === "none";
  }

  #members(table: readonly ProcessRow[]): ProcessRow[] {
    const { pid, session, guard } = this.identity;
    if (this.hasOwnGroup && this.#isNumberReused(table.find((row) => row.pid === pid))) return [];
    const rows = table.filter(
      (row) => row.session === session && row.pid !== guard && row.state !== "zombie",
    );
    const members = this.hasOwnGroup ? rows : this.#family(rows);
    for (const member of members) this.#known.set(member.pid, member.start);
    return members;
  }

  /**
   * The members in a session that is shared with other programs: the program, members seen earlier,
   * processes with its mark, and the descendants of all of these.
   */
  #family(rows: readonly ProcessRow[]): ProcessRow[] {
    const { pid, start, mark } = this.identity;
    const isOurs = (row: ProcessRow) =>
      (row.pid === pid ? start : this.#known.get(row.pid)) === row.start ||
      hasInEnvironment(row.pid, mark);
    const family = new Set(rows.filter(isOurs).map((row) => row.pid));
    for (let size = -1; size !== family.size; ) {
      size = family.size;
      for (const row of rows) if (family.has(row.parent)) family.add(row.pid);
    }
    return rows.filter((row) => family.has(row.pid));
  }

  #isNumberReused(row: ProcessRow | undefined): boolean {
    return row !== undefined && row.start !== this.identity.start;
  }

  #isOwn(group: number): boolean {
    return this.hasOwnGroup && group === this.identity.pid;
  }
}

/**
 * `refused`: the process is there, but belongs to another user. `none`: there is no such process.
 */
type Sent = "sent" | "refused" | "none";

function send(pid: number, signal: NodeJS.Signals | 0): Sent {
  // For kill(2), 0 is our own group and -1 every process: never signal those.
  if (!(Math.abs(pid) > 1) || pid === process.pid) return "none";
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM" ? "refused" : "none";
  }
}
