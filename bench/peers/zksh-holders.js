/**
 * Many sessions of zksh in one process, each with a lock: zksh-holders.js SERVERS, then `hold N
 * TIMEOUT_MS`, `held`, `close`.
 */

import { createInterface } from "node:readline";
import { Mutex, openSession, parseConnectString } from "../../dist/index.js";

/** At a time: more would rather measure how servers take a rush of new sessions. */
const BATCH = 50;

const sessions = [];
const locks = [];

const answers = {
  async hold(count, timeoutMs) {
    const options = { ...parseConnectString(process.argv[2]), timeoutMs };
    const holdOne = () => {
      const session = openSession(options);
      return new Mutex(session, `/locks/${sessions.push(session)}`).acquire();
    };
    while (locks.length < count) {
      const length = Math.min(BATCH, count - locks.length);
      locks.push(...(await Promise.all(Array.from({ length }, holdOne))));
    }
    return { held: locks.filter((lock) => lock.isHeld()).length };
  },
  async held() {
    const { user, system } = process.cpuUsage();
    return {
      held: locks.filter((lock) => lock.isHeld()).length,
      cpuSeconds: (user + system) / 1e6,
    };
  },
  async close() {
    await Promise.all(sessions.map((session) => session.close()));
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...numbers] = line.split(" ");
  console.log(JSON.stringify(await answers[word](...numbers.map(Number))));
}
