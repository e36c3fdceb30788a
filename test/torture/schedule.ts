import { Random } from "../support/random.ts";

/** What can be done to the fleet, and how often compared with the rest. */
const WEIGHTS = {
  /** Nothing that a process sends or is sent arrives; its connections stay open. */
  blackhole: 3,
  /** The same on its way to one server only: it can go on with another. */
  "blackhole-one": 3,
  /** What was held back arrives late. */
  stall: 2,
  delay: 4,
  drop: 5,
  "kill-9": 2,
  /** zksh stands still, what runs under the lock does not. */
  "stop-zksh": 2,
  /** zksh and what runs under the lock stand still. */
  "stop-both": 2,
  /** zksh stands still from a moment within the first 30 ms after the lock was granted. */
  "stop-at-start": 2,
  /**
   * The watchdog of zksh is killed (-9); later zksh stands still, so that only a new watchdog can
   * act.
   */
  "kill-watchdog": 2,
  "restart-follower": 1,
  "kill-leader": 1,
  /** The followers lose the leader and elect another; the leader notices only after syncLimit. */
  "depose-leader": 2,
};

type Fault = keyof typeof WEIGHTS;

/** How long each lasts, in ms; those without a line are over at once. */
const LASTS: Partial<Record<Fault, readonly [least: number, most: number]>> = {
  blackhole: [200, 8_000],
  "blackhole-one": [200, 8_000],
  stall: [200, 6_000],
  delay: [500, 4_000],
  "stop-zksh": [1_000, 12_000],
  "stop-both": [1_000, 12_000],
  "stop-at-start": [1_000, 12_000],
  "kill-watchdog": [1_000, 12_000],
  "kill-leader": [0, 2_000],
};

export interface Step {
  /** Since the step before. */
  readonly afterMs: number;
  readonly fault: Fault;
  /** Whoever holds the lock at that moment; `victim` when nobody does. */
  readonly aimsAtHolder: boolean;
  /** The number of a process. */
  readonly victim: number;
  readonly lastsMs: number;
  /** The number of a server, modulo how many there are. */
  readonly server: number;
  readonly delayMs: number;
  /** After a grant, for stop-at-start. */
  readonly startMs: number;
}

/** What will be done, the same for the same seed. */
export function makeSchedule(seed: number, seconds: number, processes: number): Step[] {
  const random = new Random(seed);
  const steps: Step[] = [];
  for (let atMs = 0; ; ) {
    const afterMs = Math.round(random.between(300, 2_000));
    const fault = random.weighted(WEIGHTS);
    const [least, most] = LASTS[fault] ?? [0, 0];
    atMs += afterMs;
    if (atMs > seconds * 1000) return steps;
    steps.push({
      afterMs,
      fault,
      aimsAtHolder: random.chance(0.6),
      victim: random.index(processes),
      // More short ones than long ones: while somebody ahead is cut off, nobody is served. And none
      // long after the end.
      lastsMs: Math.min(
        Math.round(least + random.next() ** 2 * (most - least)),
        seconds * 1_000 - atMs + 2_000,
      ),
      server: random.index(3),
      delayMs: Math.round(random.between(30, 800)),
      startMs: Math.floor(random.next() ** 2 * 30),
    });
  }
}
