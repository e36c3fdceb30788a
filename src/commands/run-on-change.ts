/** Runs a program on each change, one at a time. */

import { AutoResetEvent } from "../async/auto-reset-event.ts";
import type { ChildEnd, ChildRequest } from "../processes/child-requests.ts";
import type { Notice, WatchedChange } from "../recipes/watching/watched-changes.ts";

/** The program has been run for a change. */
interface Ran {
  readonly event: "ran";
  readonly change: WatchedChange;
  readonly argv: ChildRequest["argv"];
  readonly end: ChildEnd;
  readonly isFailure: boolean;
}

export type Outcome = WatchedChange | Notice | Ran;

export interface RunOptions {
  readonly argv: ChildRequest["argv"];
  /** Added to the variables that describe the change. */
  readonly env: ChildRequest["env"];
  readonly signal: AbortSignal;
  readonly run: (request: ChildRequest) => Promise<ChildEnd>;
}

/** True for a change; false for the state at the beginning and for notices. */
export function isChange({ event }: Outcome): boolean {
  return ["created", "changed", "deleted", "children"].includes(event);
}

/**
 * Changes that arrive while the program runs wait for its end; of one znode only the newest change
 * is kept. If the znode is absent at the beginning, the program first runs when it is created.
 */
export async function* runOnChange(
  changes: AsyncIterable<WatchedChange | Notice>,
  { argv, env, signal, run }: RunOptions,
): AsyncGenerator<Notice | Ran> {
  const waiting = new Map<string, WatchedChange | Notice>();
  const wakeUp = new AutoResetEvent();
  let failure: { readonly error: unknown } | undefined;
  const collect = async () => {
    for await (const change of changes) {
      // Deleted first, so that the newer change takes the last place in the map's order.
      waiting.delete(keyOf(change));
      waiting.set(keyOf(change), change);
      wakeUp.set();
    }
  };
  collect().catch((error: unknown) => {
    failure = { error };
    wakeUp.set();
  });
  for (;;) {
    for (const [key, change] of waiting) {
      waiting.delete(key);
      if (isNotice(change)) yield change;
      else if (change.event !== "absent") {
        const end = await run({
          argv,
          signal,
          env: { ...env, ...environment(change) },
          input: input(change),
        });
        yield { event: "ran", change, argv, end, isFailure: !("code" in end && end.code === 0) };
      }
    }
    if (failure) throw failure.error;
    if (waiting.size === 0) await wakeUp.wait(signal);
  }
}

function isNotice(change: WatchedChange | Notice): change is Notice {
  return (
    change.event === "session-lost" ||
    change.event === "session-replaced" ||
    change.event === "unreadable"
  );
}

/** A path contains no line end, so a key cannot be mistaken for another one. */
function keyOf(change: WatchedChange | Notice): string {
  const kind = isNotice(change) || change.event === "children" ? change.event : "data";
  return `${kind}\n${change.path}`;
}

function environment(change: WatchedChange): Record<string, string> {
  return {
    ZKSH_WATCH_PATH: change.path,
    ZKSH_WATCH_EVENT: change.event,
    ZKSH_WATCH_VERSION: "stat" in change ? String(change.stat.version) : "",
  };
}

function input(change: WatchedChange): Buffer {
  return ("data" in change ? change.data : null) ?? Buffer.alloc(0);
}
