/** What a program under a lock finds in its environment. */
import type { HeldLock } from "../../recipes/locks/held-lock.ts";

const HELD = "ZK_LOCK_HELD";

export interface EnvironmentOptions {
  readonly timeoutMs: number;
  /** What programs around this one hold: `path<TAB>token`, a line each. */
  readonly outer: string | undefined;
}

/** With several locks the plain variables are those of the first path; ZK_LOCK_HELD has them all. */
export function lockEnvironment(
  locks: readonly HeldLock[],
  { timeoutMs, outer }: EnvironmentOptions,
): Record<string, string> {
  const [first] = locks;
  if (!first) throw new Error("no lock is held");
  const held = locks.map(({ path, fencingToken }) => `${path}\t${fencingToken}`);
  return {
    ZK_LOCK_PATH: first.path,
    ZK_LOCK_NODE: first.nodePath,
    ZK_LOCK_TOKEN: String(first.fencingToken),
    ZK_LOCK_SEQUENCER: sequencer(first),
    ZK_LOCK_MODE: first.mode,
    ZK_LOCK_SESSION: `0x${first.sessionId.toString(16)}`,
    ZK_LOCK_TIMEOUT_MS: String(timeoutMs),
    ZK_LOCK_WAITED_MS: String(Math.round(first.waitedMs)),
    [HELD]: [...(outer ? [outer] : []), ...held].join("\n"),
  };
}

/** One word that names a hold, for `fence check`. */
function sequencer({ mode, fencingToken, nodePath }: HeldLock): string {
  return `${mode}:0x${fencingToken.toString(16)}:${nodePath}`;
}

/** The token under which a program around this one holds `path`; undefined when none does. */
export function heldOutside(env: (name: string) => string | undefined, path: string): string | undefined {
  return outerLocks(env).find((lock) => lock.path === path)?.token;
}

/** What the programs around this one hold. */
export function outerLocks(env: (name: string) => string | undefined): { path: string; token: string }[] {
  const lines = (env(HELD) ?? "").split("\n").map((line) => line.split("\t"));
  return lines.flatMap(([path, token]) => (path && token ? [{ path, token }] : []));
}
