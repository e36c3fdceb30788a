import { constants, readFileSync, readlinkSync } from "node:fs";

/**
 * Whether a shell started us with stdout closed (`zksh get /a >&-`). Node opens /dev/null in its
 * place before we run, for reading and writing; a shell's own `> /dev/null` is open for writing
 * only. Other programs that throw output away on purpose open it for both, too (Python's DEVNULL,
 * Node's "ignore"), so that this is asked only below a shell, and only where the shell has not got
 * such a stdout itself. Elsewhere, and without /proc, the answer is no.
 */
export function isStdoutClosed(): boolean {
  return isStandIn("self") && isShell(process.ppid) && !isStandIn(process.ppid);
}

function isStandIn(process: number | "self"): boolean {
  try {
    if (readlinkSync(`/proc/${process}/fd/1`) !== "/dev/null") return false;
    const [, flags = ""] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${process}/fdinfo/1`, "latin1")) ?? [];
    return (
      (Number.parseInt(flags, 8) & (constants.O_WRONLY | constants.O_RDWR)) === constants.O_RDWR
    );
  } catch {
    return false;
  }
}

const SHELLS: ReadonlySet<string> = new Set([
  "sh",
  "ash",
  "bash",
  "busybox",
  "dash",
  "fish",
  "ksh",
  "mksh",
  "zsh",
]);

function isShell(pid: number): boolean {
  try {
    return SHELLS.has(readFileSync(`/proc/${pid}/comm`, "utf8").trim());
  } catch {
    return false;
  }
}
