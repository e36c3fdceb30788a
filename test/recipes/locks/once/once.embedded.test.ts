import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { Once, type OnceOptions } from "../../../../src/recipes/locks/once/once.ts";
import type { OnceTurn } from "../../../../src/recipes/locks/once/once-turn.ts";
import { CALENDAR } from "../../../../src/recipes/locks/once/period.ts";
import { readRuns } from "../../../../src/recipes/locks/once/runs.ts";
import type { Session } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

let server: EmbeddedServer;
let jobs = 0;

beforeAll(async () => {
  server = await startEmbeddedServer({ tickTimeMs: 100 });
});

afterAll(() => server.stop());

/** Long enough that no test sees its end, which would be within one run in 10^5. */
const per = { lengthMs: 366 * CALENDAR.day.lengthMs };

function job() {
  const key = `/cron/job${++jobs}`;
  const open = (address = server.address) => openFor(address, { timeoutMs: 2_000 });
  const once = (session: Session, options: Partial<OnceOptions> = {}) =>
    new Once(session, key, { per, holder: { who: "ann", host: "web1" }, ...options });
  return { key, open, once };
}

async function turnOf(once: Once): Promise<OnceTurn> {
  const claim = await once.claim();
  if (claim.kind !== "run") throw new Error(`nothing to run: ${claim.kind}`);
  return claim;
}

describe("a job", () => {
  test("that succeeded is done for all others in its period", async () => {
    const { key, open, once } = job();
    const [first, second] = [open(), open()];
    const turn = await turnOf(once(first));
    expect(turn.attempt).toBe(1);
    const waiting = once(second).claim();
    expect(await readRuns(second, key)).toMatchObject([{ state: "running" }]);
    expect(await turn.finish(0)).toBe("delete");
    expect(await waiting).toMatchObject({
      kind: "done",
      attempts: 1,
      run: { state: "ended", code: 0, who: "ann", host: "web1" },
    });
    await eventually(async () => expect(await second.getChildren(key)).toEqual(["runs"]));
  });

  test("that failed is repeated by the next host, as often as there are retries", async () => {
    const { open, once } = job();
    const sessions = [open(), open(), open()] as const;
    await (await turnOf(once(sessions[0], { retries: 1 }))).finish(3);
    const second = await turnOf(once(sessions[1], { retries: 1 }));
    expect(second.attempt).toBe(2);
    await second.finish(4);
    expect(await once(sessions[2], { retries: 1 }).claim()).toMatchObject({
      kind: "failed",
      attempts: 2,
      run: { code: 4 },
    });
  });

  test("whose host crashed counts as failed when the session has ended", async () => {
    const { key, open, once } = job();
    const [crashing, next] = [open(), open()];
    const turn = await turnOf(once(crashing));
    const waiting = once(next, { retries: 1 }).claim();
    server.expireSession(crashing.id);
    const claim = await waiting;
    expect(claim).toMatchObject({ kind: "run", attempt: 2 });
    expect(await readRuns(next, key)).toMatchObject([{ state: "crashed" }, { state: "running" }]);
    await eventually(() => expect(turn.heldForMs()).toBe(0));
    expect(await turn.finish(0)).toBe("expiry");
    expect((await readRuns(next, key))[0]).toMatchObject({ state: "crashed" });
    if (claim.kind === "run") await claim.finish(0);
  });

  test("runs again in the next period, and for another --per", async () => {
    const { open, once } = job();
    const session = open();
    await (await turnOf(once(session, { per: { lengthMs: 200 } }))).finish(0);
    await eventually(async () => {
      const claim = await once(session, { per: { lengthMs: 200 } }).claim();
      expect(claim.kind).toBe("run");
      if (claim.kind === "run") await claim.finish(0);
    });
    await (await turnOf(once(session))).finish(0);
  });

  test("that was not started leaves no record", async () => {
    const { key, open, once } = job();
    const session = open();
    expect(await (await turnOf(once(session))).finish(undefined)).toBe("delete");
    expect(await readRuns(session, key)).toEqual([]);
    await (await turnOf(once(session))).finish(0);
  });
});

describe("the record", () => {
  test("is not written when the ticket was deleted: the run counts as failed", async () => {
    const { key, open, once } = job();
    const session = open();
    const turn = await turnOf(once(session));
    await session.delete(turn.locks[0]?.nodePath ?? "");
    expect(await turn.finish(0)).toBe("missing");
    expect(await readRuns(session, key)).toMatchObject([{ state: "crashed" }]);
  });

  test("is written anew when another client deleted it", async () => {
    const { key, open, once } = job();
    const session = open();
    const turn = await turnOf(once(session));
    const [begun] = await readRuns(session, key);
    await session.delete(begun?.node ?? "");
    expect(await turn.finish(0)).toBe("delete");
    expect(await readRuns(session, key)).toMatchObject([{ state: "ended", code: 0 }]);
  });

  test("is there once, and the lock released, when the reply to its transaction is lost", async () => {
    const { key, open, once } = job();
    const proxy = await startFaultProxy(Number(server.address.split(":")[1]));
    try {
      const [session, other] = [open(proxy.address), open()];
      const turn = await turnOf(once(session));
      let [isSent, isCut] = [false, false];
      proxy.onBytes = (direction, chunk) => {
        if (direction === "to-server") isSent ||= chunk.includes('"exit":0');
        else if (isSent && !isCut) {
          // The transaction has been carried out, and its reply never arrives.
          isCut = true;
          proxy.drop();
        }
      };
      expect(await turn.finish(0)).toBe("delete");
      expect(isCut).toBe(true);
      expect(await readRuns(other, key)).toMatchObject([{ state: "ended", code: 0 }]);
      expect(await other.getChildren(key)).toEqual(["runs"]);
    } finally {
      await proxy.close();
    }
  });

  test("of old periods is pruned, that of the present one never", async () => {
    const { key, open, once } = job();
    const session = open();
    for (let at = 0; at < 5; at++) {
      const lengthMs = 1_000_000_000 + at;
      await (await turnOf(once(session, { per: { lengthMs }, keep: 3 }))).finish(0);
    }
    expect(await readRuns(session, key)).toHaveLength(3);
    for (let at = 0; at < 5; at++)
      await (await turnOf(once(session, { retries: 9, keep: 3 }))).finish(1);
    const runs = await readRuns(session, key);
    expect(runs.filter(({ code }) => code === 1)).toHaveLength(5);
  });
});

test("bad retries and periods are usage errors", () => {
  const { open, once } = job();
  const session = open();
  expect(() => once(session, { retries: -1 })).toThrow("retries");
  expect(() => once(session, { per: { lengthMs: 0 } })).toThrow("period");
});

test("no record is readable where the key does not exist", async () => {
  const { key, open } = job();
  expect(await readRuns(open(), key)).toEqual([]);
});

test("a claim that is cut short leaves no ticket", async () => {
  const { key, open, once } = job();
  const [holder, waiter] = [open(), open()];
  const turn = await turnOf(once(holder));
  const cut = new AbortController();
  const waiting = rejection(once(waiter).claim({ signal: cut.signal }));
  await eventually(async () => expect(await holder.getChildren(key)).toHaveLength(3));
  cut.abort(new Error("cut"));
  expect(await waiting).toMatchObject({ message: "cut" });
  await eventually(async () => expect(await holder.getChildren(key)).toHaveLength(2));
  await turn.finish(0);
});
