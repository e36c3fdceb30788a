/** `lock PATH -- CMD` and its relatives, from the first word to the exit code. */
import { constants } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { ChildEnd, ChildRequest } from "../../child.ts";
import { ConnectionError, LockError, LockExitCode, lockExitCodeOf, UsageError } from "../../errors.ts";
import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import type { AcquireOptions, LockOptions } from "../../recipes/locks/queue-lock.ts";
import { nameParty } from "../../recipes/locks/queue-lock.ts";
import type { Result } from "../../result.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Session } from "../../session/session.ts";
import type { Context } from "../command.ts";
import { Channel } from "./channel.ts";
import { heldOutside, lockEnvironment } from "./environment.ts";
import { type GuardSettings, type Holding, runGuarded } from "./guard.ts";
import { acquireLimits, type LockValues, lockOptions } from "./options.ts";

/** How one of the recipes gets its lock, in a session of its own. */
export interface Recipe {
  readonly paths: readonly [string, ...string[]];
  acquire(session: Session, options: LockOptions, limits: AcquireOptions): Promise<Held>;
  /** Added to what every program under a lock finds in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The recipe of a single lock. */
export function oneLock(
  path: string,
  make: (session: Session, options: LockOptions) => { acquire(limits: AcquireOptions): Promise<HeldLock> },
): Recipe {
  return {
    paths: [path],
    async acquire(session, options, limits) {
      const lock = await make(session, options).acquire(limits);
      return {
        locks: [lock],
        signal: lock.signal,
        heldForMs: () => lock.heldForMs(),
        onRevoke: (listener) => lock.onRevoke(listener),
        release: () => lock.release(),
      };
    },
  };
}

/** One lock, or several that are held as one. */
export interface Held extends Holding {
  readonly locks: readonly HeldLock[];
  release(): Promise<"delete" | "expiry">;
}

/** A link that is down must not keep us: the session's end releases the lock too. */
const RELEASE_WITHIN_MS = 5_000;

/** Runs the program under the lock; without one, holds the lock until stdin ends. Ends with the exit code. */
export async function* underLock(
  context: Context,
  recipe: Recipe,
  values: LockValues,
  program: readonly string[],
): AsyncGenerator<Result> {
  const results = new Channel<Result>();
  const work = new UnderLock(context, recipe, values, program, (result) => results.push(result)).run();
  const close = () => results.close();
  work.then(close, close);
  try {
    yield* results;
  } finally {
    // Also where nobody listens any more: the program has to be seen to its end.
    await work.catch(() => {});
  }
  yield { kind: "lock-ended", exitCode: await work };
}

interface Ending {
  readonly outcome: "child" | "held" | "lost" | "revoked";
  readonly exitCode: number;
  readonly end?: ChildEnd;
}

class UnderLock {
  readonly #context: Context;
  readonly #recipe: Recipe;
  readonly #values: LockValues;
  readonly #argv: ChildRequest["argv"] | undefined;
  readonly #emit: (result: Result) => void;
  readonly #begun = performance.now();
  readonly #givesUpAt: number | undefined;
  #session: Session | undefined;
  #token: bigint | undefined;
  #lastHolder = "";

  constructor(
    context: Context,
    recipe: Recipe,
    values: LockValues,
    [file, ...rest]: readonly string[],
    emit: (result: Result) => void,
  ) {
    this.#context = context;
    this.#recipe = recipe;
    this.#values = values;
    this.#argv = file === undefined ? undefined : [file, ...rest];
    this.#emit = emit;
    this.#givesUpAt = values.wait === undefined ? undefined : Date.now() + values.wait;
  }

  async run(): Promise<number> {
    try {
      const ending = await this.#run();
      await this.#note({ outcome: ending.outcome, code: ending.exitCode, ...(ending.end ?? {}) });
      return ending.exitCode;
    } catch (error) {
      const final = this.#withOwnCode(error);
      await this.#note({ outcome: outcomeOf(final), code: lockExitCodeOf(final) });
      throw final;
    } finally {
      await this.#session?.close();
    }
  }

  async #run(): Promise<Ending> {
    const path = this.#recipe.paths[0];
    if (this.#argv) await this.#mustBeRunnable(this.#argv[0]);
    for (const one of this.#recipe.paths) {
      if (heldOutside(this.#context.env, one) === undefined) continue;
      if (this.#values.reentrant && this.#argv) return this.#runStraight(this.#argv);
      throw new LockError(
        "nested-lock",
        `${one} is held by a command around this one; waiting for it would never end`,
        {
          path: one,
          hint: "--reentrant runs the command at once, under the lock that is held",
        },
      );
    }
    const { held, session } = await this.#acquire();
    const acquiredAt = performance.now();
    this.#token = held.locks[0]?.fencingToken;
    try {
      const ending = this.#argv ? await this.#runChild(held, session, this.#argv) : await this.#hold(held, session);
      const restMs = (this.#values.minHold ?? 0) - (performance.now() - acquiredAt);
      if (restMs > 0 && ending.outcome !== "lost") await this.#holdOn(held, restMs);
      return ending;
    } finally {
      const how = await Promise.race([held.release(), pause(RELEASE_WITHIN_MS, "late" as const, { ref: false })]);
      if (how === "late") this.#tell({ event: "released", path, how: "expiry" });
    }
  }

  async #mustBeRunnable(name: string): Promise<void> {
    const search = await this.#context.findProgram(name);
    if (search.kind === "not-found") throw new LockError("command-not-found", `no such program: ${name}`);
    if (search.kind === "not-executable")
      throw new LockError("command-not-executable", `not executable: ${search.path}`);
  }

  /** Queues, over the end of sessions too: the place is then a new one, and said so. */
  async #acquire(): Promise<{ held: Held; session: Session }> {
    const { signal, isFollowed } = this.#context;
    const [path] = this.#recipe.paths;
    for (let isFirst = true; ; isFirst = false) {
      const session = await this.#connect(isFirst);
      const options = { ...lockOptions(this.#context, this.#values, this.#commandName()), onEvent: this.#tell };
      const limits = acquireLimits(this.#values, { begun: this.#begun, isWatched: isFollowed, signal });
      try {
        return { session, held: await this.#recipe.acquire(session, options, limits) };
      } catch (error) {
        if (!(error instanceof ConnectionError) || session.state !== "lost" || signal.aborted) throw error;
        this.#tell({ event: "requeued", path });
        await session.close();
      }
    }
  }

  async #connect(isFirst: boolean): Promise<Session> {
    const { shell, signal } = this.#context;
    const { sessionTimeout, wait, grace } = this.#values;
    const session = await shell.openSession({ timeoutMs: sessionTimeout });
    this.#session = session;
    const leftMs = wait === undefined ? undefined : Math.max(1, wait - (performance.now() - this.#begun));
    await session.connected({ signal, ...(leftMs !== undefined && { timeoutMs: leftMs }) });
    const { timeoutMs, isReadOnly } = session;
    if (isReadOnly) throw new ConnectionError("read-only", "the server is read-only: no lock can be had there");
    if (grace !== undefined && grace >= timeoutMs / 2) {
      throw new UsageError(`a grace of ${grace} ms is too long for a session timeout of ${timeoutMs} ms`, {
        hint: "it has to be less than half of it; --session-timeout asks for a longer one",
      });
    }
    if (isFirst && sessionTimeout !== undefined && sessionTimeout !== timeoutMs) {
      const [path] = this.#recipe.paths;
      this.#tell({ event: "negotiated", path, wantedMs: sessionTimeout, grantedMs: timeoutMs });
    }
    return session;
  }

  async #runChild(held: Held, session: Session, argv: ChildRequest["argv"]): Promise<Ending> {
    const { signal } = this.#context;
    const env = this.#environment(held, session);
    const group = this.#values.group ?? "auto";
    const { end, stopped } = await runGuarded({
      session,
      holding: held,
      settings: this.#guardSettings(session.timeoutMs),
      start: (onSignal) => {
        // Whoever asked for an end before there was a program does not want one any more.
        signal.throwIfAborted();
        return this.#context.startGuarded({ argv, env, group, onSignal, signal });
      },
      tell: this.#tell,
    });
    if (stopped === "revoked") return { outcome: "revoked", exitCode: LockExitCode.revoked, end };
    if (stopped !== undefined && stopped !== "impatient") return { outcome: "lost", exitCode: LockExitCode.lost, end };
    return { outcome: "child", exitCode: exitCodeOfChild(end), end };
  }

  /** The lock is held around us: nothing to take, and nothing to watch over that is not watched already. */
  async #runStraight(argv: ChildRequest["argv"]): Promise<Ending> {
    const group = this.#values.group ?? "auto";
    const { signal } = this.#context;
    const child = await this.#context.startGuarded({ argv, env: {}, group, onSignal: () => {}, signal });
    try {
      const end = await child.ended;
      await child.gone();
      return { outcome: "child", exitCode: exitCodeOfChild(end), end };
    } finally {
      await child.dispose();
    }
  }

  /** Until stdin ends, somebody asks for the lock, or it is lost. A signal ends it too, by the context's own. */
  async #hold(held: Held, session: Session): Promise<Ending> {
    const { signal } = this.#context;
    this.#emit({ kind: "lock-held", paths: this.#recipe.paths, environment: this.#environment(held, session) });
    const [path] = this.#recipe.paths;
    const stop = new AbortController();
    const onState = session.onState(({ state }) => {
      if (state === "suspended") this.#tell({ event: "suspended", path, leftMs: held.heldForMs() });
      else if (state === "connected") this.#tell({ event: "resumed", path });
    });
    const ends: Promise<Ending>[] = [
      this.#context.stdinEnd(stop.signal).then(() => ({ outcome: "held", exitCode: 0 })),
      aborted(held.signal, stop.signal).then(() => ({ outcome: "lost", exitCode: LockExitCode.lost })),
      aborted(signal, stop.signal).then(() => {
        throw signal.reason;
      }),
      new Promise<Ending>((resolve) => {
        const onRevoke = held.onRevoke((request) => {
          this.#tell({ event: "revoked", path, request });
          if (this.#values.onRevoke !== "ignore") resolve({ outcome: "revoked", exitCode: LockExitCode.revoked });
        });
        stop.signal.addEventListener("abort", onRevoke, { once: true });
      }),
    ];
    for (const end of ends) end.catch(() => {});
    try {
      return await Promise.race(ends);
    } finally {
      onState();
      stop.abort();
    }
  }

  /** Cut short by loss and by signals. */
  async #holdOn(held: Held, ms: number): Promise<void> {
    const both = AbortSignal.any([held.signal, this.#context.signal]);
    await pause(ms, undefined, { signal: both }).catch(() => {});
  }

  #environment(held: Held, { timeoutMs }: Session): Record<string, string> {
    const outer = this.#context.env("ZK_LOCK_HELD");
    return { ...lockEnvironment(held.locks, { timeoutMs, outer }), ...this.#recipe.environment };
  }

  #guardSettings(timeoutMs: number): GuardSettings {
    const { grace, stopSignal = "SIGTERM", onSuspend = "ignore", onLost = "term", onRevoke = "term" } = this.#values;
    const graceMs = grace ?? Math.min(5_000, timeoutMs / 4);
    return { path: this.#recipe.paths[0], graceMs, stopSignal, onSuspend, onLost, onRevoke };
  }

  /** Without its arguments: they may hold secrets, and tickets can be read by everybody. */
  #commandName(): string | undefined {
    return this.#argv?.[0].replace(/^.*\//s, "");
  }

  readonly #tell = (progress: LockProgress) => {
    if (progress.event === "waiting" && progress.holder) this.#lastHolder = nameParty(progress.holder);
    const givesUpAt = this.#givesUpAt;
    this.#emit({ kind: "lock-progress", progress, at: Date.now(), ...(givesUpAt !== undefined && { givesUpAt }) });
  };

  /** -E, and a word on who has what we waited for. */
  #withOwnCode(error: unknown): unknown {
    if (!(error instanceof LockError) || (error.reason !== "busy" && error.reason !== "lock-timeout")) return error;
    const { conflictExitCode: exitCode } = this.#values;
    const by = error.reason === "lock-timeout" && this.#lastHolder !== "" ? `, held by ${this.#lastHolder}` : "";
    return new LockError(error.reason, `${error.message}${by}`, {
      ...(error.path !== undefined && { path: error.path }),
      ...(exitCode !== undefined && { exitCode }),
    });
  }

  async #note(ending: Readonly<Record<string, unknown>>): Promise<void> {
    const { statusFile } = this.#values;
    if (statusFile === undefined) return;
    const { paths } = this.#recipe;
    const token = this.#token === undefined ? {} : { token: String(this.#token) };
    await this.#context.writeFile(statusFile, `${JSON.stringify({ ...ending, path: paths[0], ...token })}\n`);
  }
}

function exitCodeOfChild(end: ChildEnd): number {
  if ("code" in end) return end.code;
  const signals: Readonly<Record<string, number>> = constants.signals;
  return 128 + (signals[end.killedBy] ?? 0);
}

function outcomeOf(error: unknown): string {
  if (!(error instanceof LockError)) {
    const code = lockExitCodeOf(error);
    if (code === LockExitCode.unavailable) return "unavailable";
    return code === LockExitCode.usage ? "usage" : "interrupted";
  }
  const known: Readonly<Record<string, string>> = {
    busy: "busy",
    "lock-timeout": "timeout",
    "lock-lost": "lost",
    revoked: "revoked",
    "command-not-found": "exec",
    "command-not-executable": "exec",
  };
  return known[error.reason] ?? "usage";
}

/** Resolves when `signal` is aborted; forgotten when `stop` is. */
function aborted(signal: AbortSignal, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: stop });
  });
}
