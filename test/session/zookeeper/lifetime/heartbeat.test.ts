import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Heartbeat } from "../../../../src/session/zookeeper/lifetime/heartbeat.ts";
import { Liveness } from "../../../../src/session/zookeeper/lifetime/liveness.ts";

const TIMEOUT_MS = 8_000;
const BEAT_MS = 1_100;
const SILENCE_MS = 3_200;
/** The timeout less its margin. */
const LIFE_MS = 7_600;

/** What the clocks have run on while the process, and its timers with it, stood still. */
let pausedMs: number;
let oldestSentAt: number | undefined;
/** Whether beats are answered, at once and by the leader. */
let isAnswering: boolean;
let lastBeat: number | undefined;
let events: string[];
let liveness: Liveness;
let heartbeat: Heartbeat;
let startedAt: number;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance", "Date"],
  });
  pausedMs = 0;
  oldestSentAt = undefined;
  isAnswering = false;
  lastBeat = undefined;
  events = [];
  startedAt = performance.now();
  liveness = new Liveness({ now: () => performance.now() + pausedMs });
  heartbeat = new Heartbeat(liveness, {
    get oldestSentAt() {
      return oldestSentAt;
    },
    beat: () => {
      note("beat");
      lastBeat = liveness.now();
      if (isAnswering) answerBeat();
    },
    silent: (why) => {
      note(`silent: ${why}`);
      heartbeat.detach();
    },
    expiredByClock: () => {
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

/** The leader's answer to the last beat comes. */
function answerBeat(): void {
  if (lastBeat !== undefined) liveness.answered(lastBeat, { byLeader: true, isCommitted: true });
  heartbeat.heard(liveness.now());
}

function attach(timeoutMs = TIMEOUT_MS): void {
  liveness.start(timeoutMs, liveness.now());
  heartbeat.attach(timeoutMs);
}

function beatsAt(): number[] {
  return events.filter((event) => event.endsWith(" beat")).map((event) => Number.parseFloat(event));
}

/** What was said beside the beats. */
function judgements(): string[] {
  return events.filter((event) => !event.endsWith(" beat"));
}

/** When silence was reported. Node's immediates take no time; the fake ones take a millisecond. */
function silentAt(): number[] {
  const silent = events.filter((event) => event.includes("silent: nothing heard for"));
  return silent.map((event) => Number.parseFloat(event) - 1);
}

/** When the end was declared, on the same terms. */
function expiredAt(): number[] {
  return events
    .filter((event) => event.includes("expired"))
    .map((event) => Number.parseFloat(event) - 1);
}

/**
 * Lets time pass with a server that sends something every 100 ms, which proves nothing to it about
 * us.
 */
function passWithServerTalking(ms: number, each: () => void = () => {}): void {
  for (let passed = 0; passed < ms; passed += 100) {
    vi.advanceTimersByTime(100);
    heartbeat.heard(performance.now());
    each();
  }
}

describe("beats", () => {
  test.each([
    { timeoutMs: 4_000, beatMs: 550 },
    { timeoutMs: TIMEOUT_MS, beatMs: BEAT_MS },
    { timeoutMs: 60_000, beatMs: 8_250 },
  ])("leave every $beatMs ms with a timeout of $timeoutMs ms", ({ timeoutMs, beatMs }) => {
    isAnswering = true;
    attach(timeoutMs);
    vi.advanceTimersByTime(4 * beatMs);
    expect(beatsAt()).toEqual([beatMs, 2 * beatMs, 3 * beatMs, 4 * beatMs]);
  });

  test("leave at once where a lease is to be proved, and then at their pace", () => {
    isAnswering = true;
    attach();
    vi.advanceTimersByTime(300);
    heartbeat.beatNow();
    vi.advanceTimersByTime(BEAT_MS);
    expect(beatsAt()).toEqual([300, 300 + BEAT_MS]);
  });

  test("leave on time while other requests are sent and answered", () => {
    isAnswering = true;
    attach();
    passWithServerTalking(4 * BEAT_MS + 100, () =>
      liveness.answered(liveness.now(), { byLeader: false, isCommitted: false }),
    );
    expect(events).toEqual(["1100 beat", "2200 beat", "3300 beat", "4400 beat"]);
  });

  test("leave on time though those before are not answered", () => {
    attach();
    passWithServerTalking(4 * BEAT_MS);
    expect(events).toEqual(["1100 beat", "2200 beat", "3300 beat", "4400 beat"]);
  });

  test("keep a session alive that does nothing else, every third proving the first", () => {
    isAnswering = true;
    attach();
    vi.advanceTimersByTime(3 * BEAT_MS);
    expect(liveness.aliveForMs()).toBe(LIFE_MS - 2 * BEAT_MS);
    for (let beats = 0; beats < 100; beats++) {
      vi.advanceTimersByTime(BEAT_MS - 1);
      expect(liveness.aliveForMs()).toBe(LIFE_MS - 3 * BEAT_MS + 1);
      vi.advanceTimersByTime(1);
      expect(liveness.aliveForMs()).toBe(LIFE_MS - 2 * BEAT_MS);
    }
    expect(judgements()).toEqual([]);
  });

  test("begin anew with every connection", () => {
    attach();
    vi.advanceTimersByTime(BEAT_MS - 1);
    heartbeat.detach();
    attach();
    vi.advanceTimersByTime(BEAT_MS - 1);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(beatsAt()).toEqual([2 * BEAT_MS - 1]);
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
    vi.advanceTimersByTime(1_500);
    heartbeat.heard(performance.now());
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([1_500 + SILENCE_MS]);
  });

  test("of a server that had answered every beat is noticed before the session is over", () => {
    isAnswering = true;
    attach();
    vi.advanceTimersByTime(10 * BEAT_MS);
    isAnswering = false;
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([10 * BEAT_MS + SILENCE_MS]);
    expect(expiredAt()).toEqual([8 * BEAT_MS + LIFE_MS]);
    expect(silentAt()[0]).toBeLessThan(expiredAt()[0] ?? 0);
  });

  test("is not believed when bytes were waiting in the socket at the second look", () => {
    attach();
    vi.advanceTimersByTime(SILENCE_MS);
    expect(beatsAt()).toEqual([1_100, 2_200]);
    expect(judgements()).toEqual([]);
    // What setImmediate is for: the sockets are read between a timer and an immediate.
    answerBeat();
    vi.advanceTimersToNextTimer();
    expect(silentAt()).toEqual([]);
    // And the next silence is noticed like the first.
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(silentAt()).toEqual([2 * SILENCE_MS]);
  });

  test("is not reported when the connection went between the two looks", () => {
    attach();
    vi.advanceTimersByTime(SILENCE_MS);
    expect(judgements()).toEqual([]);
    heartbeat.detach();
    vi.advanceTimersByTime(LIFE_MS - SILENCE_MS + 1);
    expect(judgements()).toEqual([`${LIFE_MS + 1} expired`]);
  });
});

describe("requests", () => {
  test("that stay unanswered for as long end the connection, though the server keeps sending", () => {
    isAnswering = true;
    attach();
    passWithServerTalking(500);
    oldestSentAt = liveness.now();
    passWithServerTalking(2 * TIMEOUT_MS);
    const [silent, ...more] = judgements().filter((event) => event.includes("silent"));
    expect(more).toEqual([]);
    expect(silent).toMatch(/ silent: the server sends, but it does not answer$/);
    const after = Number.parseFloat(silent ?? "") - 500;
    expect(after).toBeGreaterThanOrEqual(SILENCE_MS);
    expect(after).toBeLessThanOrEqual(SILENCE_MS + BEAT_MS);
  });

  test("that left with a slow handshake have their time from its answer on", () => {
    isAnswering = true;
    oldestSentAt = liveness.now() - 2 * SILENCE_MS;
    attach();
    passWithServerTalking(SILENCE_MS - 100);
    expect(judgements()).toEqual([]);
    passWithServerTalking(BEAT_MS + 100);
    expect(judgements()[0]).toMatch(/ silent: the server sends, but it does not answer$/);
  });

  test("that are not quite as old do no harm, however many follow each other", () => {
    isAnswering = true;
    attach();
    passWithServerTalking(3 * TIMEOUT_MS, () => {
      oldestSentAt = liveness.now() - SILENCE_MS + 101;
    });
    expect(judgements()).toEqual([]);
  });

  test("that are beats count like any other: a server that leaves them unanswered is left before the end", () => {
    attach();
    passWithServerTalking(TIMEOUT_MS + 100, () => {
      oldestSentAt ??= lastBeat;
    });
    expect(judgements()).toHaveLength(2);
    expect(judgements()[0]).toMatch(/ silent: the server sends, but it does not answer$/);
    expect(expiredAt()).toEqual([LIFE_MS]);
  });
});

describe("the end by our own clock", () => {
  test("comes when the handshake is a timeout less the margin old and nothing else was proved", () => {
    attach();
    // A follower answers reads and pings by itself: neither what is sent nor what is heard prolongs
    // the session.
    passWithServerTalking(LIFE_MS + 100, () =>
      liveness.answered(liveness.now(), { byLeader: false, isCommitted: false }),
    );
    expect(expiredAt()).toEqual([LIFE_MS]);
    expect(judgements()).toHaveLength(1);
  });

  test("comes though the connection has gone before", () => {
    isAnswering = true;
    attach();
    vi.advanceTimersByTime(3 * BEAT_MS);
    liveness.detach();
    heartbeat.detach();
    vi.advanceTimersByTime(LIFE_MS - 2 * BEAT_MS);
    expect(judgements()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(expiredAt()).toEqual([BEAT_MS + LIFE_MS]);
  });

  test("comes before any other judgement after a pause of the whole process", () => {
    attach();
    pausedMs = LIFE_MS;
    vi.advanceTimersToNextTimer();
    vi.advanceTimersToNextTimer();
    expect(events).toHaveLength(1);
    expect(expiredAt()).toEqual([BEAT_MS]);
  });

  test("does not come when an answer that waited in the socket proves the session alive", () => {
    isAnswering = true;
    attach();
    vi.advanceTimersByTime(3 * BEAT_MS);
    isAnswering = false;
    vi.advanceTimersByTime(BEAT_MS);
    // Life is counted from the first beat, and the answer to the fourth, which proves the second,
    // is on its way.
    pausedMs = LIFE_MS - 3 * BEAT_MS - 300;
    vi.advanceTimersToNextTimer();
    // The timer came first and saw a session that is over; the socket is read before the second
    // look.
    expect(liveness.isAlive()).toBe(false);
    answerBeat();
    vi.advanceTimersToNextTimer();
    expect(judgements()).toEqual([]);
    expect(liveness.isAlive()).toBe(true);
  });

  test("leaves no timer behind once the heartbeat is stopped", () => {
    attach();
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
    heartbeat.detach();
    expect(vi.getTimerCount()).toBe(0);
  });
});
