import { monotonicMs } from "./monotonic-clock.ts";
import {
  findProcess,
  hasInEnvironment,
  isTableOurs,
  type ProcessRow,
  processTable,
} from "./process-table.ts";
import { isShortage, SpareDescriptor } from "./spare-descriptor.ts";

/**
 * Which processes belong together: the program and what it has started, unless that has made a
 * session of its own.
 */
export interface TreeIdentity {
  /** The program's process. */
  readonly pid: number;
  readonly start: string;
  /** The session that all of it is in; the program's own number when it leads one. */
  readonly session: number;
  /** The process that has started the program, and is no part of the tree. */
  readonly guard: number;
  /** `NAME=value` in the environment of all of it: finds those whose parents have ended. */
  readonly mark: string;
}

/**
 * What is forked during one look is found in the next; a program that does nothing but fork must
 * not keep us for ever.
 */
const MAX_LOOKS = 20;
/**
 * Without a table a zombie that is never waited for looks like a process: after SIGKILL, this is
 * what it gets to end.
 */
const KILLED_WITHIN_MS = 1_000;

/** A program and the processes it has started. */
export class ProcessTree {
  readonly identity: TreeIdentity;
  readonly #spare = new SpareDescriptor();
  /** Those seen earlier: number → start. */
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

  /** The program has been waited for: its number may belong to another process soon. */
  programEnded(): void {
    this.#hasProgramEnded = true;
  }

  /** True when the program has been stopped. */
  isStopped(): boolean {
    return this.#read(() => this.#isStopped(), false);
  }

  /**
   * Sends the signal to all of it, also to what is being forked meanwhile. Returns the processes
   * that could not be signalled because they belong to another user.
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

  /** True when nothing of it runs any more; it then stays true. */
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
    // Where nothing can be looked up: a group that was sent SIGSTOP stops.
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
    if (this.#isGoneNow()) return [];
    const isRefused = this.#signalGroup(name);
    // Of a group it is found out below who has refused it, where there is a table.
    const refused = new Set(this.hasOwnGroup && isTableOurs() ? [] : isRefused);
    const told = new Set([this.identity.pid]);
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const members = this.#members(processTable());
      // The system does not say which members of a group it has left out.
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
    // Never once nothing was left: its numbers may belong to others by then.
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
    // Twice: what was forked by one that ended during the first look is found in the second.
    this.#isGone ||= !this.#isAnyKnownRunning() && this.#isEmpty() && this.#isEmpty();
    return this.#isGone;
  }

  /** Spares the whole table most of the time. */
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
    // A /proc that hides the processes of other users (hidepid) still has them in the group.
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
   * In a session with others: the program, those seen with it, those that have its mark, and the
   * children of them all.
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
  // To the system 0 is our own group and -1 every process: never, whatever went wrong before.
  if (!(Math.abs(pid) > 1) || pid === process.pid) return "none";
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM" ? "refused" : "none";
  }
}
