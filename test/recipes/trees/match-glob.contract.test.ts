import { describe, expect, test } from "vitest";
import { NoNodeError, PermissionError } from "../../../src/errors.ts";
import { matchGlob } from "../../../src/recipes/trees/match-glob.ts";
import { Permission, type Session } from "../../../src/session/session.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { openFor, rejection } from "../../support/open-session.ts";

const { signal } = new AbortController();

function match(session: Session, glob: string, path = glob): Promise<string[] | undefined> {
  return matchGlob(session, { path, glob }, { signal });
}

onBothServers((server) => {
  const plant = async (...paths: string[]) => {
    const session = openFor(await server.freshChroot());
    for (const path of paths) await session.create(path, null);
    return session;
  };

  describe("matchGlob", () => {
    test("finds znodes level by level, sorted, and none that lacks the rest of the path", async () => {
      const session = await plant("/b", "/a", "/a/x1", "/b/x2", "/b/y", "/c", "/a/x1/conf");
      expect(await match(session, "/*/x?")).toEqual(["/a/x1", "/b/x2"]);
      expect(await match(session, "/[a-b]")).toEqual(["/a", "/b"]);
      expect(await match(session, "/*/*/conf")).toEqual(["/a/x1/conf"]);
    });

    test("leaves a znode of exactly that name to the caller", async () => {
      const session = await plant("/a*", "/ab");
      expect(await match(session, "/a*")).toBeUndefined();
    });

    test("matches more znodes than one request reads", async () => {
      const session = await plant("/p");
      const names = Array.from(
        { length: 300 },
        (_, index) => `/p/${String(index).padStart(3, "0")}`,
      );
      await Promise.all(names.map((path) => session.create(path, null)));
      await session.create("/p/299/leaf", null);
      expect(await match(session, "/p/*")).toEqual(names);
      expect(await match(session, "/p/*/l*")).toEqual(["/p/299/leaf"]);
    });

    test("fails where nothing matches", async () => {
      const session = await plant("/a");
      const error = await rejection(match(session, "/a/*/b"));
      expect(error).toBeInstanceOf(NoNodeError);
      expect(error).toMatchObject({ message: "no znode matches /a/*/b" });
    });

    test("fails where a znode may not be listed, instead of leaving it out", async () => {
      const session = await plant("/a", "/a/x");
      await session.create("/z", null, {
        acl: [{ perms: Permission.all, scheme: "digest", id: "u:pFn5dSQXXSXw1EN8FGuvNpf3Eq8=" }],
      });
      expect(await rejection(match(session, "/*/x*"))).toBeInstanceOf(PermissionError);
    });
  });
});
