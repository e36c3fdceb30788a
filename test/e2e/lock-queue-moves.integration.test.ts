/**
 * A queue that moves in every way a queue can: what each waiter's screen says is what whoholds
 * says.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { kill, LOCK, Scene } from "./lock-scene.ts";

let terminals: Terminals;
let server: ZooKeeperServer;

beforeAll(async () => {
  [terminals, server] = await Promise.all([startTerminals(), startServer({ tickTime: 200 })]);
});

afterAll(() => Promise.all([terminals.stop(), server.stop()]));

/**
 * How old what a screen says may be; and the time that a busy machine takes to paint and to look at
 * all of them. The two seconds alone are measured in queue-report.integration.test.ts.
 */
const TRUE_WITHIN_MS = 2_000 + 8_000;

interface Queue {
  /** Process ids. */
  readonly holder: number | undefined;
  readonly waiters: readonly number[];
}

async function whoholds(scene: Scene): Promise<Queue> {
  const { stdout } = await scene.run(["--json", "whoholds", LOCK]);
  const { holders, waiters } = JSON.parse(String(stdout));
  return { holder: holders[0]?.pid, waiters: waiters.map(({ pid }: { pid: number }) => pid) };
}

const LINE =
  /waiting \S+ for \/l: held(?: \S+)? by \S+ pid (\d+) [^;]*; (?:you are next(?: \((\d+) more behind you\))?|(\d+) ahead)/g;

/** The holder, how many are in front, and, where it tells, how many wait in all. */
async function shown(
  terminal: Terminal,
): Promise<{ holder: number; inFront: number; of?: number }> {
  const screen = (await terminal.screen()).replace(/\s+/g, " ");
  const found = [...screen.matchAll(LINE)].at(-1);
  if (!found) throw new Error(`it does not wait: ${screen}`);
  const [, holder, behind, ahead] = found;
  if (ahead !== undefined) return { holder: Number(holder), inFront: Number(ahead) };
  return { holder: Number(holder), inFront: 1, of: 1 + Number(behind ?? 0) };
}

/**
 * Waits until whoholds tells the queue that is expected, and then until all screens tell the same.
 */
async function allTell(scene: Scene, screens: readonly Terminal[], expected: Queue): Promise<void> {
  await eventually(async () => expect(await whoholds(scene)).toEqual(expected), {
    timeoutMs: 30_000,
  });
  await eventually(
    async () => {
      for (const [index, pid] of expected.waiters.entries()) {
        const terminal = screens.find((screen) => screen.pid === pid);
        if (!terminal) throw new Error(`no screen of process ${pid}`);
        const of = index === 0 ? { of: expected.waiters.length } : {};
        expect(await shown(terminal)).toEqual({
          holder: expected.holder,
          inFront: index + 1,
          ...of,
        });
      }
    },
    { timeoutMs: TRUE_WITHIN_MS, message: "the screens do not tell the truth" },
  );
}

test("release, crash, timeout, revoke and session loss", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { proxy, server: through } = await scene.network();
  const contenders: { terminal: Terminal; beat: ReturnType<Scene["beat"]>; pid: number }[] = [];
  const join = async (
    words: readonly string[] = [],
    { address = scene.server, timeout = "6s" } = {},
  ) => {
    const { length: before } = await scene.tickets();
    const beat = scene.beat();
    const lock = ["lock", "--session-timeout", timeout, ...words, LOCK, "--", ...beat.command()];
    const terminal = await terminals.open({ args: ["-s", address, ...lock], columns: 80 });
    await scene.queue(before + 1);
    contenders.push({ terminal, beat, pid: terminal.pid });
  };
  const of = (index: number) => contenders[index] ?? contenders[0] ?? expect.fail("no contender");
  const queue = (holder: number, ...waiters: number[]): Queue => ({
    holder: of(holder).pid,
    waiters: waiters.map((index) => of(index).pid),
  });
  const screensTell = (expected: Queue) =>
    allTell(
      scene,
      contenders.map(({ terminal }) => terminal),
      expected,
    );

  await join();
  await of(0).beat.started();
  for (let n = 1; n <= 2; n++) await join();
  await screensTell(queue(0, 1, 2));

  // Released: its command has ended.
  of(0).beat.end();
  await screensTell(queue(1, 2));

  // Crashed: ZooKeeper ends its session after the timeout.
  await of(1).beat.started();
  kill(of(1).pid, "SIGKILL");
  await screensTell(queue(2));

  await join();
  await join(["-w", "12s"]);
  // Long enough for its screen to be seen while no server answers.
  await join([], { address: through, timeout: "10s" });
  await join();
  await screensTell(queue(2, 3, 4, 5, 6));

  // Gave up: a waiter in the middle.
  await of(4).terminal.shows("gave up on /l after 12s", 30_000);
  expect(await of(4).terminal.left()).toMatchObject({ code: 124 });
  expect((await of(4).terminal.screen()).replace(/\s+/g, " ")).toMatch(
    /gave up on \/l after 12s: still held by/,
  );
  await screensTell(queue(2, 3, 5, 6));

  // Revoked.
  await of(2).beat.started();
  await scene.run(["--yes", "revoke", LOCK]);
  expect(await of(2).terminal.left()).toMatchObject({ code: 121 });
  expect((await of(2).terminal.screen()).replace(/\s+/g, " ")).toMatch(
    /sent TERM .* asked for the lock/,
  );
  await screensTell(queue(3, 5, 6));

  // Its session is lost: told while it lasts, and the place is a new one.
  await proxy.refuse();
  await of(5).terminal.shows(
    /no server has answered for \d+m?s; the place in the queue is kept for \d+m?s more/,
  );
  await screensTell(queue(3, 6));
  await proxy.listen();
  await of(5).terminal.shows(/queuing again, at the end/);
  await screensTell(queue(3, 6, 5));

  for (const index of [3, 6, 5]) {
    await of(index).beat.started();
    of(index).beat.end();
    expect(await of(index).terminal.left()).toMatchObject({ code: 7 });
  }
});
