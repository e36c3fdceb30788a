import { describe, expect, test } from "vitest";
import { ConnectionError, PermissionError } from "../../../src/errors.ts";
import {
  type DeletedTree,
  type DeleteTreeOptions,
  deleteTree,
} from "../../../src/recipes/trees/delete-tree.ts";
import { joinPath } from "../../../src/session/path.ts";
import { StubSession } from "../../commands/stub-session.ts";

function refused(path: string): PermissionError {
  return new PermissionError("no-auth", `not permitted: ${path}`, { code: -102, path });
}

function remove(
  session: StubSession,
  root: string,
  options: Partial<DeleteTreeOptions> = {},
): Promise<DeletedTree> {
  return deleteTree(session.asSession(), root, {
    signal: new AbortController().signal,
    ...options,
  });
}

/** A tree of `width` children on each of `depth` levels below /t. */
function tree(width: number, depth: number): Record<string, string> {
  const paths = ["/t"];
  const grow = (parent: string, levels: number) => {
    for (let i = 0; i < width && levels > 0; i++) {
      paths.push(joinPath(parent, String(i)));
      grow(joinPath(parent, String(i)), levels - 1);
    }
  };
  grow("/t", depth);
  return Object.fromEntries(paths.map((path) => [path, ""]));
}

describe("deleteTree", () => {
  test.each([
    { width: 1, depth: 30, batchSize: 1000 },
    { width: 3, depth: 4, batchSize: 7 },
    { width: 3, depth: 4, batchSize: 1 },
    { width: 120, depth: 1, batchSize: 2 },
  ])("deletes $width × $depth in batches of $batchSize", async ({ width, depth, batchSize }) => {
    const given = tree(width, depth);
    const session = new StubSession(given);
    const progress: number[] = [];
    const onProgress = (done: number) => void progress.push(done);
    const { deleted, failures } = await remove(session, "/t", { batchSize, onProgress });
    expect([deleted, failures, session.paths()]).toEqual([Object.keys(given).length, [], ["/"]]);
    expect(progress.at(-1)).toBe(deleted);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  test("keeps requests well below a server's limit, however long the names", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `/t/${"x".repeat(50_000)}${i}`);
    const session = new StubSession(Object.fromEntries(["/t", ...names].map((path) => [path, ""])));
    await remove(session, "/t");
    const lengths = session.asked
      .filter((request) => request.startsWith("multi "))
      .map((request) => request.length);
    expect(lengths.length).toBeGreaterThan(5);
    expect(Math.max(...lengths)).toBeLessThan(400_000);
  });

  test("deletes all but what is refused and its parents, and names only what is refused", async () => {
    const session = new StubSession(tree(3, 3), { "/t/1/2/0": refused("/t/1/2/0") });
    const { deleted, failures } = await remove(session, "/t", { batchSize: 5 });
    expect(session.paths()).toEqual(["/", "/t", "/t/1", "/t/1/2", "/t/1/2/0"]);
    expect([deleted, failures.map(({ path }) => path)]).toEqual([36, ["/t/1/2/0"]]);
  });

  test("names a znode that it could not list for that reason", async () => {
    const session = new StubSession({ "/t": "", "/t/a": "", "/t/a/b": "" });
    const answer = session.multiRead.bind(session);
    session.multiRead = async (ops, options) =>
      (await answer(ops, options)).map((result) =>
        result.path === "/t/a" ? { op: "error", path: "/t/a", error: refused("/t/a") } : result,
      );
    const { failures } = await remove(session, "/t");
    expect(failures.map(({ path, error }) => [path, error.reason])).toEqual([["/t/a", "no-auth"]]);
  });

  test("deletes znodes that appear meanwhile", async () => {
    const session = new StubSession(tree(2, 2));
    const answer = session.multi.bind(session);
    let born = 0;
    session.multi = async (ops, options) => {
      if (born < 2) await session.create(`/t/1/new${born++}`, null);
      return answer(ops, options);
    };
    const { deleted, failures } = await remove(session, "/t");
    expect([deleted, failures, session.paths()]).toEqual([9, [], ["/"]]);
  });

  test("gives up on a znode that gets new children again and again", async () => {
    const session = new StubSession(tree(1, 1));
    const answer = session.delete.bind(session);
    let born = 0;
    session.multi = async () => {
      throw refused("/t");
    };
    session.delete = async (path, options) => {
      if (path === "/t") await session.create(`/t/new${born++}`, null);
      return answer(path, options);
    };
    const { failures } = await remove(session, "/t");
    expect(failures.map(({ path, error }) => [path, error.reason])).toEqual([["/t", "not-empty"]]);
  });

  test("does not count znodes that another client deleted", async () => {
    const session = new StubSession(tree(2, 1));
    const answer = session.multi.bind(session);
    session.multi = async (ops, options) => {
      await session.delete("/t/1");
      return answer(ops, options);
    };
    expect(await remove(session, "/t")).toEqual({ deleted: 2, failures: [] });
  });

  test("throws when the root is missing", async () => {
    await expect(remove(new StubSession(), "/t")).rejects.toThrow("no such znode: /t (NoNode)");
  });

  const lost = () => new ConnectionError("connection-loss", "the connection was lost");

  test("asks what became of a transaction whose answer was lost: done", async () => {
    const session = new StubSession(tree(3, 1));
    const answer = session.multi.bind(session);
    session.multi = async (ops, options) => {
      await answer(ops, options);
      throw lost();
    };
    expect(await remove(session, "/t")).toEqual({ deleted: 4, failures: [] });
    expect([
      session.paths(),
      session.asked.filter((request) => request.startsWith("delete")),
    ]).toEqual([
      ["/"],
      // Those of the transaction.
      ["delete /t/0", "delete /t/1", "delete /t/2", "delete /t"],
    ]);
  });

  test("asks what became of a transaction whose answer was lost: not done", async () => {
    const session = new StubSession(tree(3, 1));
    session.multi = async () => {
      throw lost();
    };
    expect(await remove(session, "/t")).toEqual({ deleted: 4, failures: [] });
    expect(session.paths()).toEqual(["/"]);
  });

  test("repeats single deletes whose answer was lost", async () => {
    const session = new StubSession(tree(3, 1));
    const answer = session.delete.bind(session);
    const tries = new Map<string, number>();
    session.delete = async (path, options) => {
      const count = tries.get(path) ?? 0;
      tries.set(path, count + 1);
      // Of one the request was lost, of another only the answer.
      if (path !== "/t/1" || count > 0) await answer(path, options);
      if (count === 0 && path !== "/t/2") throw lost();
    };
    expect(await remove(session, "/t", { batchSize: 1 })).toEqual({ deleted: 4, failures: [] });
    expect([session.paths(), tries.get("/t/2")]).toEqual([["/"], 1]);
  });

  test("throws when connection after connection is lost, because the outcome is unknown", async () => {
    const session = new StubSession(tree(2, 1));
    session.delete = async () => {
      throw lost();
    };
    await expect(remove(session, "/t", { batchSize: 1 })).rejects.toThrow(
      "the connection was lost",
    );
  });

  test("throws when the session has ended", async () => {
    const session = new StubSession(tree(2, 1));
    session.multi = async () => {
      throw new ConnectionError("session-expired", "the session has expired");
    };
    await expect(remove(session, "/t")).rejects.toThrow("the session has expired");
  });

  test("deletes while it is still listing", async () => {
    const session = new StubSession(tree(60, 2));
    await remove(session, "/t", { batchSize: 50 });
    const kinds = session.asked
      .filter((request) => request.startsWith("multi"))
      .map((request) => request.split(" ")[0]);
    expect(kinds.indexOf("multi")).toBeLessThan(kinds.lastIndexOf("multiRead"));
  });

  test("ends when its signal aborts", async () => {
    const controller = new AbortController();
    const session = new StubSession(tree(30, 1));
    const onProgress = () => controller.abort();
    await expect(
      remove(session, "/t", { batchSize: 2, signal: controller.signal, onProgress }),
    ).rejects.toThrow("interrupted");
    expect(session.paths()).toContain("/t");
  });
});
