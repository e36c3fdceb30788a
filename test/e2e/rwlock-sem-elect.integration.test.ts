/**
 * What rwlock, sem, elect and lock with several paths have of their own; what they share is in the
 * other files.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** Long enough for a busy machine, whose heartbeats come late. */
const SHORT = ["--session-timeout", "4s"];

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await startServer({ tickTime: 200 });
});

afterAll(() => server.stop());

const sorts = [
  { words: ["rwlock", "read"], next: ["rwlock", "write"] },
  { words: ["rwlock", "write"], next: ["rwlock", "read"] },
  { words: ["sem", "--limit", "1"], next: ["sem", "--limit", "1"] },
  { words: ["elect"], next: ["elect"] },
  { words: ["lock", "/m/b", "/m/a"], next: ["lock", "/m/b"] },
  { words: ["lock", "--recipe", "unique"], next: ["lock", "--recipe", "unique"] },
];

it.for(sorts)(
  "$words: cut off, it is stopped before the next has it: 120",
  async ({ words, next }, context) => {
    const scene = await Scene.at(context, server.address);
    const { proxy, server: through } = await scene.network();
    const path = words.includes("/m/a") ? [] : [LOCK];
    const [first, second] = [scene.beat(), scene.beat()];
    const program = [...path, "--", ...first.command("stubborn")];
    const holder = scene.start([...words, ...SHORT, ...program], { server: through });
    await first.started(holder);
    const waiter = scene.start(["-v", ...next, ...path, "--", ...second.command()]);
    await eventually(() => expect(waiter.stderr).toContain("  watching "));
    proxy.blackhole();
    expect(await holder.result).toMatchObject({
      code: 120,
      stderr: expect.stringMatching(/sent TERM(.*\n)+sent KILL/),
    });
    await second.started(waiter);
    expect(second.lines[0]?.at).toBeGreaterThan(first.lastAt);
    second.end();
    expect(await waiter.result).toMatchObject({ code: 7 });
  },
);

it.for(sorts)(
  "$words: a signal while queued leaves nothing: 143",
  async ({ words, next }, context) => {
    const scene = await Scene.at(context, server.address);
    const path = words.includes("/m/a") ? [] : [LOCK];
    const beat = scene.beat();
    const holder = scene.start([...words, ...path, "--", ...beat.command()]);
    await beat.started(holder);
    expect(await scene.run([...next, "-n", ...path, "--", "true"])).toMatchObject({ code: 75 });
    const waiter = scene.start(["-v", ...next, ...path, "--", "true"]);
    await eventually(() => expect(waiter.stderr).toContain("  watching "));
    waiter.kill("SIGTERM");
    expect(await waiter.result).toMatchObject({ code: 143 });
    beat.end();
    expect(await holder.result).toMatchObject({ code: 7 });
    expect(await scene.run([...next, "-n", ...path, "--", "true"])).toMatchObject({ code: 0 });
  },
);

it("rwlock runs readers together and a writer alone, with the same exit codes", async (context) => {
  const scene = await Scene.at(context, server.address);
  const side = (words: string[]) => {
    const beat = scene.beat();
    return { beat, zksh: scene.start(["-v", "rwlock", ...words, LOCK, "--", ...beat.command()]) };
  };
  const readers = [side(["read"]), side(["read"])];
  for (const { beat, zksh } of readers) await beat.started(zksh);
  expect(await scene.run(["rwlock", "write", "-n", LOCK, "--", "true"])).toMatchObject({
    code: 75,
  });
  const writer = side(["write"]);
  await scene.queue(3);
  // Behind a writer that waits.
  const late = scene.run(["rwlock", "read", LOCK, "--", "sh", "-c", "echo $ZK_LOCK_MODE"]);
  await scene.queue(4);
  expect(writer.beat.hasRun).toBe(false);
  for (const { beat } of readers) beat.end();
  await writer.beat.started(writer.zksh);
  const lastRead = Math.max(...readers.map(({ beat }) => beat.lastAt));
  expect(writer.beat.lines[0]?.at).toBeGreaterThan(lastRead);
  for (const { zksh } of readers) expect(await zksh.result).toMatchObject({ code: 7 });
  const [, ticket = ""] = await eventually(async () => {
    const names = await scene.tickets();
    expect(names).toHaveLength(2);
    return [0, names[0]] as const;
  });
  await scene.session.delete(`${LOCK}/${ticket}`);
  expect(await writer.zksh.result).toMatchObject({ code: 120 });
  const { stdout } = await late;
  expect(String(stdout)).toBe("read\n");
});

it("sem runs as many commands as there are permits, and exits with 125 for another limit", async (context) => {
  const scene = await Scene.at(context, server.address);
  const hold = async () => {
    const beat = scene.beat();
    const zksh = scene.start(["sem", "--limit", "2", LOCK, "--", ...beat.command()]);
    await beat.started(zksh);
    return { beat, zksh };
  };
  const both = [await hold(), await hold()];
  expect(await scene.run(["sem", "--limit", "2", "-n", LOCK, "--", "true"])).toMatchObject({
    code: 75,
  });
  const other = await scene.run(["sem", "--limit", "3", LOCK, "--", "true"]);
  expect(other).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("has 2 permits, not 3"),
  });
  for (const { beat, zksh } of both) {
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 7 });
  }
});

it("two locks in opposite orders do not wait for each other", async (context) => {
  const scene = await Scene.at(context, server.address);
  const codes = Array.from({ length: 6 }, (_, index) => {
    const paths = index % 2 === 0 ? ["/m/a", "/m/b"] : ["/m/b", "/m/a"];
    return scene.run(["lock", ...paths, "--", "sleep", "0.05"]);
  });
  for (const { code, stderr } of await Promise.all(codes)) expect([code, stderr]).toEqual([0, ""]);
});

it.for([
  { what: "a leader election", words: ["elect"] },
  { what: "a semaphore", words: ["sem", "--limit", "1"] },
])(
  "a lock on the path of $what warns that neither respects the other",
  async ({ words }, context) => {
    const scene = await Scene.at(context, server.address);
    const beat = scene.beat();
    const zksh = scene.start([...words, LOCK, "--", ...beat.command()]);
    await beat.started(zksh);
    const ran = await scene.run(["lock", LOCK, "--", "true"]);
    expect(ran).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("which do not see each other"),
    });
    beat.end();
    await zksh.result;
  },
);

it("a read-only session is refused, and a session timeout that was not granted is told", async (context) => {
  const scene = await Scene.at(context, server.address);
  expect(await scene.run(["--read-only", "lock", LOCK, "--", "true"])).toMatchObject({ code: 125 });
  expect(await scene.session.exists(LOCK)).toBeUndefined();
  const { code, stderr } = await scene.run([
    "lock",
    "--session-timeout",
    "90s",
    LOCK,
    "--",
    "true",
  ]);
  expect([code, stderr]).toEqual([
    0,
    "note: the server grants a session timeout of 1m00s, not 1m30s\n",
  ]);
});

it("elect --rejoin queues again after the leadership was lost", async (context) => {
  const scene = await Scene.at(context, server.address);
  const beat = scene.beat();
  const zksh = scene.start(["elect", "--rejoin", LOCK, "--", ...beat.command()]);
  await beat.started(zksh);
  await scene.session.delete(await scene.queue(1));
  await eventually(() =>
    expect(beat.lines.filter(({ word }) => word.startsWith("pid:"))).toHaveLength(2),
  );
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
});
