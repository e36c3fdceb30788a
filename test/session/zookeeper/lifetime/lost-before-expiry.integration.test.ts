import { once } from "node:events";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { LostReason, Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { deferred, eventually, sleep } from "../../../support/eventually.ts";
import { type Direction, startFaultProxy } from "../../../support/fault-proxy.ts";
import { ended, spawnTracked } from "../../../support/tracked-process.ts";
import { startServer, type ZooKeeperServer } from "../../../support/zookeeper-server.ts";

// A lock is safe only if its holder knows that it has lost it before anybody else can get it.
// Everything here is about that order, with a real server that expires real sessions and a second
// client that sees the ephemeral znode go.

const TIMEOUT_MS = 4_000;
const PING_MS = TIMEOUT_MS / 3;
const RUNS = 20;
/** How long a server may take to expire a session it has just heard of, and then some. */
const GONE_WITHIN_MS = 15_000;

/** More than the pause that fixtures/stopped-process.ts looks for. */
const LEAST_STOP_MS = 4_000;

const loopDelay = monitorEventLoopDelay({ resolution: 5 });

let server: ZooKeeperServer;
let observer: Session;

beforeAll(async () => {
  server = await startServer();
  observer = await observe(server);
  loopDelay.enable();
});

afterAll(async () => {
  loopDelay.disable();
  await observer.close();
  await server.stop();
});

function addressOf({ port }: { readonly port: number }): { host: string; port: number } {
  return { host: "127.0.0.1", port };
}

/**
 * A client that sees what everybody but the victim sees: straight to the server, with a session
 * that outlives any fault.
 */
async function observe(target: ZooKeeperServer): Promise<Session> {
  const session = openSession({ servers: [addressOf(target)], timeoutMs: 60_000 });
  await session.connected();
  return session;
}

/** What happened to one session, in milliseconds of this process's clock. */
interface Story {
  readonly session: Session;
  /**
   * When it stopped believing in its connection: suspended, or lost at once when its last answers
   * had been slow.
   */
  readonly doubtedAt: number | undefined;
  readonly lostAt: number | undefined;
  readonly reason: LostReason | undefined;
  /**
   * When the observer saw the ephemeral znode vanish, and what the session believed at that moment.
   */
  readonly gone: Promise<{ at: number; state: string; isAlive: boolean }>;
}

/**
 * Opens a session with an ephemeral znode that `watcher` watches, and takes down what becomes of
 * both.
 */
async function holdEphemeral(port: number, path: string, watcher: Session): Promise<Story> {
  const session = openSession({ servers: [addressOf({ port })], timeoutMs: TIMEOUT_MS });
  await session.create(path, null, { mode: "ephemeral" });
  const gone = deferred<{ at: number; state: string; isAlive: boolean }>();
  const story = {
    session,
    doubtedAt: undefined as number | undefined,
    lostAt: undefined as number | undefined,
    reason: undefined as LostReason | undefined,
    gone: gone.promise,
  };
  session.onState(({ state, reason }) => {
    if (state !== "connected") story.doubtedAt ??= performance.now();
    if (state !== "lost") return;
    story.lostAt = performance.now();
    story.reason = reason;
  });
  await watcher.exists(path, {
    watch: ({ type }) => {
      if (type !== "deleted")
        return gone.reject(new Error(`the observer heard "${type}" about ${path}`));
      gone.resolve({ at: performance.now(), state: session.state, isAlive: session.isAlive() });
    },
  });
  return story;
}

/** Checks the order of a story that began to go wrong at `faultAt`. */
async function expectLostFirst(
  story: Story,
  faultAt: number,
  expect: typeof import("vitest").expect,
): Promise<void> {
  const gone = await eventually(() => story.gone, {
    timeoutMs: GONE_WITHIN_MS,
    message: "the znode did not go",
  });
  // This process may have been late itself, on a busy machine; that is not what is judged.
  const lateMs = loopDelay.max / 1e6;
  const after = (at: number | undefined) => (at ?? Number.POSITIVE_INFINITY) - faultAt;
  expect(after(story.doubtedAt)).toBeLessThanOrEqual((TIMEOUT_MS * 2) / 3 + lateMs);
  expect(after(story.lostAt)).toBeLessThanOrEqual(TIMEOUT_MS * 0.95 + lateMs);
  expect(after(story.lostAt)).toBeLessThan(after(gone.at));
  expect(gone).toMatchObject({ state: "lost", isAlive: false });
  expect(story.reason).toBe("expired");
}

describe.concurrent("a session that no server hears", () => {
  test(`is lost before the server expires it, ${RUNS} times out of ${RUNS}`, async ({
    expect,
    onTestFinished,
  }) => {
    const proxy = await startFaultProxy(server.port);
    onTestFinished(() => proxy.close());
    // Spread over a whole ping cycle, so that the line goes dead in every phase of it.
    const stories = await Promise.all(
      Array.from({ length: RUNS }, async (_, run) => {
        await sleep((run * PING_MS) / RUNS);
        return holdEphemeral(proxy.port, `/blackhole-${run}`, observer);
      }),
    );
    const faultAt = performance.now();
    proxy.blackhole();
    await Promise.all(stories.map((story) => expectLostFirst(story, faultAt, expect)));
    await Promise.all(stories.map(({ session }) => session.close()));
  });

  test("is lost before the server expires it when one direction of the line is dead", async ({
    expect,
    onTestFinished,
  }) => {
    const broken = async (direction: Direction) => {
      const proxy = await startFaultProxy(server.port);
      onTestFinished(() => proxy.close());
      const story = await holdEphemeral(proxy.port, `/stalled-${direction}`, observer);
      const faultAt = performance.now();
      proxy.stall(direction);
      await expectLostFirst(story, faultAt, expect);
      await story.session.close();
    };
    await Promise.all([broken("to-server"), broken("to-client")]);
  });

  test("is lost on time while the server's process is stopped", async ({
    expect,
    onTestFinished,
  }) => {
    const stopped = await startServer();
    onTestFinished(() => stopped.stop());
    const watcher = await observe(stopped);
    const story = await holdEphemeral(stopped.port, "/stopped-server", watcher);
    const faultAt = performance.now();
    stopped.pause();
    await sleep(TIMEOUT_MS + 500);
    stopped.resume();
    await expectLostFirst(story, faultAt, expect);
    await Promise.all([story.session.close(), watcher.close()]);
  });

  test("is lost on time when the server is killed, and not revived by its return", async ({
    expect,
    onTestFinished,
  }) => {
    const killed = await startServer();
    onTestFinished(() => killed.stop());
    const watcher = await observe(killed);
    const story = await holdEphemeral(killed.port, "/killed-server", watcher);
    const faultAt = performance.now();
    await killed.kill();
    await sleep(TIMEOUT_MS - 500);
    await killed.start();
    await expectLostFirst(story, faultAt, expect);
    await Promise.all([story.session.close(), watcher.close()]);
  });

  test("says so at the first look after its own process was stopped, and is lost then", async ({
    expect,
  }) => {
    const path = "/stopped-process";
    const program = join(import.meta.dirname, "../../fixtures/stopped-process.ts");
    const child = spawnTracked(
      process.execPath,
      ["--import", "tsx", program, server.address, path],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let written = "";
    child.stdout?.on("data", (chunk) => {
      written += chunk;
    });
    const lines = () =>
      written
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));

    await eventually(() => expect(lines()).toEqual([{ ready: true }]));
    const gone = deferred<string>();
    expect(await observer.exists(path, { watch: ({ type }) => gone.resolve(type) })).toBeDefined();
    child.kill("SIGSTOP");
    // The program takes a shorter stop for a hiccup; and it may have been near its end already.
    const [how] = await Promise.all([
      eventually(() => gone.promise, { timeoutMs: GONE_WITHIN_MS }),
      sleep(LEAST_STOP_MS),
    ]);
    expect(how).toBe("deleted");
    child.kill("SIGCONT");

    const closed = once(child, "close");
    await ended(child);
    await closed;
    expect(lines()).toEqual([
      { ready: true },
      // Nothing has told it yet, but the clocks have.
      { isAlive: false, aliveForMs: 0, state: "connected" },
      { state: "lost", reason: "expired" },
    ]);
    expect(child.exitCode).toBe(0);
  });
});
