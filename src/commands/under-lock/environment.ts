/** The environment variables of a program under a lock. */
import type { Environment } from "../../processes/child-requests.ts";
import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import type { LockMode } from "../../recipes/locks/holder-record.ts";
import { hexId } from "../../text/hex-id.ts";

const HELD = "ZK_LOCK_HELD";
const LOCK_MODES: readonly LockMode[] = ["exclusive", "read", "write", "semaphore", "leader"];

export interface EnvironmentOptions {
  readonly timeoutMs: number;
  /**
   * ZK_LOCK_HELD of the commands around this one: one line per lock, with tabs between path, token,
   * mode, znode and session.
   */
  readonly outer: string | undefined;
}

/**
 * Returns the variables. ZK_LOCK_HELD names all locks, the other variables only the first one.
 */
export function lockEnvironment(
  locks: readonly HeldLock[],
  { timeoutMs, outer }: EnvironmentOptions,
): Record<string, string> {
  const [first] = locks;
  if (!first) throw new Error("no lock is held");
  const session = hexId(first.sessionId);
  const held = locks.map(({ path, fencingToken, mode, nodePath }) =>
    [path, fencingToken, mode, nodePath, session].join("\t"),
  );
  return {
    ZK_LOCK_PATH: first.path,
    ZK_LOCK_NODE: first.nodePath,
    ZK_LOCK_TOKEN: String(first.fencingToken),
    ZK_LOCK_SEQUENCER: sequencer(first),
    ZK_LOCK_MODE: first.mode,
    ZK_LOCK_SESSION: session,
    ZK_LOCK_TIMEOUT_MS: String(timeoutMs),
    ZK_LOCK_WAITED_MS: String(Math.round(first.waitedMs)),
    [HELD]: [...(outer ? [outer] : []), ...held].join("\n"),
  };
}

/** The argument of `fence check`: one word that identifies this holder. */
function sequencer({ mode, fencingToken, nodePath }: HeldLock): string {
  return `${mode}:${hexId(fencingToken)}:${nodePath}`;
}

export interface OuterLock {
  readonly path: string;
  readonly token: string;
  readonly mode: LockMode;
  readonly node: string;
}

/** Returns the locks that the commands around this one hold, as ZK_LOCK_HELD lists them. */
export function outerLocks(env: Environment): OuterLock[] {
  const lines = (env[HELD] ?? "").split("\n").map((line) => line.split("\t"));
  return lines.flatMap(([path, token, mode, node]) =>
    path && token && node && isMode(mode) ? [{ path, token, mode, node }] : [],
  );
}

function isMode(text: string | undefined): text is LockMode {
  return LOCK_MODES.some((mode) => mode === text);
}
