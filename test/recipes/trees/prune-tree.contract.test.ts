import { describe, expect, test } from "vitest";
import { PermissionError } from "../../../src/errors.ts";
import { deleteZnodes, surplusBelow } from "../../../src/recipes/trees/prune-tree.ts";
import { Permission } from "../../../src/session/session.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { openFor, rejection } from "../../support/open-session.ts";

const OTHERS_ONLY = [
  { perms: Permission.all, scheme: "digest", id: "u:pFn5dSQXXSXw1EN8FGuvNpf3Eq8=" },
];

onBothServers((server) => {
  const { signal } = new AbortController();
  const plant = async (...paths: string[]) => {
    const session = openFor(await server.freshChroot());
    for (const path of paths) await session.create(path, null);
    return session;
  };

  describe("the surplus of a tree", () => {
    test("is what is not kept, children first, without the root and without ephemerals", async () => {
      const session = await plant("/t", "/t/kept", "/t/old", "/t/old/leaf");
      await session.create("/t/live", null, { mode: "ephemeral" });
      const isKept = (path: string) => path === "/t/kept";
      const surplus = await surplusBelow(session, "/t", { isKept, signal });
      expect(surplus).toEqual(["/t/old/leaf", "/t/old"]);
      expect(await deleteZnodes(session, surplus, signal)).toEqual({ deleted: 2, failures: [] });
      expect((await session.getChildren("/t")).sort()).toEqual(["kept", "live"]);
    });

    test("is not told where a part of the tree cannot be read", async () => {
      const session = await plant("/t", "/t/old");
      await session.create("/t/hidden", null, { acl: OTHERS_ONLY });
      const looking = surplusBelow(session, "/t", { isKept: () => false, signal });
      expect(await rejection(looking)).toBeInstanceOf(PermissionError);
    });
  });

  describe("deleting znodes", () => {
    test("goes on behind one that is not empty, and counts a missing one as deleted", async () => {
      const session = await plant("/t", "/t/full", "/t/full/child", "/t/empty");
      const { deleted, failures } = await deleteZnodes(
        session,
        ["/t/full", "/t/gone", "/t/empty"],
        signal,
      );
      expect(deleted).toBe(2);
      expect(failures).toMatchObject([{ path: "/t/full", error: { reason: "not-empty" } }]);
      expect(await session.getChildren("/t")).toEqual(["full"]);
    });

    test("is cut short by an abort, which tells how many were deleted", async () => {
      const session = await plant("/t", "/t/a");
      const stopped = deleteZnodes(session, ["/t/a"], AbortSignal.abort());
      expect(await rejection(stopped)).toMatchObject({ name: "TreeInterruptedError", done: 0 });
      expect(await session.getChildren("/t")).toEqual(["a"]);
    });
  });
});
