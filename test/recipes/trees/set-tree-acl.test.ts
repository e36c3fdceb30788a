import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  ConnectionError,
  InterruptedError,
  OperationError,
  PermissionError,
} from "../../../src/errors.ts";
import { setTreeAcl } from "../../../src/recipes/trees/set-tree-acl.ts";
import type { Acl, CallOptions, ReadOp, ReadResult, Stat } from "../../../src/session/session.ts";
import { StubSession } from "../../commands/stub-session.ts";

const acl = [{ scheme: "world", id: "anyone", perms: 1 }];
const signal = new AbortController().signal;
const given = { "/t": "", "/t/a": "", "/t/a/b": "", "/t/c": "" };

function refused(path: string): PermissionError {
  return new PermissionError("no-auth", `not permitted: ${path}`, { code: -102, path });
}

/** The paths of a tree of `width` children on each of `depth` levels below /t. */
function tree(width: number, depth: number, top = "/t"): string[] {
  const children = depth === 0 ? [] : Array.from({ length: width }, (_, i) => `${top}/${i}`);
  return [top, ...children.flatMap((path) => tree(width, depth - 1, path))];
}

/** A tree of two levels that nobody keeps. Counts what was told of it, and what became of that. */
class CountingSession extends StubSession {
  readonly #parents: number;
  readonly #children: number;
  #listed = 1;
  #underWay = 0;
  changed = 0;
  mostPending = 0;
  mostUnderWay = 0;

  constructor(parents: number, children: number) {
    super({ "/t": "" });
    this.#parents = parents;
    this.#children = children;
  }

  override async getChildren(): Promise<string[]> {
    return Array.from({ length: this.#parents }, (_, i) => String(i));
  }

  override async multiRead(
    ops: readonly ReadOp[],
    { signal }: CallOptions = {},
  ): Promise<ReadResult[]> {
    if (signal?.aborted) throw new InterruptedError();
    this.#listed += ops.length;
    this.mostPending = Math.max(this.mostPending, this.#listed - this.changed);
    return ops.map(({ path }) => {
      const count = path.split("/").length === 3 ? this.#children : 0;
      return {
        op: "getChildren",
        path,
        children: Array.from({ length: count }, (_, i) => String(i)),
      };
    });
  }

  override async setAcl(
    _path: string,
    _acl: readonly Acl[],
    { signal }: CallOptions = {},
  ): Promise<Stat> {
    if (signal?.aborted) throw new InterruptedError();
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.#underWay);
    await setImmediate();
    this.#underWay -= 1;
    this.changed += 1;
    return {} as Stat;
  }
}

describe("setTreeAcl", () => {
  test("sets the root first, and everything else when what is below it and its siblings is known", async () => {
    const session = new StubSession(given);
    const progress: number[] = [];
    const options = { signal, onProgress: (changed: number) => void progress.push(changed) };
    expect(await setTreeAcl(session.asSession(), "/t", acl, options)).toEqual({
      changed: 4,
      failures: [],
    });
    expect(session.asked).toEqual([
      "getChildren /t",
      "setAcl /t",
      "multiRead /t/a /t/c",
      "multiRead /t/a/b",
      "setAcl /t/a/b",
      "setAcl /t/a",
      "setAcl /t/c",
    ]);
    expect(progress).toEqual([1, 4]);
  });

  test.each([
    { width: 1, depth: 250 },
    { width: 3, depth: 5 },
    { width: 700, depth: 1 },
    { width: 30, depth: 2 },
  ])("an ACL that forbids to list reaches all of $width × $depth", async ({ width, depth }) => {
    const paths = tree(width, depth);
    const session = new StubSession(Object.fromEntries(paths.map((path) => [path, ""])));
    const answer = session.multiRead.bind(session);
    session.multiRead = async (ops, options) =>
      (await answer(ops, options)).map((result) =>
        session.aclOf(result.path) === acl
          ? { op: "error", path: result.path, error: refused(result.path) }
          : result,
      );
    expect(await setTreeAcl(session.asSession(), "/t", acl, { signal })).toEqual({
      changed: paths.length,
      failures: [],
    });
    expect(paths.filter((path) => session.aclOf(path) !== acl)).toEqual([]);
  });

  test("holds a few of 100,000 znodes at a time, with at most 500 requests under way", async () => {
    const session = new CountingSession(100, 1_000);
    expect(await setTreeAcl(session.asSession(), "/t", acl, { signal })).toEqual({
      changed: 100_101,
      failures: [],
    });
    expect(session.mostUnderWay).toBe(500);
    // Requests for 512 znodes each, four of them, and the siblings of one family.
    expect(session.mostPending).toBeLessThan(5_000);
  });

  test("ends when the signal is aborted", async () => {
    const session = new CountingSession(100, 1_000);
    const abort = new AbortController();
    const onProgress = (changed: number) => {
      if (changed > 2_000) abort.abort();
    };
    const setting = setTreeAcl(session.asSession(), "/t", acl, {
      signal: abort.signal,
      onProgress,
    });
    await expect(setting).rejects.toThrow(InterruptedError);
    expect(session.changed).toBeLessThan(3_000);
  });

  test("goes on after a refusal, and names it once", async () => {
    const error = refused("/t/a");
    const session = new StubSession(given, { "/t/a": error });
    const { changed, failures } = await setTreeAcl(session.asSession(), "/t", acl, { signal });
    expect([changed, failures]).toEqual([2, [{ path: "/t/a", error }]]);
  });

  test("names refusals in the order of a walk", async () => {
    const names = [
      "/t",
      "/t/10",
      "/t/9",
      "/t/9a",
      "/t/10/x",
      "/t/10/y",
      "/t/10/x/1",
      "/t/9/x",
      "/t/9/x/1",
      "/t/9a/z",
    ];
    const session = new StubSession(Object.fromEntries(names.map((path) => [path, ""])));
    const { changed, failures } = await setTreeAcl(session.asSession(), "/t", acl, {
      signal,
      version: 7,
    });
    expect([changed, failures.map(({ path }) => path)]).toEqual([0, names]);
  });

  test("names those that it could not list before those that it could not change", async () => {
    const session = new StubSession(given, {
      "/t/c": refused("/t/c"),
      "/t/a/b": refused("/t/a/b"),
    });
    session.setAcl = async (path) => {
      throw refused(path);
    };
    const { failures } = await setTreeAcl(session.asSession(), "/t", acl, { signal });
    expect(failures.map(({ path }) => path)).toEqual(["/t/c", "/t/a/b", "/t", "/t/a"]);
  });

  test("sends one request if the server does not accept the ACL", async () => {
    const session = new StubSession(given);
    let asked = 0;
    session.setAcl = async () => {
      asked += 1;
      throw new OperationError("invalid-acl", "the ACL is not valid", { code: -114 });
    };
    await expect(setTreeAcl(session.asSession(), "/t", acl, { signal })).rejects.toThrow(
      "the ACL is not valid",
    );
    expect(asked).toBe(1);
  });

  test("skips znodes that were deleted meanwhile", async () => {
    const session = new StubSession(given);
    const answer = session.setAcl.bind(session);
    session.setAcl = async (path, list, options) => {
      if (path === "/t") await session.delete("/t/c");
      return answer(path, list, options);
    };
    expect(await setTreeAcl(session.asSession(), "/t", acl, { signal })).toEqual({
      changed: 3,
      failures: [],
    });
  });

  test.each([
    { name: "sets an ACL again whose answer was lost", options: {}, tries: 5 },
    {
      name: "does not where a version was asked for: it is another one now",
      options: { version: 0 },
      tries: 1,
    },
  ])("$name", async ({ options, tries }) => {
    const session = new StubSession(given);
    const answer = session.setAcl.bind(session);
    let asked = 0;
    session.setAcl = async (...request) => {
      const stat = await answer(...request);
      if (++asked === 1) throw new ConnectionError("connection-loss", "the connection was lost");
      return stat;
    };
    const outcome = await setTreeAcl(session.asSession(), "/t", acl, { signal, ...options }).catch(
      String,
    );
    const done = { changed: 4, failures: [] };
    expect([asked, outcome]).toEqual([
      tries,
      tries === 1 ? "ConnectionError: the connection was lost" : done,
    ]);
  });
});
