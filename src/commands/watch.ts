import { limitWait } from "../async/limit-wait.ts";
import { DeadlineError, OperationError } from "../errors.ts";
import { TreeFollower } from "../recipes/watching/follow-tree.ts";
import { ZnodeFollower } from "../recipes/watching/follow-znode.ts";
import { followForever } from "../recipes/watching/watched-changes.ts";
import type { Result } from "../results/result.ts";
import { formatDuration } from "../text/duration.ts";
import { duration, flag, option, programToRun, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { count } from "./count.ts";
import { nextSession } from "./next-session.ts";
import { isChange, type Outcome, runOnChange } from "./run-on-change.ts";
import { ViewEndedError } from "./view-ended-error.ts";

export const watch = defineCommand({
  details:
    "watch prints the current state, then each change with the new data, also after reconnects " +
    "and deletions. In a pipe, " +
    "each line ends with a tab and the time. The command runs for the current data and for each " +
    "change, one at a time, with " +
    "the data on stdin and ZKSH_WATCH_PATH, ZKSH_WATCH_EVENT and ZKSH_WATCH_VERSION set.",
  examples: [
    "watch /app/config",
    "watch -R /app",
    "watch /app/config --count 1 --within 30s",
    "watch /app/config -- tee app.json",
  ],
  effect: "read",
  args: {
    path: required(znodePath, "the znode; it need not exist"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: {
    recursive: flag("-R", "watch all znodes below it too (needs ZooKeeper 3.6)"),
    count: option("-n", "n", count, "end after this many changes, the current data not counted"),
    within: option("-t", "dur", duration, "end after this time, with exit code 7"),
    exitOnFailure: flag("", "end when the command fails"),
    all: flag("", "print long data in full (on a terminal)"),
  },
  async *run(
    context,
    { path, program },
    { recursive, count: limit = Infinity, within, exitOnFailure, all },
  ) {
    const limited = limitWait(context.signal, within, () => noChangeWithin(within ?? 0));
    const { signal } = limited;
    const session = nextSession(context);
    const follower = recursive ? new TreeFollower(path) : new ZnodeFollower(path);
    const changes = followForever(follower, { signal, session });
    const [file, ...rest] = program;
    const { processes } = context;
    const { run } = processes;
    const env = processes.childEnvironment(context.session());
    const outcomes =
      file === undefined
        ? changes
        : runOnChange(changes, { argv: [file, ...rest], env, signal, run });
    try {
      let seen = 0;
      for await (const outcome of outcomes) {
        yield toResult(outcome, all);
        if (outcome.event === "ran" && outcome.isFailure && exitOnFailure) throw failed(program);
        const change = outcome.event === "ran" ? outcome.change : outcome;
        if (isChange(change) && ++seen >= limit) return;
      }
    } catch (error) {
      if (context.signal.aborted) throw new ViewEndedError(context.signal.reason);
      // The pending wait throws its own abort error; the reason for the abort says more.
      throw signal.aborted ? signal.reason : error;
    } finally {
      limited.stop();
    }
  },
});

function toResult(outcome: Outcome, isWhole: boolean): Result {
  if (outcome.event !== "ran") return { kind: "watched", ...outcome, at: Date.now(), isWhole };
  return { kind: "ran", path: outcome.change.path, argv: outcome.argv, end: outcome.end };
}

function failed(program: readonly string[]): OperationError {
  return new OperationError("command-failed", `the command failed: ${program.join(" ")}`);
}

function noChangeWithin(ms: number): DeadlineError {
  return new DeadlineError(`no further change within ${formatDuration(ms)}`);
}
