import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Heartbeat } from "../../src/session/zookeeper/heartbeat.ts";
import { type Instant, Liveness } from "../../src/session/zookeeper/liveness.ts";

const TIMEOUT_MS = 6_000;
const PING_MS = 2_000;
const SILENCE_MS = 3_900;
/** The timeout less its margin. */
const LIFE_MS = 5_000;

let wallJumpMs: number;
/** What the clocks have run on while the process, and its timers with it, stood still. */
let pausedMs: number;
let oldestSentAt: Instant | undefined;
let events: string[];
let liveness: Liveness;
let heartbeat: Heartbeat;
let startedAt: number;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance", "Date"],
  });
  wallJumpMs = 0;
  pausedMs = 0;
  oldestSentAt = undefined;
  events = [];
  startedAt = performance.now();
  liveness = new Liveness({
    now: () => ({ mono: performance.now() + pausedMs, wall: Date.now() + pausedMs + wallJumpMs }),
  });
  heartbeat = new Heartbeat(liveness, () => oldestSentAt, {
    ping: () => {
      note("ping");
      heartbeat.sent(performance.now());
    },
    silent: (why) => {
      note(`silent: ${why}`);
      heartbeat.detach();
    },
    expired: () => {
      note("expired");
      heartbeat.stop();
    },
  });
});

afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

function note(what: string): void {
  events.push(`${performance.now() - startedAt} ${what}`);
}

function attach(timeoutMs = TIMEOUT_MS): void {
  liveness.start(timeoutMs, liveness.now());
  heartbeat.attach(timeoutMs);
}

/** When silence was reported. Node's immediates take no time; the fake ones take a millisecond. */
function silentAt(): number[] {
  const silent = events.filter((event) => event.includes("silent: nothing heard for"));
  return silent.map((event) => Number.parseFloat(event) - 1);
}

/** When the end was declared, on the same terms. */
function expiredAt(): number[] {
  return events.filter((event) => event.includes("expired")).map((event) => Number.parseFloat(event) - 1);
}

/** Lets time pass with a server that sends something every 100 ms, which proves nothing to it about us. */
function passWithServerTalking(ms: number, each: () => void = () => {}): void {
  for (let passed = 0; passed < ms; passed += 100) {
    vi.advanceTimersByTime(100);
    heartbeat.heard(performance.now());
    each();
  }
}

describe("pings", () => {
  test("leave a third of the timeout after the last send, however busy the inbound side is", () => {
    attach();
    passWithServerTalking(4_100, () => liveness.acknowledged(liveness.now()));
    expect(events).toEqual([`${PING_MS} ping`, `${2 * PING_MS} ping`]);
  });

  test("are put off by every send", () => {
    attach();
    vi.advanceTimersByTime(1_500);
    heartbeat.sent(performance.now());
    heartbeat.heard(performance.now());
    vi.advanceTimersByTime(1_999);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(events).toEqual(["3500 ping"]);
  });

  test("leave every ten seconds at least, however long the timeout", () => {
    attach(60_000);
    passWithServerTalking(20_100);
    expect(events).toEqual(["10000 ping", "20000 ping"]);
  });

  test("stop while there is no connection", () => {
    attach();
    heartbeat.detach();
    vi.advanceTimersByTime(LIFE_MS - 1);
    expect(events).toEqual([]);
  });
});

describe("silence", () => {
  test("is noticed before two thirds of the timeout have passed", () => {
    attach();
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([SILENCE_MS]);
    expect(SILENCE_MS).toBeLessThan((TIMEOUT_MS * 2) / 3);
    expect(events).toContain(`${SILENCE_MS + 1} silent: nothing heard for ${SILENCE_MS + 1} ms`);
  });

  test("is counted from the last byte heard", () => {
    attach();
    vi.advanceTimersByTime(1_000);
    heartbeat.heard(performance.now());
    liveness.acknowledged(liveness.now());
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([1_000 + SILENCE_MS]);
  });

  test("is not believed when bytes were waiting in the socket at the second look", () => {
    attach();
    vi.advanceTimersToNextTimer(); // the ping
    vi.advanceTimersToNextTimer(); // the limit on silence
    expect(performance.now() - startedAt).toBe(SILENCE_MS);
    expect(events).toEqual([`${PING_MS} ping`]);
    // What setImmediate is for: the sockets are read between a timer and an immediate.
    liveness.acknowledged(liveness.now());
    heartbeat.heard(performance.now());
    vi.advanceTimersToNextTimer();
    expect(silentAt()).toEqual([]);
    // And the next silence is noticed like the first.
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([2 * SILENCE_MS]);
  });

  test("is not reported when the connection went between the two looks", () => {
    attach();
    vi.advanceTimersToNextTimer();
    vi.advanceTimersToNextTimer();
    heartbeat.detach();
    vi.advanceTimersByTime(LIFE_MS - SILENCE_MS + 1);
    expect(events).toEqual([`${PING_MS} ping`, `${LIFE_MS + 1} expired`]);
  });
});

describe("requests", () => {
  test("that stay unanswered for a whole timeout end the connection, though pings are answered", () => {
    attach();
    vi.advanceTimersByTime(500);
    oldestSentAt = liveness.now();
    heartbeat.sent(performance.now());
    passWithServerTalking(2 * TIMEOUT_MS, () => liveness.acknowledged(liveness.now()));
    const [silent, ...more] = events.filter((event) => event.includes("silent"));
    expect(more).toEqual([]);
    expect(silent).toMatch(/ silent: pings are answered, requests are not$/);
    const after = Number.parseFloat(silent ?? "") - 500;
    expect(after).toBeGreaterThanOrEqual(TIMEOUT_MS);
    expect(after).toBeLessThanOrEqual(TIMEOUT_MS + PING_MS);
  });

  test("that wait long behind others do no harm while answers come", () => {
    attach();
    oldestSentAt = liveness.now();
    passWithServerTalking(3 * TIMEOUT_MS, () => {
      liveness.acknowledged(liveness.now());
      heartbeat.progressed(performance.now());
    });
    expect(events.filter((event) => event.includes("silent"))).toEqual([]);
  });
});

describe("the end by our own clock", () => {
  test("comes when the last answered request is a timeout less the margin old, with a connection or without", () => {
    attach();
    passWithServerTalking(LIFE_MS + 100);
    expect(expiredAt()).toEqual([LIFE_MS]);
  });

  test("comes though the connection has gone before", () => {
    attach();
    vi.advanceTimersByTime(1_000);
    liveness.acknowledged(liveness.now());
    heartbeat.detach();
    vi.advanceTimersByTime(LIFE_MS - 1);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(expiredAt()).toEqual([1_000 + LIFE_MS]);
  });

  test("comes before any other judgement after a pause of the whole process", () => {
    attach();
    pausedMs = LIFE_MS;
    vi.advanceTimersToNextTimer();
    vi.advanceTimersToNextTimer();
    expect(events).toHaveLength(1);
    expect(expiredAt()).toEqual([PING_MS]);
  });

  test("does not come when an answer that waited in the socket proves the session alive", () => {
    attach();
    const sentAt = { mono: performance.now() + 1_000, wall: Date.now() + 1_000 };
    pausedMs = LIFE_MS - PING_MS;
    vi.advanceTimersToNextTimer();
    // The timer came first and saw a session that is over; the socket is read before the second look.
    expect(liveness.isAlive()).toBe(false);
    liveness.acknowledged(sentAt);
    vi.advanceTimersToNextTimer();
    expect(events).toEqual([]);
    expect(liveness.isAlive()).toBe(true);
  });

  test("does not come when only the wall clock has jumped: a ping asks the server instead", () => {
    attach();
    vi.advanceTimersByTime(1_900);
    heartbeat.sent(performance.now());
    heartbeat.heard(performance.now());
    wallJumpMs = 3_600_000;
    expect(liveness.isAlive()).toBe(false);
    // The timer was set for a ping that is no longer due; the look at the clock makes one all the same.
    vi.advanceTimersByTime(100);
    expect(events).toEqual(["2000 ping"]);
    liveness.acknowledged(liveness.now());
    heartbeat.heard(performance.now());
    expect(liveness.isAlive()).toBe(true);
    vi.advanceTimersByTime(PING_MS);
    expect(events).toEqual(["2000 ping", "4000 ping"]);
  });

  test("leaves no timer behind once the heartbeat is stopped", () => {
    attach();
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
    heartbeat.detach();
    expect(vi.getTimerCount()).toBe(0);
  });
});
