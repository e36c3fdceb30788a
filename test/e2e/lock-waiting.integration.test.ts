/**
 * On the way to a lock: not waiting, waiting in vain, being told to stop, and whatever happens to
 * the queue meanwhile.
 */
import { describe, expect, test } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** In the request that makes a ticket. */
const TICKET = "-lock-";

it.for([
  { code: 75, words: ["-n"] },
  { code: 75, words: ["-w", "0"] },
  { code: 9, words: ["-n", "-E", "9"] },
  { code: 124, words: ["-w", "4s"], says: "gave up on /l after 4s: still held" },
  { code: 9, words: ["-w", "4s", "-E", "9"], says: "gave up on /l after 4s: still held" },
  { code: 0, words: ["-w", "4s", "-E", "0"], says: "gave up on /l after 4s: still held" },
])(
  "$words on a lock that is held: code $code, and the holder named",
  async ({ code, words, says }, context) => {
    const scene = await Scene.at(context);
    const holder = await scene.holding(["--why", "release 42"]);
    const beat = scene.beat();
    const ran = await scene.run(["lock", ...words, LOCK, "--", ...beat.command()]);
    const by = `${says ?? "/l is held"} by .*@.* pid ${holder.zksh.pid} python3 "release 42"`;
    expect(ran).toMatchObject({
      code,
      stderr: expect.stringMatching(new RegExp(`^error: ${by}\n$`)),
    });
    expect(beat.hasRun).toBe(false);
    expect(await scene.tickets()).toHaveLength(1);
    holder.beat.end();
    await holder.zksh.result;
  },
);

it("-w may be longer than the longest delay of a timer", async (context) => {
  const scene = await Scene.at(context);
  const holder = await scene.holding();
  const waiter = scene.start(["lock", "-w", "1000h", LOCK, "--", "echo", "run"]);
  await scene.queue(2);
  holder.beat.end();
  const { code, stdout, stderr } = await waiter.result;
  expect([code, String(stdout), stderr]).toEqual([0, "run\n", ""]);
});

it.for([
  { code: 124, line: "lock -w 4s /l", says: "gave up on /l after 4s: still held by .*@.* pid .*" },
  { code: 9, line: "lock -n -E 9 /l", says: "/l is held by .*@.* pid .*" },
])("the same in a script: $line", async ({ code, line, says }, context) => {
  const scene = await Scene.at(context);
  const holder = await scene.holding([]);
  const stderr = expect.stringMatching(new RegExp(`^-c:1: error: ${says}\n$`));
  expect(await scene.run(["-c", line])).toMatchObject({ code, stderr });
  holder.beat.end();
  await holder.zksh.result;
});

it.for([
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGINT", code: 130 },
  { signal: "SIGHUP", code: 129 },
] as const)(
  "$signal while queued: $code at once, and no ticket stays",
  async ({ signal, code }, context) => {
    const scene = await Scene.at(context);
    const rival = new Mutex(scene.session, LOCK);
    const held = await rival.acquire();
    const beat = scene.beat();
    const zksh = scene.start(["lock", LOCK, "--", ...beat.command()]);
    await scene.queue(2);
    const told = performance.now();
    zksh.kill(signal);
    expect(await zksh.result).toMatchObject({ code, signal: null });
    expect(performance.now() - told).toBeLessThan(2_000);
    await scene.queue(1);
    await held.release();
    expect(beat.hasRun).toBe(false);
  },
);

it("SIGINT while queued and no server answers: 130 at once, and the session takes the ticket", async (context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK).acquire();
  const { proxy, server } = await scene.network();
  const zksh = scene.start(["-v", "lock", "--session-timeout", "6s", LOCK, "--", "true"], {
    server,
  });
  await eventually(() => expect(zksh.stderr).toContain("watching"));
  await proxy.refuse();
  await eventually(() => expect(zksh.stderr).toContain("no server answers"));
  const told = performance.now();
  zksh.kill("SIGINT");
  expect(await zksh.result).toMatchObject({ code: 130, signal: null });
  expect(performance.now() - told).toBeLessThan(2_500);
  await held.release();
});

it("a revoke request or a deleted ticket ends the wait with 121", async (context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK).acquire();
  const asked = scene.run(["lock", LOCK, "--", "true"]);
  await scene.session.setData(await scene.queue(2), Buffer.from("unlock"));
  expect(await asked).toMatchObject({
    code: 121,
    stderr: expect.stringContaining("/l was revoked"),
  });
  await scene.queue(1);
  const removed = scene.run(["lock", LOCK, "--", "true"]);
  await scene.session.delete(await scene.queue(2));
  expect(await removed).toMatchObject({
    code: 121,
    stderr: expect.stringContaining("another client deleted our ticket"),
  });
  await held.release();
});

it("a ticket whose reply was lost is found again: one contender, and it is served", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create(LOCK, null);
  const { proxy, server } = await scene.network();
  let isStalled = false;
  proxy.onBytes = (direction, chunk) => {
    if (direction !== "to-server" || !chunk.includes(TICKET)) return;
    isStalled = true;
    proxy.stall("to-client");
  };
  const beat = scene.beat();
  const zksh = scene.start(["lock", LOCK, "--", ...beat.command()], { server });
  const ghost = await scene.queue(1);
  expect(isStalled).toBe(true);
  expect(beat.hasRun).toBe(false);
  proxy.onBytes = () => {};
  proxy.drop();
  proxy.resume();
  await beat.started(zksh);
  expect(await scene.queue(1)).toBe(ghost);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
});

it("a session that expires while queued: zksh queues again, says so, and gets the lock in the end", async (context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK).acquire();
  const { proxy, server } = await scene.network();
  const beat = scene.beat();
  const words = ["--connect-timeout", "1500ms", "lock", "--session-timeout", "2s", LOCK, "--"];
  const zksh = scene.start([...words, ...beat.command()], { server });
  const first = await scene.queue(2);
  await proxy.refuse();
  await scene.queue(1);
  // Somebody who came later is before it now.
  const rival = await scene.rival();
  await eventually(() =>
    expect(zksh.stderr).toContain(`the session ended while waiting for ${LOCK}; queuing again`),
  );
  // Longer than it takes to give up a server that has never answered.
  await sleep(2_500);
  await proxy.listen();
  expect(await scene.queue(3)).not.toBe(first);
  await held.release();
  await beat.started(zksh);
  expect(beat.lines[0]?.at).toBeGreaterThan(await rival.gotAt);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
});

it("a server that is silent for longer than the session lasts, from the first byte on: served in the end", async (context) => {
  const scene = await Scene.at(context);
  const { proxy, server } = await scene.network();
  proxy.stall("to-client");
  let isGreeted = false;
  proxy.onBytes = (direction) => {
    isGreeted ||= direction === "to-server";
  };
  const beat = scene.beat();
  const zksh = scene.start(["lock", "--session-timeout", "2s", LOCK, "--", ...beat.command()], {
    server,
  });
  await eventually(() => isGreeted);
  await sleep(2_500);
  proxy.resume();
  await beat.started(zksh);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
});

it("Ctrl-C while it waits for a server to queue again: 130, and no word of a bug", async (context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK).acquire();
  const { proxy, server } = await scene.network();
  const words = [
    "--connect-timeout",
    "1500ms",
    "lock",
    "--session-timeout",
    "2s",
    LOCK,
    "--",
    "true",
  ];
  const zksh = scene.start(words, { server });
  await scene.queue(2);
  await proxy.refuse();
  await eventually(() => expect(zksh.stderr).toContain("queuing again"));
  // In the rest behind the first attempt, of a second too.
  await sleep(2_000);
  zksh.kill("SIGINT");
  expect(await zksh.result).toMatchObject({
    code: 130,
    stderr: expect.not.stringContaining("internal error"),
  });
  await held.release();
});

describe("123, and the program never ran:", () => {
  it("nobody listens", async (context) => {
    const scene = await Scene.at(context);
    const beat = scene.beat();
    const server = `127.0.0.1:${await freePort()}`;
    const ran = await scene.run(
      ["--connect-timeout", "500ms", "lock", LOCK, "--", ...beat.command()],
      { server },
    );
    expect(ran).toMatchObject({ code: 123, stderr: expect.stringContaining("cannot connect") });
    expect(beat.hasRun).toBe(false);
  });

  it("nobody answers, for as long as -w allows", async (context) => {
    const scene = await Scene.at(context);
    const { proxy, server } = await scene.network();
    proxy.blackhole();
    const beat = scene.beat();
    const ran = await scene.run(["lock", "-w", "500ms", LOCK, "--", ...beat.command()], { server });
    expect(ran).toMatchObject({ code: 123, stderr: expect.stringContaining("error: ") });
    expect(ran.durationMs).toBeLessThan(5_000);
    expect(beat.hasRun).toBe(false);
  });

  it("not permitted", async (context) => {
    const scene = await Scene.at(context);
    await scene.session.create(LOCK, null, { acl: [{ scheme: "world", id: "anyone", perms: 1 }] });
    const beat = scene.beat();
    const ran = await scene.run(["lock", LOCK, "--", ...beat.command()]);
    expect(ran).toMatchObject({ code: 123, stderr: expect.stringContaining("(NoAuth)") });
    expect(beat.hasRun).toBe(false);
  });
});

it("tokens grow from holder to holder, also when the path was deleted in between", async (context) => {
  const scene = await Scene.at(context);
  const locks = [scene.session, scene.open(), scene.open()].map(
    (session) => new Mutex(session, LOCK),
  );
  const tokens: bigint[] = [];
  let holders = 0;
  const turn = (lock: Mutex) =>
    lock.use(async ({ fencingToken }) => {
      expect(++holders).toBe(1);
      tokens.push(fencingToken);
      await Promise.resolve();
      holders--;
    });
  for (let round = 0; round < 10; round++) {
    await Promise.all(locks.flatMap((lock) => Array.from({ length: 7 }, () => turn(lock))));
    // Numbers begin again at 0 below a new path; tokens do not.
    await scene.session.delete(LOCK);
  }
  expect(tokens).toHaveLength(210);
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
});
