import { describe, expect, test } from "vitest";
import { inspectLock } from "../../../../src/recipes/locks/inspect/inspect-lock.ts";
import type { MultiOp, Session } from "../../../../src/session/session.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { record } from "../../../support/tickets.ts";

const CONTENDERS = 5_000;
const PER_MULTI = 500;

async function fillQueue(session: Session): Promise<void> {
  await session.create("/lock", null);
  const data = record({ cmd: "deploy.sh", why: "x".repeat(500) });
  for (let i = 0; i < CONTENDERS; i += PER_MULTI) {
    const ops = Array.from({ length: PER_MULTI }, (_, j): MultiOp => {
      const path = `/lock/_c_00000000-0000-4000-8000-${String(i + j).padStart(12, "0")}-lock-`;
      return { op: "create", path, data, mode: "ephemeralSequential" };
    });
    await session.multi(ops);
  }
}

/**
 * Notes each request, and a line where one was made after an answer had come: there a round trip
 * ended.
 */
function countFlights(session: Session): { session: Session; flights: string[][] } {
  const flights: string[][] = [];
  let isAnswered = true;
  const noting = new Proxy(session, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (isAnswered) flights.push([]);
        isAnswered = false;
        flights.at(-1)?.push(String(name));
        const answer = value.apply(target, args);
        const settled = () => {
          isAnswered = true;
        };
        answer.then(settled, settled);
        return answer;
      };
    },
  });
  return { session: noting, flights };
}

describe("a queue of 5,000", () => {
  test("is read in two round trips, without a request for each", async () => {
    const server = await freshChroot();
    await fillQueue(openFor(server));
    const { session, flights } = countFlights(openFor(server));
    const { holders, waiters } = await inspectLock(session, "/lock", {});
    expect([holders.length, waiters.length]).toEqual([1, CONTENDERS - 1]);
    expect(waiters.at(-1)).toMatchObject({ pid: 4711, cmd: "deploy.sh" });
    expect(flights).toEqual([
      ["getData", "getChildren", "getChildren", "getChildren"],
      Array.from({ length: CONTENDERS / 500 }, () => "multiRead"),
    ]);
  });

  test("is not read again by a caller that passes the known tickets", async () => {
    const server = await freshChroot();
    const maker = openFor(server);
    await maker.create("/lock", null);
    for (let i = 0; i < 3; i++)
      await maker.create("/lock/lock-", record(), { mode: "ephemeralSequential" });
    const { session, flights } = countFlights(openFor(server));
    const known = new Map();
    const before = await inspectLock(session, "/lock", { known });
    await maker.delete(before.holders[0]?.node ?? "");
    await maker.create("/lock/lock-", record({ pid: 7 }), { mode: "ephemeralSequential" });
    flights.length = 0;
    const { holders, waiters } = await inspectLock(session, "/lock", { known });
    expect([holders, waiters.map(({ pid }) => pid)]).toMatchObject([
      [{ node: before.waiters[0]?.node }],
      [4711, 7],
    ]);
    expect(flights).toEqual([
      ["getData", "getChildren", "getChildren", "getChildren"],
      ["getData"],
    ]);
    expect(known.size).toBe(3);
  });
});
