/**
 * The promise: whatever happens to the network, the server or zksh, a program under a lost lock is
 * stopped before ZooKeeper can give the lock to anybody else. All clocks here are the machine's
 * monotonic one.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { eventsOf, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** Long enough for a busy machine: a beat that is late by 2 s must not lose the lock. */
const T = 6_000;
const SHORT = ["--session-timeout", `${T}ms`];
const GRACE = T / 4;

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await startServer({ tickTime: 200 });
});

afterAll(() => server.stop());

function sceneAt(context: Parameters<typeof Scene.at>[0]): Promise<Scene> {
  return Scene.at(context, server.address);
}

it("a command whose zksh is cut off gets TERM, then KILL before another holder gets the lock", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  // Longer than elsewhere, because the moments themselves are looked at: on a busy machine all of
  // them come late.
  const timeoutMs = 2 * T;
  const graceMs = timeoutMs / 4;
  const options = ["--session-timeout", `${timeoutMs}ms`];
  const { zksh, beat } = await scene.holding(options, { server: through, words: ["stubborn"] });
  const rival = await scene.rival();
  await beat.goesOn();
  const cutAt = monotonicMs();
  proxy.blackhole();
  const { code, stderr } = await zksh.result;
  expect(code).toBe(120);
  expect(stderr).toMatch(
    /sent TERM to process \d+ .*can no longer be proved.*\n(.*\n)*sent KILL to process/,
  );
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
  const [termAfter, killAfter] = [beat.at("SIGTERM") - cutAt, beat.lastAt - cutAt];
  // A session is provably alive for 0.54 of its timeout after a cut, or for longer while it is
  // young.
  expect(killAfter).toBeGreaterThan(0.4 * timeoutMs);
  expect(killAfter).toBeLessThan(0.95 * timeoutMs);
  expect(killAfter - termAfter).toBeGreaterThan(0.5 * graceMs);
  expect(killAfter - termAfter).toBeLessThan(1.5 * graceMs);
});

it("a command that ends on TERM after the cut ends long before the lease, and the exit code is 120", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const { zksh, beat } = await scene.holding(SHORT, { server: through });
  const rival = await scene.rival();
  proxy.blackhole();
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.signals).toEqual(["SIGTERM"]);
  expect(beat.lastAt).toBeLessThan((await rival.gotAt) - GRACE);
});

it("--on-lost kill sends no TERM when zksh is cut off", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const { zksh, beat } = await scene.holding([...SHORT, "--on-lost", "kill"], { server: through });
  const rival = await scene.rival();
  proxy.blackhole();
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.signals).toEqual([]);
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it("--on-lost kill sends no TERM when the ticket is deleted", async (context) => {
  const scene = await sceneAt(context);
  const { zksh, beat } = await scene.holding(["--on-lost", "kill"]);
  await scene.session.delete(await scene.queue(1));
  expect(await zksh.result).toMatchObject({
    code: 120,
    stderr: expect.stringContaining("sent KILL"),
  });
  expect(beat.signals).toEqual([]);
});

it("--on-lost warn prints a warning, lets the command run and exits with 120", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const { zksh, beat } = await scene.holding([...SHORT, "--on-lost", "warn"], { server: through });
  const rival = await scene.rival();
  proxy.blackhole();
  await rival.gotAt;
  await eventually(() => expect(zksh.stderr).toContain(`lost ${LOCK}: the session ended`));
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.signals).toEqual([]);
});

it.for([
  {
    how: "killed -9: the program and its children are gone before anybody else",
    signal: "SIGKILL",
  },
  { how: "frozen for longer than its session: so are they", signal: "SIGSTOP" },
] as const)("zksh is $how", async ({ signal }, context) => {
  const scene = await sceneAt(context);
  const [child, grandchild] = [scene.beat(), scene.beat()];
  const quoted = grandchild.command("stubborn").map((word) => `'${word}'`);
  const script = ["sh", "-c", `${quoted.join(" ")} & "$@"; :`, "sh", ...child.command()];
  const zksh = scene.start(["lock", ...SHORT, LOCK, "--", ...script]);
  const pids = await Promise.all([child.started(zksh), grandchild.started(zksh)]);
  const rival = await scene.rival();
  zksh.kill(signal);
  const gotAt = await rival.gotAt;
  // The watchdog of a frozen zksh stays with it.
  await eventually(() => expect(scene.processes().filter((pid) => pids.includes(pid))).toEqual([]));
  expect(child.lastAt).toBeLessThan(gotAt);
  expect(grandchild.lastAt).toBeLessThan(gotAt);
  expect(child.signals).toEqual(["SIGTERM"]);
  zksh.kill("SIGCONT");
  expect(await zksh.result).toMatchObject(signal === "SIGSTOP" ? { code: 120 } : { signal });
});

it("a zksh that is frozen between the lock and the start does not start the program", async (context) => {
  const scene = await sceneAt(context);
  const beat = scene.beat();
  const slow = scene.slowStart();
  const zksh = scene.start(["-v", "lock", ...SHORT, LOCK, "--", ...beat.command()], {
    env: slow.env,
  });
  await slow.reached();
  // The ticket is there before zksh has the answer: frozen sooner, zksh would rightly queue again.
  await eventually(() => expect(zksh.stderr).toContain("acquired"));
  const rival = await scene.rival();
  zksh.kill("SIGSTOP");
  await rival.gotAt;
  slow.goOn();
  zksh.kill("SIGCONT");
  expect(await zksh.result).toMatchObject({
    code: 120,
    stderr: expect.stringContaining(`lost ${LOCK}`),
  });
  expect(beat.hasRun).toBe(false);
});

it.for([
  { what: "another lock", inner: ["lock", "/inner"] },
  { what: "the same lock, --reentrant", inner: ["lock", "--reentrant", LOCK] },
])("what runs under $what inside the lock goes with the outer one", async ({ inner }, context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const beat = scene.beat();
  const zksh = [
    "node",
    `${import.meta.dirname}/../../bin/zksh.js`,
    "-s",
    scene.server,
    ...inner,
    "--",
  ];
  const words = ["lock", ...SHORT, LOCK, "--", ...zksh, ...beat.command("stubborn")];
  const outer = scene.start(words, { server: through });
  await beat.started(outer);
  const rival = await scene.rival();
  proxy.blackhole();
  expect(await outer.result).toMatchObject({ code: 120 });
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it.for([
  { how: "nobody listens", cut: "refuse" },
  { how: "nothing comes through", cut: "blackhole" },
] as const)("2 s in which $how: the program hears nothing of it", async ({ cut }, context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const { zksh, beat } = await scene.holding(["--session-timeout", "12s"], { server: through });
  const rival = await scene.rival();
  await proxy[cut]();
  await sleep(2_000);
  await proxy.listen();
  proxy.heal();
  const { accepted } = proxy;
  await eventually(() => expect(proxy.accepted).toBeGreaterThanOrEqual(accepted));
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  expect(beat.signals).toEqual([]);
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it("--on-suspend stop freezes the program while no server answers, then lets it continue", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const options = ["--session-timeout", "12s", "--on-suspend", "stop"];
  const { zksh, beat, pid } = await scene.holding(options, { server: through });
  await proxy.refuse();
  await eventually(() => expect(findProcess(pid)?.state).toBe("stopped"));
  const { lastAt } = beat;
  await eventually(() =>
    expect(zksh.stderr).toContain(`no server answers; ${LOCK} stays locked for`),
  );
  await proxy.listen();
  await beat.goesOn();
  const beats = beat.lines.map(({ at }) => at);
  expect(beats.indexOf(lastAt)).toBeGreaterThan(0);
  await eventually(() => expect(zksh.stderr).toContain(`connected again; ${LOCK} is still locked`));
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  expect(beat.signals).toEqual([]);
});

it("--on-suspend stop ends the frozen program if no server answers until the lease ends", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const { zksh, beat } = await scene.holding([...SHORT, "--on-suspend", "stop"], {
    server: through,
  });
  const rival = await scene.rival();
  await proxy.refuse();
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it("--on-suspend term ends the program as soon as no server answers", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const options = ["--session-timeout", "12s", "--on-suspend", "term"];
  const { zksh, beat } = await scene.holding(options, { server: through });
  const refusedAt = monotonicMs();
  await proxy.refuse();
  await eventually(() => expect(beat.signals).toEqual(["SIGTERM"]));
  // Without the option it would come when the grace is all that is left of the lease, which still
  // has at least 0.54 T: after 0.54 × 12 s - 3 s = 3.5 s.
  expect(beat.at("SIGTERM") - refusedAt).toBeLessThan(3_400);
  // It ends when it can say goodbye, or when there is nobody left to say it to.
  await proxy.listen();
  expect(await zksh.result).toMatchObject({
    code: 120,
    stderr: expect.stringContaining("no server answers"),
  });
});

it("without a program, a zksh that is cut off exits with 120", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const zksh = scene.start(["lock", ...SHORT, LOCK], { server: through });
  await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
  const rival = await scene.rival();
  proxy.blackhole();
  expect(await zksh.result).toMatchObject({
    code: 120,
    stderr: expect.stringContaining(`lost ${LOCK}`),
  });
  await rival.gotAt;
});

it("a release without a connection: the program's exit code, a warning, and the session's expiry deletes the ticket", async (context) => {
  const scene = await sceneAt(context);
  const { proxy, server: through } = await scene.network();
  const beat = scene.beat();
  // Long enough for the command to end by itself, before it is stopped for the lost connection.
  const options = ["--session-timeout", "20s"];
  const zksh = scene.start(["--json", "lock", ...options, LOCK, "--", ...beat.command()], {
    server: through,
  });
  await beat.started(zksh);
  const rival = await scene.rival();
  proxy.blackhole();
  beat.end();
  const ran = await zksh.result;
  expect(ran.code).toBe(7);
  expect(eventsOf(ran).at(-1)).toMatchObject({ event: "released", how: "expiry" });
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it("the program goes on when the reader of our stderr has gone", async (context) => {
  const scene = await sceneAt(context);
  const [beat, codeFile] = [scene.beat(), scene.file()];
  const program = [
    "node",
    `${import.meta.dirname}/../../bin/zksh.js`,
    "-v",
    "-s",
    scene.server,
    "lock",
    LOCK,
    "--",
  ];
  const script = `{ "$@" 2>&1 >/dev/null; echo $? > ${codeFile}; } | true`;
  // Under another lock, for the sake of somebody who cleans up.
  const zksh = scene.start([
    "lock",
    "/outer",
    "--",
    "sh",
    "-c",
    script,
    "sh",
    ...program,
    ...beat.command(),
  ]);
  await beat.started(zksh);
  await scene.session.setData(await scene.queue(1), Buffer.from("unlock"));
  await zksh.result;
  await eventually(() => expect(readFileSync(codeFile, "utf8")).toBe("121\n"));
});

test("a stopped server: the program gets TERM and KILL, zksh exits with 120, and another holder gets the lock afterwards", async (context) => {
  const scene = await sceneAt(context);
  const { zksh, beat } = await scene.holding(SHORT, { words: ["stubborn"] });
  const rival = await scene.rival();
  server.pause();
  context.onTestFinished(() => server.resume());
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.signals).toEqual(["SIGTERM"]);
  server.resume();
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});
