/**
 * zksh as a library among other contenders: library-peer.js SERVERS PATH LOG LEAST_MS MOST_MS
 * NAME=RECIPE… with the recipes mutex, compat, read, write, semaphore:N. Each has a session of its
 * own and loops acquire, write to the log, release, until stdin ends or SIGTERM comes.
 */
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as zksh from "../../dist/index.js";

const BEAT_MS = 3;
const [servers, path, logs, leastMs, mostMs, ...contenders] = process.argv.slice(2);
const files = logs.split(",").map((name) => openSync(name, "a"));
let isOver = false;

function lockOf(session, recipe) {
  const [kind, limit] = recipe.split(":");
  switch (kind) {
    case "mutex":
      return ["exclusive", new zksh.Mutex(session, path)];
    case "compat":
      return ["exclusive", new zksh.Mutex(session, path, { compat: "all" })];
    case "read":
    case "write":
      return [kind, new zksh.ReadWriteLock(session, path)[kind]];
    case "semaphore":
      return ["permit", new zksh.Semaphore(session, path, { limit: Number(limit) })];
    default:
      throw new Error(`no such recipe: ${recipe}`);
  }
}

function write(verb, rest) {
  for (const file of files) writeSync(file, `${verb} ${process.hrtime.bigint()} ${rest}\n`);
}

async function work(id, kind, lock) {
  const until =
    performance.now() + Number(leastMs) + Math.random() * (Number(mostMs) - Number(leastMs));
  const ticket = kind === "permit" ? "-" : Number(lock.nodePath.slice(-10));
  write("begin", `${id} ${kind} ${lock.fencingToken} ${ticket}`);
  for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
    await sleep(Math.min(BEAT_MS, left));
    write("beat", id);
  }
  write("end", id);
}

async function contend(name, recipe) {
  const session = zksh.openSession({ ...zksh.parseConnectString(servers), timeoutMs: 10_000 });
  let count = 0;
  try {
    const [kind, lock] = lockOf(session, recipe);
    while (!isOver) {
      const held = await lock.acquire();
      try {
        await work(`${name}#${++count}`, kind, held);
      } finally {
        await held.release();
      }
    }
  } catch (error) {
    process.stdout.write(`${name} failed: ${error.stack}\n`);
  }
  await session.close();
  process.stdout.write(`${name} ${count}\n`);
}

const stop = () => {
  isOver = true;
  process.stdin.destroy();
};
process.once("SIGTERM", stop);
process.stdin.once("end", stop).resume();
process.stdout.write("ready\n");
await Promise.all(contenders.map((argument) => contend(...argument.split("="))));
