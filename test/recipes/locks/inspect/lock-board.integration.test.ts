import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type BoardChange,
  BoardFollower,
} from "../../../../src/recipes/locks/inspect/lock-board.ts";
import { type MultiOp, Permission, type Session } from "../../../../src/session/session.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { record, ticket } from "../../../support/tickets.ts";

let server: string;
let other: Session;

beforeEach(async () => {
  server = await freshChroot();
  other = openFor(server);
  for (const path of ["/app", "/app/quiet", "/app/busy"]) await other.create(path, null);
});

function follow(roots: readonly string[] = ["/app"], tickMs?: number) {
  const session = openFor(server);
  const abort = new AbortController();
  const told = new BoardFollower(roots, tickMs).follow(session, abort.signal);
  onTestFinished(() => abort.abort());
  const next = async () => {
    const { value } = await told.next();
    if (!value) throw new Error("the board has ended");
    return value;
  };
  return { session, next, board: async () => (await next()) as BoardChange };
}

const paths = (reports: BoardChange["reports"]) => reports.map(({ path }) => path);

describe("a board of locks", () => {
  test("has the busiest first, and tells of what has changed since the last look", async () => {
    const first = await ticket(other, "/app/quiet/lock-", record());
    await ticket(other, "/app/busy/lock-", record());
    await ticket(other, "/app/busy/lock-", record());
    const { board } = follow(["/app", "/app/quiet", "/no/such"]);
    const one = await board();
    expect([paths(one.reports), paths(one.changed)]).toEqual([
      ["/app/busy", "/app/quiet"],
      ["/app/busy", "/app/quiet"],
    ]);
    await other.delete(first);
    const two = await board();
    expect([paths(two.reports), two.changed]).toMatchObject([
      ["/app/busy"],
      [{ path: "/app/quiet", holders: [] }],
    ]);
  });

  test("ticks for those who show ages, without asking the server again", async () => {
    await ticket(other, "/app/busy/lock-", record());
    const { board, session } = follow(["/app"], 10);
    const { lookedAt } = await board();
    let asked = 0;
    const getChildren = session.getChildren.bind(session);
    session.getChildren = (...args: Parameters<typeof getChildren>) => {
      asked += 1;
      return getChildren(...args);
    };
    expect(await board()).toMatchObject({ lookedAt, changed: [] });
    expect(await board()).toMatchObject({ lookedAt, changed: [] });
    expect(asked).toBe(0);
  });

  test("is looked at every two seconds, and more rarely the more contenders there are", async () => {
    const pauseOf = async () => {
      const { lookedAt, nextLookAt } = await follow().board();
      return nextLookAt - lookedAt;
    };
    expect(await pauseOf()).toBeGreaterThanOrEqual(2_000);
    const path = "/app/busy/lock-";
    await other.multi(
      Array.from(
        { length: 200 },
        (): MultiOp => ({ op: "create", path, mode: "ephemeralSequential" }),
      ),
    );
    expect(await pauseOf()).toBeGreaterThanOrEqual(20_000);
  });

  test("names a znode that it may not read once, and goes on", async () => {
    await other.create("/app/hidden", null, {
      acl: [{ perms: Permission.create, scheme: "world", id: "anyone" }],
    });
    const { next, board } = follow();
    expect(await next()).toMatchObject({ event: "unreadable", path: "/app/hidden" });
    expect((await board()).reports).toEqual([]);
    await ticket(other, "/app/busy/lock-", record());
    expect(paths((await board()).reports)).toEqual(["/app/busy"]);
  });
});
