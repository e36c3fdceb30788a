import type { Settings } from "../../config/settings.ts";
import { isReady } from "../execute.ts";
import type { Invocation } from "../parsing/parser.ts";
import type { ShellState } from "../shell-state.ts";
import type { ScriptLine } from "./script-line.ts";
import { setsWatch } from "./script-watches.ts";

/**
 * Servers hang up on longer requests, 1 MB as a rule, and others in the same flight are lost with
 * them.
 */
const LONG_LINE = 500_000;

/** Decides which lines of a script may leave before the lines in front of them are answered. */
export class SharingRule {
  readonly #state: ShellState;
  readonly #keepsGoing: boolean;
  #hasWatches = false;

  constructor(state: ShellState, { keepsGoing }: Pick<Settings, "keepsGoing">) {
    this.#state = state;
    this.#keepsGoing = keepsGoing;
  }

  /** A line is about to run. */
  note(invocation: Invocation): void {
    this.#hasWatches ||= setsWatch(invocation);
  }

  /**
   * The server answers a session's requests in order, so a read may be sent while earlier lines are
   * still unanswered. A write may not where an earlier failure or an event has to be told first,
   * nor behind a read without an answer: read again after a broken connection, it would see what
   * was written later. And nothing may while a lock can be lost.
   */
  allows({ source, frontEnd }: ScriptLine, invocation: Invocation, readsUnderWay: number): boolean {
    const { effect } = invocation.command;
    if (invocation.entry.needsNoShellSession || this.#state.heldLocks.size > 0) return false;
    if (!isReady(invocation) || source.length > LONG_LINE || frontEnd?.tracesLine) return false;
    if (effect === "read") return true;
    return effect === "write" && this.#keepsGoing && !this.#hasWatches && readsUnderWay === 0;
  }
}
