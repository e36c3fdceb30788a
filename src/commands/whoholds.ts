import { NoNodeError, PartialError, UsageError } from "../errors.ts";
import { followForever } from "../recipes/changes.ts";
import { findDeadlocks } from "../recipes/locks/deadlocks.ts";
import { findLocks } from "../recipes/locks/find-locks.ts";
import { inspectLock, type LockReport } from "../recipes/locks/inspect.ts";
import { QueueFollower } from "../recipes/locks/inspect-watch.ts";
import type { Result } from "../result.ts";
import { flag, rest, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { nextSession } from "./next-session.ts";

const TICK_MS = 1_000;

export const whoholds = defineCommand({
  details:
    "Shows the queue of a lock, made by zksh, Curator, kazoo, go-zookeeper, ZooKeeper's WriteLock or by hand: who, since " +
    "when, with which fencing token. Exit code 0: at least one is held; 1: all are free, or there is no such znode. In a " +
    "pipe the columns are path, state, mode, who, pid, command, since, token, client, session, znode, with tabs between. " +
    "-R names deadlocks too; it cannot know plain ephemerals for locks.",
  examples: ["whoholds /deploy", "whoholds --watch /deploy", "whoholds -R /"],
  effect: "read",
  args: { paths: rest(znodePath, "the locks; with -R where to begin (the working znode)") },
  options: {
    watch: flag("-w", "show it again whenever it changes"),
    recursive: flag("-R", "find all locks below, and deadlocks between them"),
  },
  run(context, { paths }, { watch, recursive }) {
    if (watch && recursive) throw new UsageError("-w and -R exclude each other");
    if (recursive) return search(context, paths.length > 0 ? paths : [context.cwd]);
    if (paths.length === 0) throw new UsageError("no path given", { hint: "whoholds PATH..., or whoholds -R" });
    return watch ? follow(context, paths) : look(context, paths);
  },
});

async function look({ session, signal }: Context, paths: readonly string[]): Promise<Result> {
  // Where many wait, their tickets are read in multiReads; the answer comes while we see who is there.
  session()
    .knows("multiRead", { signal })
    .catch(() => {});
  const reports = await Promise.all(paths.map((path) => inspectLock(session(), path, { signal })));
  return { kind: "locks", reports, deadlocks: [] };
}

async function* search(context: Context, roots: readonly string[]): AsyncGenerator<Result> {
  const failures: Error[] = [];
  const onFailure = (_path: string, error: Error) => void failures.push(error);
  const reports: LockReport[] = [];
  for (const root of roots) {
    try {
      reports.push(...(await findLocks(context.session(), root, { signal: context.signal, onFailure })));
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
  }
  yield { kind: "locks", reports, root: roots.join(", "), deadlocks: findDeadlocks(reports) };
  const [cause] = failures;
  if (!cause) return;
  const message =
    failures.length === 1 ? "one znode could not be looked at" : `${failures.length} znodes could not be looked at`;
  throw new PartialError("partial", message, { hint: cause.message, cause });
}

async function* follow(context: Context, paths: readonly string[]): AsyncGenerator<Result> {
  const { signal } = context;
  const follower = new QueueFollower(paths, context.isForPeople ? TICK_MS : undefined);
  try {
    for await (const change of followForever(follower, { signal, session: nextSession(context) })) {
      if ("event" in change) yield { kind: "watched", ...change };
      else yield { kind: "locks-watched", ...change };
    }
  } catch (error) {
    // Whoever is waiting has words of its own for an abort.
    throw signal.aborted ? signal.reason : error;
  }
}
