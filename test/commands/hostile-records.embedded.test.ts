/**
 * Tickets whose records were written by a neighbour: no reader ends with a bug, stalls, or loses
 * its place.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { ConflictError } from "../../src/errors.ts";
import { inspectLock } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { askToYield } from "../../src/recipes/locks/revoke.ts";
import type { Session } from "../../src/session/session.ts";
import { ShellState } from "../../src/shell/shell-state.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { eventually } from "../support/eventually.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { collectUncaught } from "../support/uncaught.ts";
import { runReal } from "./run-real.ts";

const RECORDS = {
  "a time without toString": '{"v":1,"tool":"x","acquired":{"toString":null}}',
  "a request without toString": '{"v":1,"tool":"x","revoke":{"by":{"toString":null}}}',
  "a text of 900 KB": JSON.stringify({ v: 1, tool: "x", why: "y".repeat(900_000) }),
  "deep nesting": `{"v":1,"tool":"x","revoke":{"by":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}}`,
};

let server: Awaited<ReturnType<typeof startEmbeddedServer>>;
let neighbour: Session;
let count = 0;
let path = "";

beforeAll(async () => {
  server = await startEmbeddedServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  neighbour = openFor(server.address);
  path = `/l${count++}`;
  await neighbour.create(path, null);
});

const hold = (data: string) =>
  neighbour.create(`${path}/_c_00000000-0000-0000-0000-000000000000-lock-`, Buffer.from(data), {
    mode: "ephemeralSequential",
  });

describe.each(Object.entries(RECORDS))("%s", (_what, data) => {
  test.each([
    { argv: ["lock", "-n", "PATH", "--", "true"], exit: 75 },
    { argv: ["whoholds", "PATH"], exit: 0 },
    { argv: ["-v", "whoholds", "PATH"], exit: 0 },
    { argv: ["whoholds", "--json", "PATH"], exit: 0 },
    { argv: ["whoholds", "-R", "/"], exit: 0 },
    { argv: ["--yes", "revoke", "PATH"], exit: 0 },
    { argv: ["--yes", "revoke", "--force", "PATH"], exit: 0 },
    { argv: ["elect", "--leader", "PATH"], exit: 1 },
  ])("$argv", async ({ argv, exit }) => {
    await hold(data);
    for (const tty of [true, false]) {
      if (tty && argv.includes("--force")) continue;
      const usedMs = cpuMs();
      const ran = await runReal(
        server.address,
        argv.map((word) => word.replace("PATH", path)),
        { tty },
      );
      expect(ran).toMatchObject({ exit, stderr: expect.not.stringContaining("internal error") });
      expect(ran.stdout.length).toBeLessThan(10_000);
      expect(cpuMs() - usedMs).toBeLessThan(5_000);
    }
  });

  test("a waiter keeps its place and gets the lock", async () => {
    const node = await hold(data);
    const waiter = openFor(server.address);
    const events: string[] = [];
    const lock = new Mutex(waiter, path, { onEvent: ({ event }) => events.push(event) });
    const acquiring = lock.acquire({ refreshMs: 50 });
    await eventually(() => events.includes("waiting"));
    await neighbour.delete(node);
    await (await acquiring).release();
    expect(events.filter((event) => event === "queued")).toHaveLength(1);
  });
});

test("a shell that holds the lock is not ended by a malformed request", async () => {
  const errors = collectUncaught("unhandledRejection");
  const said: string[] = [];
  const session = openFor(server.address);
  const opener = { openSession: async () => session, warnOfCredential: async () => {} };
  const notify = (message: string) => said.push(message);
  const state = new ShellState(opener, { kind: "interactive", notify });
  const lock = await new Mutex(session, path).acquire();
  state.heldLocks.set(path, lock);
  lock.onRevoke((request) => state.releaseRevoked(lock, request));
  const write = (data: string) => neighbour.setData(lock.nodePath, Buffer.from(data));
  await write(RECORDS["a request without toString"]);
  await write('{"v":1,"tool":"x","revoke":{"by":"ann"}}');
  await eventually(() => said.length > 0);
  expect(said).toEqual([`ann asked for ${path}: released`]);
  expect(errors).toEqual([]);
});

test("a lock that cannot be given back is told, and no unhandled rejection", async () => {
  const errors = collectUncaught("unhandledRejection");
  const said: string[] = [];
  const session = openFor(server.address);
  const opener = { openSession: async () => session, warnOfCredential: async () => {} };
  const notify = (message: string) => said.push(message);
  const state = new ShellState(opener, { kind: "interactive", notify });
  const lock = await new Mutex(session, path).acquire();
  state.heldLocks.set(path, lock);
  await neighbour.setAcl(path, [{ perms: 0b1, scheme: "world", id: "anyone" }]);
  state.releaseRevoked(lock, { by: "ann" });
  await eventually(() => said.length > 0);
  expect(said[0]).toMatch(
    /could not be released; the end of this session releases it: not permitted/,
  );
  expect(errors).toEqual([]);
});

test("askToYield gives up on a ticket that keeps changing", async () => {
  await hold('{"v":1,"tool":"zksh"}');
  const [holder] = (await inspectLock(neighbour, path, {})).holders;
  if (!holder) throw new Error("nobody holds it");
  let reads = 0;
  const busy = new Proxy(neighbour, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (key !== "getData") return value.bind(target);
      return async (node: string) => {
        if (++reads > 1_000) throw new Error("it never ends");
        const data = await target.getData(node);
        await target.setData(node, data.data);
        return data;
      };
    },
  });
  const error = await rejection(askToYield(busy, holder, { by: "ann" }, {}));
  expect(error).toBeInstanceOf(ConflictError);
  expect(error).toMatchObject({ reason: "ticket-changing", name: "ConflictError" });
  expect(reads).toBe(10);
});
