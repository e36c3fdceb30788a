import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../../src/session/zookeeper/lifetime/clock.ts";
import {
  Liveness,
  reportingDelayMs,
  safetyMarginMs,
} from "../../../../src/session/zookeeper/lifetime/liveness.ts";

/** Set by the test. */
class HandClock implements Clock {
  ms = 5_000;

  now(): number {
    return this.ms;
  }

  pass(ms: number): void {
    this.ms += ms;
  }
}

const TIMEOUT_MS = 10_000;
/** The timeout less its margin. */
const LIFE_MS = 9_500;
/** How long a follower may keep to itself that it has heard of us. */
const DELAY_MS = 2_500;
/** Sends closer together than this may be taken for one. */
const RESOLUTION_MS = TIMEOUT_MS / 64;

describe("safetyMarginMs", () => {
  test.each([
    { timeoutMs: 1_000, marginMs: 50 },
    { timeoutMs: 4_000, marginMs: 200 },
    { timeoutMs: 30_000, marginMs: 1_500 },
    { timeoutMs: 60_000, marginMs: 3_000 },
  ])("is $marginMs ms for a timeout of $timeoutMs ms", ({ timeoutMs, marginMs }) => {
    expect(safetyMarginMs(timeoutMs)).toBeCloseTo(marginMs, 6);
  });
});

describe("reportingDelayMs", () => {
  test.each([
    // Half a tick, of which the shortest timeout that a server grants has two.
    { timeoutMs: 4_000, delayMs: 1_000 },
    { timeoutMs: 30_000, delayMs: 7_500 },
  ])("is $delayMs ms for a timeout of $timeoutMs ms", ({ timeoutMs, delayMs }) => {
    expect(reportingDelayMs(timeoutMs)).toBe(delayMs);
  });
});

describe("Liveness", () => {
  let clock: HandClock;
  let liveness: Liveness;

  beforeEach(() => {
    clock = new HandClock();
    liveness = new Liveness(clock);
  });

  /** Sends a sync after `ms` that the leader answers at once. */
  function sendAfter(ms: number): number {
    clock.pass(ms);
    const at = clock.now();
    prove(at);
    return at;
  }

  /** The leader's answer to a sync comes. */
  function prove(sentAt: number): void {
    liveness.answered(sentAt, { byLeader: true, isCommitted: false });
  }

  /** The answer to a committed transaction comes. */
  function commit(sentAt: number): void {
    liveness.answered(sentAt, { byLeader: true, isCommitted: true });
  }

  /** Sends a committed transaction after `ms` that is answered at once. */
  function commitAfter(ms: number): number {
    clock.pass(ms);
    const at = clock.now();
    commit(at);
    return at;
  }

  /** Sends something after `ms` that a follower answers by itself. */
  function readAfter(ms: number): number {
    clock.pass(ms);
    const at = clock.now();
    liveness.answered(at, { byLeader: false, isCommitted: false });
    return at;
  }

  /**
   * What is left of the life of a session that the leader is known to have heard of at `heard`, and
   * no later.
   */
  function leftSince(heard: number): number {
    return heard + LIFE_MS - clock.ms;
  }

  test("is not alive before a server has accepted the session", () => {
    expect(liveness.isAlive()).toBe(false);
    expect(liveness.aliveForMs()).toBe(0);
  });

  test("lives for the timeout less the margin, and not a millisecond longer", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    expect(liveness.aliveForMs()).toBe(LIFE_MS);
    clock.pass(LIFE_MS - 1);
    expect(liveness.isAlive()).toBe(true);
    expect(liveness.aliveForMs()).toBe(1);
    clock.pass(1);
    expect(liveness.isAlive()).toBe(false);
    clock.pass(100_000);
    expect(liveness.aliveForMs()).toBe(0);
  });

  test("counts from when the handshake was sent, not from when its answer came", () => {
    const handshakeSentAt = clock.now();
    clock.pass(2_000);
    liveness.start(TIMEOUT_MS, handshakeSentAt);
    expect(liveness.aliveForMs()).toBe(LIFE_MS - 2_000);
  });

  test("is not prolonged by anything that a follower may have answered by itself", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    for (let sent = 0; sent < 8; sent++) readAfter(1_000);
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
  });

  test("counts from the latest send that is older than the proof by what a follower may keep to itself", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    sendAfter(1_000);
    const heard = sendAfter(1_000);
    const tooYoung = sendAfter(1_000);
    const proof = sendAfter(DELAY_MS - 1_000);
    expect(proof - tooYoung).toBeLessThan(DELAY_MS);
    // However late the answer is: what counts is when things were sent.
    clock.pass(3_000);
    prove(proof);
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
  });

  test("is proved by a request sent the whole delay later, and not by one sent a millisecond sooner", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    const first = sendAfter(1_000);
    const early = sendAfter(DELAY_MS - 1);
    prove(early);
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
    clock.pass(1);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(first));
  });

  test("learns nothing from requests that a stalled line delivers together, however far apart they were sent", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    clock.pass(1_000);
    const first = clock.now();
    clock.pass(DELAY_MS);
    const second = clock.now();
    clock.pass(1_000);
    // Both answers come now: the follower may have noted the first only a moment ago, and not told
    // the leader yet.
    prove(first);
    prove(second);
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(second));
  });

  test("learns nothing from a request that left right behind the handshake", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    const sync = sendAfter(DELAY_MS - 1);
    clock.pass(5_000);
    prove(sync);
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
  });

  test("is kept up by heartbeats of half the delay, of which every third proves the first", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    const beats: number[] = [];
    for (let beat = 0; beat < 100; beat++) {
      beats.push(sendAfter(DELAY_MS / 2));
      prove(clock.now());
      const first = beats.at(-3);
      if (first !== undefined) expect(liveness.aliveForMs()).toBe(leftSince(first));
    }
  });

  test("does not go back when an older request is proved after a newer one", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    sendAfter(500);
    const heard = sendAfter(1_000);
    const older = sendAfter(DELAY_MS - 1_000);
    const newer = sendAfter(1_000);
    prove(newer);
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
    prove(older);
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
  });

  test("takes sends close to each other for the earliest of them, never for a later one", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    const first = sendAfter(1_000);
    sendAfter(1);
    const last = sendAfter(RESOLUTION_MS - 2);
    expect(last - first).toBeLessThan(RESOLUTION_MS);
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(first));
  });

  test("loses no more than the resolution, however close together a long row of sends is", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    let last = clock.now();
    for (let sent = 0; sent < 3_000; sent++) last = sendAfter(1);
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBeLessThanOrEqual(leftSince(last));
    expect(liveness.aliveForMs()).toBeGreaterThan(leftSince(last) - RESOLUTION_MS - 1);
  });

  test("lets what was sent on an old connection prove nothing once that is gone", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    sendAfter(1_000);
    clock.pass(DELAY_MS);
    liveness.detach();
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
  });

  test("counts only what was sent on the new connection after a return", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.pass(1_000);
    const handshake = clock.now();
    // Sent on the old connection while the new one was already asking; its server may never have
    // reported it.
    sendAfter(1_000);
    liveness.detach();
    clock.pass(500);
    liveness.start(TIMEOUT_MS, handshake);
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
    const heard = sendAfter(0);
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
  });

  test("forgets what was sent on an old connection when a new one begins, also without a detach in between", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.pass(1_000);
    const handshake = clock.now();
    sendAfter(1_000);
    liveness.start(TIMEOUT_MS, handshake);
    clock.pass(DELAY_MS);
    prove(clock.now());
    expect(liveness.aliveForMs()).toBe(leftSince(handshake));
  });

  test("does not go back when a handshake is older than what is known already", () => {
    const handshake = clock.now();
    liveness.start(TIMEOUT_MS, handshake);
    const heard = sendAfter(1_000);
    clock.pass(DELAY_MS);
    prove(clock.now());
    liveness.start(TIMEOUT_MS, handshake);
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
  });

  test("keeps what is known already when the connection goes", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    const heard = sendAfter(1_000);
    clock.pass(DELAY_MS);
    prove(clock.now());
    liveness.detach();
    expect(liveness.aliveForMs()).toBe(leftSince(heard));
  });

  test("takes the timeout of the newest handshake", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.pass(100);
    liveness.start(4_000, clock.now());
    expect(liveness.aliveForMs()).toBe(3_800);
  });

  describe("a lease", () => {
    test("needs the answer to a committed transaction; other answers give none", () => {
      liveness.start(TIMEOUT_MS, clock.now());
      for (let sent = 0; sent < 5; sent++) sendAfter(1_000);
      expect(liveness.aliveForMs()).toBeGreaterThan(0);
      expect(liveness.leaseForMs()).toBe(0);
    });

    test("counts from the handshake when the first committed answer comes on its connection", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      commitAfter(100);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
    });

    test("is not renewed by syncs and handshakes, which a deposed leader answers too", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      commitAfter(100);
      for (let sent = 0; sent < 4; sent++) sendAfter(1_000);
      liveness.start(TIMEOUT_MS, clock.now());
      sendAfter(1_000);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
      expect(liveness.aliveForMs()).toBeGreaterThan(leftSince(handshake));
    });

    test("counts from a request that was answered a reporting delay before another one that was answered before the commit", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      const first = sendAfter(1_000);
      // Half a tick later the leader has pinged the server; the commit may still overtake the
      // report.
      const second = commitAfter(DELAY_MS);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
      expect(second).toBe(clock.now());
      commitAfter(1);
      expect(liveness.leaseForMs()).toBe(leftSince(first));
    });

    test("is not proved by a commit that was sent before the second answer came", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      sendAfter(1_000);
      clock.pass(DELAY_MS);
      const [second, third] = [clock.now(), clock.now()];
      clock.pass(10);
      prove(second);
      commit(third);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
    });

    test("is kept up by beats of a sync and a commit behind it, of which every third proves the first", () => {
      liveness.start(TIMEOUT_MS, clock.now());
      const beats: number[] = [];
      for (let beat = 0; beat < 50; beat++) {
        beats.push(sendAfter(DELAY_MS * 0.55 - 1));
        commitAfter(1);
        const first = beats.at(-3);
        if (first !== undefined) expect(liveness.leaseForMs()).toBe(leftSince(first));
      }
    });

    test("is not proved by an answer that comes so late that a paused leader may expire the session behind it", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      commitAfter(100);
      const noted = commitAfter(1_000);
      clock.pass(DELAY_MS);
      const late = clock.now();
      clock.ms = noted + TIMEOUT_MS * 0.54 + 1;
      commit(late);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
    });

    test("is not proved across a pause of our own: what was answered before it is too old", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      commitAfter(100);
      commitAfter(1_000);
      commitAfter(TIMEOUT_MS * 0.6);
      expect(liveness.leaseForMs()).toBe(leftSince(handshake));
    });

    test("is the session's life while locks rest on it", () => {
      const handshake = clock.now();
      liveness.start(TIMEOUT_MS, handshake);
      commitAfter(100);
      sendAfter(1_000);
      sendAfter(DELAY_MS);
      liveness.isLeased = true;
      expect(liveness.aliveForMs()).toBe(leftSince(handshake));
      liveness.isLeased = false;
      expect(liveness.aliveForMs()).toBeGreaterThan(leftSince(handshake));
    });

    test("ends with the shorter timeout of a server that grants less, counted from its handshake", () => {
      liveness.start(TIMEOUT_MS, clock.now());
      commitAfter(100);
      clock.pass(1_000);
      liveness.start(4_000, clock.now());
      expect(liveness.leaseForMs()).toBe(3_800);
      commitAfter(10);
      expect(liveness.leaseForMs()).toBe(3_790);
    });
  });
});
