import { NoNodeError, PartialError, UsageError } from "../errors.ts";
import { findDeadlocks } from "../recipes/locks/inspect/deadlocks.ts";
import { findLocks } from "../recipes/locks/inspect/find-locks.ts";
import { QueueFollower } from "../recipes/locks/inspect/follow-queue.ts";
import { inspectLock, type LockReport } from "../recipes/locks/inspect/inspect-lock.ts";
import { BoardFollower } from "../recipes/locks/inspect/lock-board.ts";
import { QueueHistories } from "../recipes/locks/inspect/queue-history.ts";
import {
  type Follower,
  followForever,
  type LostSession,
} from "../recipes/watching/watched-changes.ts";
import type { Result } from "../results/result.ts";
import { flag, rest, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { nextSession } from "./next-session.ts";

const TICK_MS = 1_000;

export const whoholds = defineCommand({
  details:
    "whoholds knows the locks of zksh, Curator, kazoo, go-zookeeper and ZooKeeper's WriteLock. Exit code 0: at least one is " +
    "held; 1: all are free, or the znode does not exist. Tab-separated columns in a pipe: path, state, mode, who, pid, " +
    "command, since, token, client, session, znode, reason; with --explain also the rule and what to type. -R does " +
    "not find locks that are one plain znode (--recipe unique); with --watch it refreshes every two seconds or less often.",
  examples: [
    "whoholds /deploy",
    "whoholds --watch /deploy",
    "whoholds --explain /deploy",
    "whoholds -R /",
  ],
  effect: "read",
  args: {
    paths: rest(znodePath, "the locks; with -R the trees to search (default: the working znode)"),
  },
  options: {
    watch: flag("-w", "show each change; on a terminal also a timeline"),
    recursive: flag("-R", "find all locks below, and deadlocks between them"),
    explain: flag("", "explain why each contender holds or waits"),
  },
  run(context, { paths }, { watch, recursive, explain: isExplained }) {
    if (watch && isExplained) throw new UsageError("--explain cannot be combined with --watch");
    if (recursive) {
      const roots = paths.length > 0 ? paths : [context.shell.cwd];
      return watch ? followAll(context, roots) : search(context, roots, isExplained);
    }
    if (paths.length === 0)
      throw new UsageError("no path given", { hint: "use whoholds PATH... or whoholds -R" });
    return watch ? follow(context, paths) : look(context, paths, isExplained);
  },
});

async function look(
  { session, signal }: Context,
  paths: readonly string[],
  isExplained: boolean,
): Promise<Result> {
  // Where many wait, their tickets are read in multiReads; the answer comes while we see who is
  // there.
  session()
    .knows("multiRead", { signal })
    .catch(() => {});
  const reports = await Promise.all(paths.map((path) => inspectLock(session(), path, { signal })));
  return { kind: "locks", reports, deadlocks: [], isExplained };
}

async function* search(
  context: Context,
  roots: readonly string[],
  isExplained: boolean,
): AsyncGenerator<Result> {
  const failures: Error[] = [];
  const onFailure = (_path: string, error: Error) => void failures.push(error);
  let reports: LockReport[] = [];
  for (const root of roots) {
    try {
      reports = reports.concat(
        await findLocks(context.session(), root, { signal: context.signal, onFailure }),
      );
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
  }
  yield {
    kind: "locks",
    reports,
    root: roots.join(", "),
    deadlocks: findDeadlocks(reports),
    isExplained,
  };
  const [cause] = failures;
  if (!cause) return;
  const message =
    failures.length === 1
      ? "1 znode could not be read"
      : `${failures.length} znodes could not be read`;
  throw new PartialError("partial", message, { hint: cause.message, cause });
}

async function* follow(context: Context, paths: readonly string[]): AsyncGenerator<Result> {
  const follower = new QueueFollower(paths, context.output.isForPeople ? TICK_MS : undefined);
  const history = context.output.isForPeople ? new QueueHistories(Date.now()) : undefined;
  for await (const change of untilInterrupted(follower, context)) {
    if ("event" in change) yield { kind: "watched", at: Date.now(), ...change };
    else
      yield {
        kind: "locks-watched",
        ...change,
        ...(history && { timeline: history.update(change.changed, Date.now()) }),
      };
  }
}

async function* followAll(context: Context, roots: readonly string[]): AsyncGenerator<Result> {
  const follower = new BoardFollower(roots, context.output.isForPeople ? TICK_MS : undefined);
  for await (const change of untilInterrupted(follower, context)) {
    if ("event" in change) yield { kind: "watched", at: Date.now(), ...change };
    else yield { kind: "lock-board", root: roots.join(", "), ...change };
  }
}

async function* untilInterrupted<Told>(
  follower: Follower<Told>,
  context: Context,
): AsyncGenerator<Told | LostSession> {
  const { signal } = context;
  try {
    yield* followForever(follower, { signal, session: nextSession(context) });
  } catch (error) {
    // Ctrl-C is the usual end of a live view: it prints no error, but the exit code is 130.
    if (!signal.aborted) throw error;
  }
}
