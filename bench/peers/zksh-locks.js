/**
 * zksh's lock: zksh-locks.js SERVERS PATH, then `cycles N`, `cyclesGoingOn N`, `cyclesAmongOthers
 * N`, `acquire`, `release`, `queue N SESSIONS`, `follow N`, `drain N` on stdin.
 */
import { setMaxListeners } from "node:events";
import { createInterface } from "node:readline";
import { Mutex, openSession, parseConnectString } from "../../dist/index.js";

const [servers, path] = process.argv.slice(2);
const open = () => openSession({ ...parseConnectString(servers), timeoutMs: 60_000 });
const session = open();
const others = [];
const lock = new Mutex(session, path);
const now = () => Number(process.hrtime.bigint()) / 1000;
const giveUp = new AbortController();
setMaxListeners(0, giveUp.signal);
let held;
let left = 0;
let drained = () => {};

const memory = () => {
  globalThis.gc();
  return process.memoryUsage();
};

async function wait(mutex) {
  const mine = await mutex.acquire({ signal: giveUp.signal });
  left -= 1;
  // The last of those asked for keeps it.
  if (left === 0) drained(mine);
  else await mine.release();
}

async function cycle(count, release, before = () => {}) {
  const acquires = [];
  const begun = now();
  for (let index = 0; index < count; index++) {
    await before();
    const at = now();
    const mine = await lock.acquire();
    acquires.push(now() - at);
    await release(mine);
  }
  return { acquires, seconds: (now() - begun) / 1e6 };
}

const answers = {
  cycles: (count) => cycle(count, (mine) => mine.release()),
  /** Goes on without waiting for the server's word; only the last one is waited for. */
  async cyclesGoingOn(count) {
    let last;
    const release = (mine) => {
      last = mine.release();
    };
    const cycles = await cycle(count, release);
    await last;
    return cycles;
  },
  /** Somebody writes something else between any two of them, which is not counted. */
  cyclesAmongOthers(count) {
    const write = () => session.setData("/locks", null);
    return cycle(count, (mine) => mine.release(), write);
  },
  async acquire() {
    held = await lock.acquire();
    return { at: now() };
  },
  async release() {
    const at = now();
    await held.release();
    return { at };
  },
  /** Holds the lock and lets so many wait behind it, spread over so many sessions. */
  async queue(count, sessions) {
    held = await lock.acquire();
    const before = memory();
    const begun = now();
    for (let index = 1; index < sessions; index++) others.push(open());
    await new Promise((resolve) => {
      const waiting = new Set();
      const onEvent = ({ event, node }) =>
        event === "waiting" && waiting.add(node).size === count && resolve();
      const locks = [session, ...others].map((one) => new Mutex(one, path, { onEvent }));
      for (let index = 0; index < count; index++) wait(locks[index % locks.length]).catch(() => {});
    });
    return { rss: before.rss, heap: before.heapUsed, seconds: (now() - begun) / 1e6 };
  },
  /** Waits as so many terminals do: a session each, and the queue listed to show its state. */
  async follow(count) {
    const followOne = () =>
      new Promise((resolve, reject) => {
        const onEvent = ({ event }) => event === "waiting" && resolve();
        const own = open();
        others.push(own);
        const mutex = new Mutex(own, path, { onEvent });
        // As the commands of zksh on a terminal: REFRESH_MS in src/commands/under-lock/options.ts.
        mutex.acquire({ signal: giveUp.signal, refreshMs: 2_000 }).catch(reject);
      });
    await Promise.all(Array.from({ length: count }, followOne));
    return { waiting: count };
  },
  async memory() {
    const { rss, heapUsed } = memory();
    return { rss, heap: heapUsed };
  },
  /** Lets so many of those who wait have it, one after the other. */
  async drain(count) {
    left = count;
    const begun = now();
    const last = new Promise((resolve) => {
      drained = resolve;
    });
    await held.release();
    held = await last;
    return { seconds: (now() - begun) / 1e6 };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...numbers] = line.split(" ");
  console.log(JSON.stringify(await answers[word](...numbers.map(Number))));
}
giveUp.abort(new Error("over"));
await Promise.all([session, ...others].map((one) => one.close()));
