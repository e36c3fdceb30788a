/**
 * zksh is killed or frozen at a random moment between getting the lock and the command's first
 * steps: the command never runs while anybody else holds the lock. All clocks here are the
 * machine's monotonic one.
 *
 * ZKSH_START_ROUNDS=200 ZKSH_START_SEED=N npx vitest run test/e2e/lock-start.integration.test.ts
 * also makes the rounds on cores that are kept busy.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { Random } from "../support/random.ts";
import { spawnTracked } from "../support/tracked-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { type Beat, kill, Scene } from "./lock-scene.ts";

const isLong = process.env.ZKSH_START_ROUNDS !== undefined;
const ROUNDS = Number(process.env.ZKSH_START_ROUNDS ?? 4);
const SEED = Number(process.env.ZKSH_START_SEED ?? 1);
/** So many at a time: most of a round is waiting for the session's end. */
const AT_ONCE = 4;
const TIMEOUT_MS = 2_000;
/** A command that has not ended writes a line every 10 ms. */
const LOOK_ON_MS = 300;

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await startServer({ tickTime: 200 });
});

afterAll(() => server.stop());

interface Round {
  /** The command had begun when zksh was hit. */
  readonly hasBegun: boolean;
  /**
   * From the command's last sign of life to the next holder; Infinity when it never began. Negative
   * when it showed one while the next holder had the lock, or later without a lock of its own.
   */
  readonly marginMs: number;
  /** What was seen, for a failure. */
  readonly story: string;
}

/** Two for each core. */
function keepBusy(): () => void {
  const burners = Array.from({ length: 4 }, () =>
    spawnTracked(process.execPath, ["-e", "for(;;){}"]),
  );
  return () => {
    for (const burner of burners) burner.kill("SIGKILL");
  };
}

class Starts {
  readonly #scene: Scene;
  readonly #signal: NodeJS.Signals;
  readonly #random: Random;
  /** How long it takes from the lock to the command's first line, on this machine, now. */
  #usualMs = 50;
  #count = 0;

  constructor(scene: Scene, signal: NodeJS.Signals, seed: number) {
    this.#scene = scene;
    this.#signal = signal;
    this.#random = new Random(seed);
  }

  async run(rounds: number): Promise<Round[]> {
    await this.#measure();
    const done: Round[] = [];
    let left = rounds;
    const workers = Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) done.push(await this.#round());
    });
    await Promise.all(workers);
    return done;
  }

  #start(path: string, beat: Beat) {
    const options = ["--json", "lock", "--session-timeout", `${TIMEOUT_MS}ms`, path, "--"];
    return this.#scene.start([...options, ...beat.command("stubborn")], { timeoutMs: 60_000 });
  }

  async #measure(): Promise<void> {
    const took: number[] = [];
    for (let times = 0; times < 3; times++) {
      const beat = this.#scene.beat();
      const zksh = this.#start(this.#path(), beat);
      await eventually(() => zksh.stderr.includes('"acquired"'), { intervalMs: 1 });
      const acquiredAt = monotonicMs();
      await beat.started(zksh);
      took.push((beat.lines[0]?.at ?? 0) - acquiredAt);
      beat.end();
      await zksh.result;
    }
    this.#usualMs = Math.max(5, ...took);
  }

  #path(): string {
    return `/start-${++this.#count}`;
  }

  async #round(): Promise<Round> {
    const [beat, path] = [this.#scene.beat(), this.#path()];
    // Beyond the usual, so that some are hit just after the command's first steps.
    const delayMs = this.#random.between(0, this.#usualMs * 1.5);
    const zksh = this.#start(path, beat);
    await eventually(() => zksh.stderr.includes('"acquired"'), {
      timeoutMs: 30_000,
      intervalMs: 1,
    });
    const acquiredAt = monotonicMs();
    await sleep(delayMs);
    zksh.kill(this.#signal);
    const hitAt = monotonicMs();
    const hasBegun = beat.hasRun;
    const next = await new Mutex(this.#scene.session, path, {}).acquire();
    const gotAt = monotonicMs();
    await sleep(LOOK_ON_MS);
    const seen = beat.lines;
    await next.release();
    beat.end();
    if (this.#signal === "SIGSTOP") kill(zksh.pid, "SIGCONT");
    const { stderr } = await zksh.result;
    // A zksh that was hit before the start queues again, and runs the command under another lock.
    const lines = stderr.includes('"requeued"') ? seen : beat.lines;
    const [firstAt, lastAt = Number.NEGATIVE_INFINITY] = [lines[0]?.at, lines.at(-1)?.at];
    const times = { acquiredAt, hitAt, gotAt, firstAt, lastAt };
    return { hasBegun, marginMs: gotAt - lastAt, story: `${JSON.stringify(times)} ${stderr}` };
  }
}

const cases = [
  { signal: "SIGSTOP", how: "quiet" },
  { signal: "SIGKILL", how: "quiet" },
  { signal: "SIGSTOP", how: "busy" },
  { signal: "SIGKILL", how: "busy" },
] as const;

test.for(cases.filter(({ how }) => isLong || how === "quiet"))(
  "$signal at a random moment of the start ($how): no command outlives its lock",
  { timeout: 60_000 + ROUNDS * 4_000 },
  async ({ signal, how }, context) => {
    const scene = await Scene.at(context, server.address);
    if (how === "busy") context.onTestFinished(keepBusy());
    const rounds = await new Starts(scene, signal, SEED).run(ROUNDS);
    const begun = rounds.filter(({ hasBegun }) => hasBegun).length;
    const never = rounds.filter(({ marginMs }) => marginMs === Number.POSITIVE_INFINITY).length;
    const margin = Math.round(Math.min(...rounds.map(({ marginMs }) => marginMs)));
    // biome-ignore lint/suspicious/noConsole: the figures are what the longer runs are made for.
    console.log(
      `${signal}, ${how}, seed ${SEED}: ${rounds.length} starts; ${begun} commands had begun when zksh was hit, ` +
        `${never} never began; smallest margin ${margin} ms`,
    );
    expect(rounds).toHaveLength(ROUNDS);
    expect(rounds.filter(({ marginMs }) => !(marginMs > 0))).toEqual([]);
  },
);
