import { UsageError } from "../errors.ts";
import { ChosenCodeError, LockExitCode } from "../exit-codes.ts";
import { Once, type OnceFound } from "../recipes/locks/once/once.ts";
import type { OnceTurn } from "../recipes/locks/once/once-turn.ts";
import { CALENDAR, type Per } from "../recipes/locks/once/period.ts";
import { readRuns } from "../recipes/locks/once/runs.ts";
import type { Result } from "../results/result.ts";
import { parseDuration } from "../text/duration.ts";
import { flag, option, programToRun, required, type ValueParser } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { count } from "./count.ts";
import type { Held, LockKind } from "./under-lock/lock-kind.ts";
import { exitCode, guardOptions, lockPath, waitOptions } from "./under-lock/options.ts";
import { underLock } from "./under-lock/under-lock.ts";

/** Shorter periods are over before a host has queued. */
const SHORTEST_MS = 1_000;

const per: ValueParser<Per> = (text) => {
  if (text === "hour" || text === "day" || text === "week") return CALENDAR[text];
  const lengthMs = parseDuration(text);
  if (lengthMs >= SHORTEST_MS) return { lengthMs };
  throw new UsageError(`bad period '${text}'`, {
    hint: "use hour, day, week, or a duration of at least 1s",
  });
};

const { conflictExitCode: _, reentrant: __, ...guarding } = guardOptions;

export const once = defineCommand({
  details:
    "All hosts run the same line, from cron for example: the first runs the command, the others " +
    "say who ran it and end with 0. Periods are in UTC, by ZooKeeper's clock. After a failed run, " +
    "or a crash of its host, the next host runs the command, --retries times; then all end with " +
    "its exit code.",
  examples: [
    "once /cron/backup --per day -- echo backed up",
    "once /cron/report --per 1h --retries 2 -- echo sent",
    "once --status /cron/backup",
  ],
  effect: "write",
  args: {
    key: required(lockPath, "the job; a missing path is created"),
    program: programToRun("the command and its arguments, run without a shell"),
  },
  options: {
    per: option("", "period", per, "hour, day, week, or a duration such as 15m"),
    retries: option("", "n", count, "repeat a failed run n times (default 0)"),
    status: flag("", "list the last runs"),
    doneExitCode: option("-E", "code", exitCode, "end with this code where it is done already"),
    ...waitOptions,
    ...guarding,
  },
  run(context, { key, program }, { per, retries = 0, status, doneExitCode = 0, ...values }) {
    if (status) {
      if (program.length > 0) throw new UsageError("--status cannot be combined with a command");
      return listRuns(context, key);
    }
    if (per === undefined)
      throw new UsageError("once needs --per", { hint: `once ${key} --per day -- COMMAND` });
    if (program.length === 0)
      throw new UsageError("no command given", { hint: `once ${key} --per day -- COMMAND` });
    const recipe: LockKind = {
      paths: [key],
      mode: "exclusive",
      layout: "queue",
      lock: (session, options) => ({
        acquire: async (limits) => {
          const claim = await new Once(session, key, { ...options, per, retries }).claim(limits);
          if (claim.kind !== "run") throw new NothingToRun(key, claim, doneExitCode);
          return heldFor(claim);
        },
      }),
    };
    const lockValues = { ...values, conflictExitCode: undefined, reentrant: false };
    return runOnce(underLock(context, recipe, lockValues, program));
  },
});

/** The job was run by another host, or has failed too often: no program is started. */
class NothingToRun extends ChosenCodeError {
  readonly found: OnceFound;

  constructor(path: string, found: OnceFound, doneExitCode: number) {
    const { kind, run } = found;
    const isDone = kind === "done";
    super(isDone ? "already-run" : "attempts-used-up", `nothing to run for ${path}`, {
      path,
      exitCode: isDone ? doneExitCode : run.code || LockExitCode.lost,
    });
    this.found = found;
  }
}

function heldFor(turn: OnceTurn): Held {
  const { beginMs } = turn.period;
  return {
    signal: turn.signal,
    locks: turn.locks,
    heldForMs: () => turn.heldForMs(),
    onRevoke: (listener) => turn.onRevoke(listener),
    recordsEnd: true,
    release: (ended) => turn.finish(ended?.exitCode),
    environment: {
      ZK_ONCE_PERIOD: new Date(beginMs).toISOString(),
      ZK_ONCE_ATTEMPT: String(turn.attempt),
    },
  };
}

async function* runOnce(results: AsyncGenerator<Result>): AsyncGenerator<Result> {
  try {
    yield* results;
  } catch (error) {
    if (!(error instanceof NothingToRun)) throw error;
    const { kind: what, ...found } = error.found;
    yield { kind: "once-found", path: error.path ?? "", what, ...found };
    yield { kind: "lock-ended", exitCode: error.exitCode };
  }
}

async function* listRuns({ shell, signal }: Context, key: string): AsyncGenerator<Result> {
  const runs = await readRuns(await shell.session(), key, { signal });
  yield { kind: "once-runs", path: key, runs: runs.reverse() };
}
