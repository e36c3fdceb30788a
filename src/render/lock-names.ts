/**
 * Short names of tickets and locks, for lines that must fit a terminal. Not escaped: the
 * whole line is.
 */
import type { LockMode } from "../recipes/locks/holder-record.ts";
import { baseName } from "../session/path.ts";

/** In front of a ticket's own name: the id by which its client finds it again. */
const CLIENT_ID = /^(?:_c_[0-9a-f-]{32,36}-|[0-9a-f]{32}(?=__))/;
const MAX_NAME = 24;

/**
 * `lock-0000000007`, without the client's id; of another long name the end, where the number is.
 */
export function ticketName(node: string): string {
  const name = baseName(node).replace(CLIENT_ID, "");
  return name.length <= MAX_NAME ? name : `…${name.slice(-(MAX_NAME - 1))}`;
}

/** As one would type it, with the client's id cut: `/deploy/_c_6b0e…-lock-0000000007`. */
export function ticketPath(node: string): string {
  return node
    .replace(/(_c_[0-9a-f]{4})[0-9a-f-]{28,32}(?=-)/, "$1…")
    .replace(/([0-9a-f]{4})[0-9a-f]{28}(?=__)/, "$1…");
}

/** `/deploy`, `to read /db`, `a permit of /backup`: what is acquired. */
export function lockName(path: string, mode: LockMode): string {
  if (mode === "read" || mode === "write") return `${path} to ${mode}`;
  return mode === "semaphore" ? `a permit of ${path}` : path;
}

/** `ann@web3, bob@web1 and 3 others`. */
export function listed(names: readonly string[], total = names.length): string {
  const rest = total - names.length;
  if (rest > 0) return [...names, `${rest} ${rest === 1 ? "other" : "others"}`].reduce(joined);
  return names.length === 0 ? "" : names.reduce(joined);

  function joined(before: string, name: string, index: number, all: readonly string[]): string {
    return `${before}${index === all.length - 1 ? " and " : ", "}${name}`;
  }
}
