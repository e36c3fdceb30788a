import { describe, expect, test } from "vitest";
import { TreePlan } from "../../../src/recipes/trees/plan-tree.ts";
import { type OnConflict, TreeWriter } from "../../../src/recipes/trees/write-tree.ts";
import type { Session } from "../../../src/session/session.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { openFor, rejection } from "../../support/open-session.ts";

const ZNODES = ["/t", "/t/same", "/t/other", "/t/new"].map((path) => ({
  path,
  data: Buffer.from("data"),
}));

const { signal } = new AbortController();

onBothServers((server) => {
  const planted = async (): Promise<Session> => {
    const session = openFor(await server.freshChroot());
    await session.create("/t", Buffer.from("data"));
    await session.create("/t/same", Buffer.from("data"));
    await session.create("/t/other", Buffer.from("changed"));
    return session;
  };

  describe("TreePlan", () => {
    test.each<OnConflict>(["skip", "overwrite"])(
      "with %s counts what the writer then writes, and writes nothing itself",
      async (onConflict) => {
        const session = await planted();
        const plan = new TreePlan(session, { signal, onConflict });
        await plan.add(ZNODES);
        const planned = await plan.finish();
        expect(await session.exists("/t/new")).toBeUndefined();
        const isOverwritten = onConflict === "overwrite";
        expect(planned).toEqual({
          created: 1,
          overwritten: isOverwritten ? 1 : 0,
          unchanged: 2,
          skipped: isOverwritten ? 0 : 1,
          failures: [],
        });
        const writer = new TreeWriter(session, { signal, onConflict });
        await writer.add(ZNODES);
        expect(await writer.finish()).toEqual(planned);
      },
    );

    test("with fail names the first znode that has other data", async () => {
      const plan = new TreePlan(await planted(), { signal, onConflict: "fail" });
      const error = await rejection(plan.add(ZNODES));
      expect(error).toMatchObject({ message: "/t/other exists with other data" });
      expect(await plan.stopped(error)).toBe(error);
    });
  });
});
