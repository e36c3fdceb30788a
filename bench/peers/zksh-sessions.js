/**
 * Many sessions of zksh in one process: zksh-sessions.js SERVERS, then `open N`, `idle SECONDS` on
 * stdin.
 */

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { openSession, parseConnectString } from "../../dist/index.js";

const sessions = [];

const answers = {
  async open(count) {
    globalThis.gc();
    const before = process.memoryUsage();
    const startedAt = performance.now();
    const options = { ...parseConnectString(process.argv[2]), timeoutMs: 30_000 };
    for (let index = 0; index < count; index++) sessions.push(openSession(options));
    await Promise.all(sessions.map((session) => session.connected()));
    const seconds = (performance.now() - startedAt) / 1000;
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { seconds, rss: rss - before.rss, heap: heapUsed - before.heapUsed };
  },
  async idle(seconds) {
    const cpu = process.cpuUsage();
    await sleep(seconds * 1000);
    const { user, system } = process.cpuUsage(cpu);
    return {
      share: (user + system) / 1e6 / seconds,
      alive: sessions.filter((session) => session.isAlive()).length,
    };
  },
  async close() {
    const startedAt = performance.now();
    await Promise.all(sessions.map((session) => session.close()));
    return { seconds: (performance.now() - startedAt) / 1000 };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...numbers] = line.split(" ");
  console.log(JSON.stringify(await answers[word](...numbers.map(Number))));
}
