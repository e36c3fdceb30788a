import { expect, test } from "vitest";
import { followServers, type ServersTick } from "../../../src/recipes/servers/follow-servers.ts";
import type { AskedServer } from "../../../src/recipes/servers/told-sessions.ts";
import type { WordAnswer } from "../../../src/session/four-letter-word.ts";
import { NOT_SERVING } from "./answers.ts";

const EVERY_MS = 40;

/** Follows servers that answer by `answer(word, tick)`, for some ticks. */
async function follow(
  answers: Readonly<Record<string, (word: string, tick: number) => string | WordAnswer | "never">>,
  ticks: number,
): Promise<ServersTick[]> {
  const seen: ServersTick[] = [];
  const servers = Object.entries(answers).map(
    ([name, answer]): AskedServer => ({
      name,
      async ask(word) {
        const given = answer(word, seen.length);
        if (given === "never") return new Promise(() => {});
        if (typeof given !== "string") return given;
        return { kind: "answered", bytes: Buffer.from(given), ms: 1 };
      },
    }),
  );
  const { signal } = new AbortController();
  for await (const tick of followServers(servers, { everyMs: EVERY_MS, signal })) {
    seen.push(tick);
    if (seen.length === ticks) break;
  }
  return seen;
}

const srvr = (received: number) =>
  `Zookeeper version: 3.8.0\nReceived: ${received}\nSent: ${received}\nMode: leader\n`;
const refused: WordAnswer = { kind: "failed", why: "refused", says: "connection refused" };

test("the first look has figures and no rates, later ones have rates", async () => {
  const [first, second] = await follow({ a: (_, tick) => srvr(100 * tick) }, 2);
  expect(first?.readings[0]).toMatchObject({ state: "serving", sample: { received: 0 } });
  expect(first?.readings[0]).not.toHaveProperty("rates");
  const rate = second?.readings[0]?.rates?.received ?? 0;
  expect(rate).toBeGreaterThan(100);
  expect(rate).toBeLessThanOrEqual(100 / (EVERY_MS / 2_000));
  expect(second?.readings[0]?.history).toEqual([undefined, rate]);
});

test("a server that never answers is down, and the others are read at every tick", async () => {
  const ticks = await follow(
    { slow: (_, tick) => (tick === 0 ? srvr(1) : "never"), good: (_, tick) => srvr(tick) },
    3,
  );
  expect(ticks.map(({ readings }) => readings.map(({ state }) => state))).toEqual([
    ["serving", "serving"],
    ["down", "serving"],
    ["down", "serving"],
  ]);
});

test("the first look waits longer than a tick for an answer", async () => {
  const server = (name: string, ms: number): AskedServer => ({
    name,
    async ask() {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return { kind: "answered", bytes: Buffer.from(srvr(1)), ms };
    },
  });
  const { signal } = new AbortController();
  const servers = [server("quick", 0), server("slow", 10 * EVERY_MS)];
  for await (const tick of followServers(servers, { everyMs: EVERY_MS, signal })) {
    expect(tick.readings.map(({ state }) => state)).toEqual(["serving", "serving"]);
    break;
  }
});

test("a server that goes away is down since then, and comes back", async () => {
  const ticks = await follow({ a: (_, tick) => (tick === 1 || tick === 2 ? refused : srvr(5)) }, 4);
  const readings = ticks.flatMap(({ readings: [reading] }) => reading ?? []);
  expect(readings.map(({ state }) => state)).toEqual(["serving", "down", "down", "serving"]);
  expect(readings[1]).toMatchObject({ says: "connection refused", since: expect.any(Number) });
  expect(readings[2]?.since).toBe(readings[1]?.since);
  expect(readings[3]).not.toHaveProperty("since");
  expect(readings[3]?.rates?.isReset).toBe(false);
});

test("a server that was restarted has no rate at that tick, and never a negative one", async () => {
  const received = [50, 60, 3, 9];
  const ticks = await follow({ a: (_, tick) => srvr(received[tick] ?? 0) }, 4);
  const rates = ticks.map(({ readings: [reading] }) => reading?.rates);
  expect(rates[2]).toEqual({ isReset: true });
  expect(rates[3]?.received).toBeGreaterThan(0);
});

test("no quorum, no permission, and other answers are told apart", async () => {
  const [tick] = await follow(
    {
      alone: () => NOT_SERVING,
      strict: () => ({ kind: "not-allowed" }),
      half: (word) => (word === "srvr" ? srvr(1) : { kind: "not-allowed" }),
      web: () => "HTTP/1.1 400 Bad Request",
    },
    1,
  );
  expect(tick?.readings.map(({ state, lacksMntr, says }) => [state, lacksMntr, says])).toEqual([
    ["not-serving", undefined, undefined],
    ["not-allowed", undefined, undefined],
    ["serving", true, undefined],
    ["down", undefined, "its answer is not ZooKeeper's"],
  ]);
});

test("history has as many ticks as the widest plot", async () => {
  const every = await follow({ a: (_, tick) => srvr(tick) }, 3);
  expect(every.at(-1)?.readings[0]?.history).toHaveLength(3);
});

test("an abort ends it at once, with its reason", async () => {
  const { signal, abort } = abortable();
  const ask = () =>
    new Promise<WordAnswer>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const ticks = followServers([{ name: "a", ask }], { everyMs: 60_000, signal });
  const startedAt = performance.now();
  const first = ticks.next();
  abort();
  await expect(first).rejects.toThrow("left");
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

test("an abort between two ticks ends it at once, with its reason", async () => {
  const { signal, abort } = abortable();
  const ask = async (): Promise<WordAnswer> => refused;
  const ticks = followServers([{ name: "a", ask }], { everyMs: 60_000, signal });
  await ticks.next();
  const second = ticks.next();
  abort();
  await expect(second).rejects.toMatchObject({ cause: { message: "left" } });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error("left")) };
}
