import { describe, expect, test } from "vitest";
import { ZnodeFollower } from "../../../src/recipes/watching/follow-znode.ts";
import type { WatchedChange } from "../../../src/recipes/watching/watched-changes.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { openFor } from "../../support/open-session.ts";

const brief = (change: WatchedChange | undefined) => {
  if (change === undefined) return undefined;
  const data = "data" in change ? String(change.data) : undefined;
  const names = change.event === "children" ? [change.added, change.removed] : undefined;
  return [change.event, data, names].filter((part) => part !== undefined);
};

onBothServers((server) => {
  describe("ZnodeFollower", () => {
    test("tells what is there, then each change of data, children and existence", async () => {
      const session = openFor(await server.freshChroot());
      const stop = new AbortController();
      const changes = new ZnodeFollower("/n").follow(session, stop.signal);
      const next = async () => brief((await changes.next()).value as WatchedChange | undefined);
      expect(await next()).toEqual(["absent"]);
      // The next look sets the next watch, so each change is awaited before the one behind it.
      const told = async (change: () => Promise<unknown>) => {
        const coming = next();
        await change();
        return coming;
      };
      expect(await told(() => session.create("/n", Buffer.from("1")))).toEqual(["created", "1"]);
      expect(await told(() => session.setData("/n", Buffer.from("2")))).toEqual(["changed", "2"]);
      expect(await told(() => session.create("/n/c", null))).toEqual([
        "children",
        "2",
        [["c"], []],
      ]);
      expect(await told(() => session.delete("/n/c"))).toEqual(["children", "2", [[], ["c"]]]);
      expect(await told(() => session.delete("/n"))).toEqual(["deleted"]);
      await changes.return(undefined);
    });

    test("tells a znode that was deleted and created again between two looks as both", async () => {
      const session = openFor(await server.freshChroot());
      await session.create("/n", Buffer.from("old"));
      const changes = new ZnodeFollower("/n").follow(session, new AbortController().signal);
      expect(brief((await changes.next()).value as WatchedChange)).toEqual(["current", "old"]);
      await session.multi([
        { op: "delete", path: "/n" },
        { op: "create", path: "/n", data: Buffer.from("new") },
      ]);
      expect(brief((await changes.next()).value as WatchedChange)).toEqual(["deleted"]);
      expect(brief((await changes.next()).value as WatchedChange)).toEqual(["created", "new"]);
      await changes.return(undefined);
    });

    test("removes its watch when the loop is left", async () => {
      const session = openFor(await server.freshChroot());
      await session.create("/n", null);
      const removed: string[] = [];
      const { removeWatch } = session;
      session.removeWatch = (path, ...rest) => {
        removed.push(path);
        return removeWatch.call(session, path, ...rest);
      };
      for await (const change of new ZnodeFollower("/n").follow(
        session,
        new AbortController().signal,
      )) {
        expect(change.event).toBe("current");
        break;
      }
      expect(removed).toEqual(["/n"]);
    });

    test("ends with the session", async () => {
      const session = openFor(await server.freshChroot());
      await session.create("/n", null);
      const changes = new ZnodeFollower("/n").follow(session, new AbortController().signal);
      await changes.next();
      const over = changes.next();
      await session.close();
      expect(await over).toMatchObject({ done: true });
    });
  });
});
