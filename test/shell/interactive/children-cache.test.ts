import { describe, expect, test } from "vitest";
import { ConnectionError } from "../../../src/errors.ts";
import type { Session } from "../../../src/session/session.ts";
import { ChildrenCache } from "../../../src/shell/interactive/children-cache.ts";

function stub(numChildren: number, state = "connected"): { session: Session; asked: string[] } {
  const asked: string[] = [];
  const session = {
    state,
    async exists(path: string) {
      asked.push(`exists ${path}`);
      return { numChildren };
    },
    async getChildren(path: string) {
      asked.push(`getChildren ${path}`);
      if (path === "/bad") throw new ConnectionError("connection-loss", "lost");
      return ["b", "a"];
    },
  };
  return { session: session as unknown as Session, asked };
}

describe("ChildrenCache", () => {
  test("asks once, until it is old or cleared", async () => {
    let now = 0;
    const cache = new ChildrenCache(() => now);
    const { session, asked } = stub(2);
    expect(await Promise.all([cache.list("/", session), cache.list("/", session)])).toEqual([
      { names: ["b", "a"] },
      { names: ["b", "a"] },
    ]);
    expect(asked).toEqual(["exists /", "getChildren /"]);
    now = 5_000;
    await cache.list("/", session);
    expect(asked.length).toBe(4);
    cache.clear();
    await cache.list("/", session);
    expect(asked.length).toBe(6);
  });

  test("loads very many names only if the caller insists, and then caches them", async () => {
    const cache = new ChildrenCache(() => 0);
    const { session, asked } = stub(5_001);
    expect(await cache.list("/", session)).toEqual({ tooMany: 5_001 });
    expect(await cache.list("/", session, { insists: true })).toEqual({ names: ["b", "a"] });
    expect(await cache.list("/", session)).toEqual({ names: ["b", "a"] });
    expect(asked).toEqual(["exists /", "getChildren /"]);
  });

  test("returns no names without a server, and caches no failure", async () => {
    const cache = new ChildrenCache(() => 0);
    expect(await cache.list("/", stub(2, "suspended").session)).toEqual({});
    const { session, asked } = stub(2);
    expect([await cache.list("/bad", session), await cache.list("/bad", session)]).toEqual([
      {},
      {},
    ]);
    expect(asked.length).toBe(4);
  });
});
