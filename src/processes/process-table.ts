import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isShortage } from "./spare-descriptor.ts";

/** A process in the system's table. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The group where the system does not show sessions (ps). */
  readonly session: number;
  /** `blocked`: uninterruptible; it handles no signal now. */
  readonly state: "running" | "blocked" | "stopped" | "zombie";
  /** Its start time: the same pid with another start time is another process. */
  readonly start: string;
}

const STATES: Readonly<Record<string, ProcessRow["state"]>> = {
  T: "stopped",
  t: "stopped",
  D: "blocked",
  U: "blocked",
};

/**
 * True when the system's table shows the processes of our pid namespace. /proc may be missing, or
 * belong to another pid namespace (`unshare --pid` without `--mount-proc`), where the same pids are
 * other processes.
 */
export function isTableOurs(): boolean {
  if (process.platform !== "linux") return psTable().some(({ pid }) => pid === process.pid);
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}

/**
 * All processes; none where the table is not ours. This and the functions below throw when the
 * process has no descriptor left to read with: see SpareDescriptor.
 */
export function processTable(): ProcessRow[] {
  if (process.platform !== "linux") return psTable();
  if (!isTableOurs()) return [];
  return readdirSync("/proc").flatMap((name) =>
    /^\d/.test(name) ? (linuxProcess(Number(name)) ?? []) : [],
  );
}

/** One process; undefined when there is none with that pid, or the table is not ours. */
export function findProcess(pid: number): ProcessRow | undefined {
  if (process.platform !== "linux") return psTable().find((row) => row.pid === pid);
  return isTableOurs() ? linuxProcess(pid) : undefined;
}

/**
 * True when the process was started with `NAME=value` in its environment; false where that cannot
 * be told.
 */
export function hasInEnvironment(pid: number, mark: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    return Buffer.concat([Buffer.of(0), environment]).includes(Buffer.from(`\0${mark}\0`));
  } catch (error) {
    if (isShortage(error)) throw error;
    // It has ended, belongs to another user, or there is no such file on this system.
    return false;
  }
}

function linuxProcess(pid: number): ProcessRow | undefined {
  let text: string;
  try {
    // Node reads UTF-8 with the fewest system calls. Only the name can have other bytes.
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
  // The second field is the name, in brackets, and may contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ", 20);
  const [state = "", parent, group, session] = fields;
  // The state is that of the first thread; the process runs on while others do.
  const isZombie = /[ZX]/.test(state) && Number(fields[17]) <= 1;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    state: isZombie ? "zombie" : (STATES[state] ?? "running"),
    start: fields[19] ?? "",
  };
}

/** For systems without /proc. */
export function psTable(): ProcessRow[] {
  let text: string;
  try {
    text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return [];
  }
  return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(.*?)\s*$/gm)].map(
    ([, pid, parent, group, state = "", start = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      state: state === "Z" ? "zombie" : (STATES[state] ?? "running"),
      start,
    }),
  );
}
