import { findProcess, hasInEnvironment, type ProcessRow, processTable } from "./process-table.ts";

/** Which processes belong together: the program and what it has started, unless that has made a session of its own. */
export interface TreeIdentity {
  /** The program's process. */
  readonly pid: number;
  readonly start: string;
  /** The session that all of it is in; the program's own number when it leads one. */
  readonly session: number;
  /** Who has started it, and is no part of it. */
  readonly guard: number;
  /** `NAME=value` in the environment of all of it: finds those whose parents have ended. */
  readonly mark: string;
}

/** What is forked during one look is found in the next; one that does nothing but fork must not keep us for ever. */
const MAX_LOOKS = 20;

/** A program and the processes it has started. */
export class ProcessTree {
  readonly identity: TreeIdentity;
  /** Those seen earlier: number → start. */
  readonly #known = new Map<number, string>();
  #isGone = false;

  constructor(identity: TreeIdentity) {
    this.identity = identity;
  }

  get hasOwnGroup(): boolean {
    return this.identity.session === this.identity.pid;
  }

  /** True when the program has been stopped. */
  isStopped(): boolean {
    const program = this.#program();
    if (program?.state !== "blocked") return program?.state === "stopped";
    // One that is just starting another (vfork) waits for it, and so never stops when the other was stopped first.
    return processTable().some(({ parent, state }) => parent === program.pid && state === "stopped");
  }

  /** Sends the signal to all of it, also to what is being forked meanwhile. */
  signal(name: NodeJS.Signals): void {
    if (this.isGone()) return;
    this.signalGroup(name);
    const told = new Set([this.identity.pid]);
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const others = this.#members(processTable()).filter(({ pid, group }) => !told.has(pid) && !this.#isOwn(group));
      if (others.length === 0) return;
      for (const { pid } of others) {
        told.add(pid);
        kill(pid, name);
      }
    }
  }

  /** Sends the signal to its own group, or to the program alone where it shares ours. */
  signalGroup(name: NodeJS.Signals): void {
    // Never once nothing was left: its numbers may belong to others by then.
    if (this.#isGone) return;
    const { pid } = this.identity;
    if (this.hasOwnGroup) {
      if (!this.#isNumberReused(findProcess(pid))) kill(-pid, name);
    } else if (this.#program()) kill(pid, name);
  }

  /** The program itself, while it has not been waited for. */
  #program(): ProcessRow | undefined {
    const row = findProcess(this.identity.pid);
    return row?.start === this.identity.start ? row : undefined;
  }

  /** True when nothing of it runs any more; it then stays true. */
  isGone(): boolean {
    // Twice: what was forked by one that ended during the first look is found in the second.
    this.#isGone ||= !this.#isAnyKnownRunning() && this.#isEmpty() && this.#isEmpty();
    return this.#isGone;
  }

  /** Spares the whole table most of the time. */
  #isAnyKnownRunning(): boolean {
    for (const [pid, start] of this.#known) {
      const row = findProcess(pid);
      if (row?.start === start && row.state !== "zombie" && row.session === this.identity.session) return true;
      this.#known.delete(pid);
    }
    return false;
  }

  #isEmpty(): boolean {
    const table = processTable();
    if (table.length > 0) return this.#members(table).length === 0;
    // The table is not for us to read.
    return !kill(this.hasOwnGroup ? -this.identity.pid : this.identity.pid, 0);
  }

  #members(table: readonly ProcessRow[]): ProcessRow[] {
    const { pid, session, guard } = this.identity;
    if (this.hasOwnGroup && this.#isNumberReused(table.find((row) => row.pid === pid))) return [];
    const rows = table.filter((row) => row.session === session && row.pid !== guard && row.state !== "zombie");
    const members = this.hasOwnGroup ? rows : this.#family(rows);
    for (const member of members) this.#known.set(member.pid, member.start);
    return members;
  }

  /** In a session with others: the program, those seen with it, those that have its mark, and the children of them all. */
  #family(rows: readonly ProcessRow[]): ProcessRow[] {
    const { pid, start, mark } = this.identity;
    const isOurs = (row: ProcessRow) =>
      (row.pid === pid ? start : this.#known.get(row.pid)) === row.start || hasInEnvironment(row.pid, mark);
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

/** False when there is nobody who could get it. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  // To the system 0 is our own group and -1 is everybody: never, whatever went wrong before.
  if (!(Math.abs(pid) > 1) || pid === process.pid) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // One that belongs to somebody else is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
