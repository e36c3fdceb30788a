import { beforeEach, expect, test } from "vitest";
import { CongestionWindow } from "../../../../src/session/zookeeper/requests/congestion-window.ts";

const TIMEOUT_MS = 10_000;
/** A tenth of the session timeout is the most that an answer may take. */
const [IN_TIME_MS, LATE_MS] = [1_000, 1_001];

let window: CongestionWindow;
let now: number;

beforeEach(() => {
  window = new CongestionWindow();
  window.attach(TIMEOUT_MS);
  now = 50_000;
});

function answer(count: number, afterMs: number): void {
  const sentAt = now;
  now += afterMs;
  for (let i = 0; i < count; i++) window.answered(sentAt, now);
}

test("begins with the requests of an ordinary turn, and grows with every answer in time, up to a limit", () => {
  expect(window.size).toBe(512);
  answer(100, IN_TIME_MS);
  expect(window.size).toBe(612);
  answer(100_000, 0);
  expect(window.size).toBe(4000);
});

test("is halved once by all the late answers of one line, but never to nothing", () => {
  answer(500, LATE_MS);
  expect(window.size).toBe(256);
  answer(1, LATE_MS);
  expect(window.size).toBe(256);
  now++;
  for (let i = 0; i < 20; i++, now++) answer(1, LATE_MS);
  expect(window.size).toBe(16);
});

test("forgets how far it grew when nothing is on its way, but not how far it shrank", () => {
  answer(1_000, 0);
  window.rest();
  expect(window.size).toBe(512);
  answer(1, LATE_MS);
  window.rest();
  expect(window.size).toBe(256);
});

test("lets any answer count as timely before a server has granted a session", () => {
  const fresh = new CongestionWindow();
  fresh.answered(0, 1e9);
  expect(fresh.size).toBe(513);
});
