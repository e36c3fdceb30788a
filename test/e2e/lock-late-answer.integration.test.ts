/**
 * A server, or zksh itself, was slow before the program could be started, and is well again. Little
 * is left of the time for which the lock is provably held, counted from what was sent before: a
 * program that is started now would be stopped at once.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, sleep } from "../support/eventually.ts";
import type { ZkshProcess } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { type Beat, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** Long enough to connect, start and prove on a busy machine in what is left of it. */
const T = 12_000;
const ZKSH_TIMEOUT_MS = 8 * T;
/** A server that answers late is waited for: 0.85 T is longer than zksh waits by itself. */
const SESSION = ["--session-timeout", `${T}ms`, "--connect-timeout", `${2 * T}ms`];

let server: ZooKeeperServer;

beforeAll(async () => {
  server = await startServer({ tickTime: 200 });
});

afterAll(() => server.stop());

/** A network that holds the first handshake back; resolves when that was long enough. */
async function lateNetwork(
  scene: Scene,
  lateMs: number,
): Promise<{ through: string; late(): Promise<void> }> {
  const { proxy, server: through } = await scene.network();
  const asked = new Promise<void>((resolve) => {
    proxy.onBytes = () => resolve();
  });
  proxy.stall();
  const late = async () => {
    await asked;
    await sleep(lateMs);
    proxy.resume();
  };
  return { through, late };
}

async function started(beat: Beat, zksh: ZkshProcess): Promise<void> {
  await eventually(() => expect(beat.hasRun, zksh.stderr).toBe(true), { timeoutMs: 3 * T });
  await beat.started(zksh);
}

/** Longer than what is proved at any time. */
async function runsOn(beat: Beat): Promise<void> {
  await eventually(() => expect(beat.lastAt - (beat.lines[0]?.at ?? 0)).toBeGreaterThan(T), {
    timeoutMs: 3 * T,
  });
}

it.for([
  {
    name: "the session can still be proved alive: the program waits for that",
    lateMs: 0.55 * T,
    says: /^$/,
  },
  {
    // Mostly it queues again. A beat that is answered in what is left, or a session that was given
    // up before the answer came, need no other place in the queue.
    name: "hardly any time is left: it proves the session or queues again, and runs the program once",
    lateMs: 0.85 * T,
    says: /^$|queuing again, at the end\n$/,
  },
])("$name", async ({ lateMs, says }, context) => {
  const scene = await Scene.at(context, server.address);
  const { through, late } = await lateNetwork(scene, lateMs);
  const beat = scene.beat();
  const zksh = scene.start(["lock", ...SESSION, LOCK, "--", ...beat.command()], {
    server: through,
    timeoutMs: ZKSH_TIMEOUT_MS,
  });
  await late();
  await started(beat, zksh);
  await runsOn(beat);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7, stderr: expect.stringMatching(says) });
  expect(beat.lines.filter(({ word }) => word.startsWith("pid:"))).toHaveLength(1);
});

it("without a program the lock is held when zksh says so", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { through, late } = await lateNetwork(scene, 0.85 * T);
  const zksh = scene.start(["lock", ...SESSION, LOCK], {
    server: through,
    timeoutMs: ZKSH_TIMEOUT_MS,
  });
  await late();
  await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"), { timeoutMs: 2 * T });
  await sleep(0.5 * T);
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 0 });
});

it("a signal meanwhile: the program does not start, nothing is reported lost, and no ticket is left", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { through, late } = await lateNetwork(scene, 0.55 * T);
  const beat = scene.beat();
  const zksh = scene.start(["lock", ...SESSION, LOCK, "--", ...beat.command()], {
    server: through,
    timeoutMs: ZKSH_TIMEOUT_MS,
  });
  await late();
  await scene.queue(1);
  zksh.kill("SIGTERM");
  expect(await zksh.result).toMatchObject({ code: 143, stderr: "interrupted\n" });
  expect(beat.hasRun).toBe(false);
  expect(await scene.tickets()).toEqual([]);
});

it("zksh was frozen between the lock and the start: the same wait", async (context) => {
  // What is left of the lease after the pause must be less than the program needs, and enough to
  // connect anew on a busy machine: 0.95 (young session) - 0.05 to 0.2 (start) - 0.5 (pause).
  const options = [...SESSION, "--grace", `${0.35 * T}ms`];
  const scene = await Scene.at(context, server.address);
  const { proxy, server: through } = await scene.network();
  const [beat, slow] = [scene.beat(), scene.slowStart()];
  const zksh = scene.start(["lock", ...options, LOCK, "--", ...beat.command()], {
    server: through,
    env: slow.env,
    timeoutMs: ZKSH_TIMEOUT_MS,
  });
  await slow.reached();
  zksh.kill("SIGSTOP");
  slow.goOn();
  await sleep(0.5 * T);
  // It connects anew, which takes longer than the start would.
  proxy.delay(50);
  zksh.kill("SIGCONT");
  await started(beat, zksh);
  await runsOn(beat);
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
  expect(beat.lines.filter(({ word }) => word.startsWith("pid:"))).toHaveLength(1);
});
