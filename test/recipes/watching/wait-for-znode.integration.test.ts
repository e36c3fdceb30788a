import { expect, test, vi } from "vitest";
import { type Condition, waitForZnode } from "../../../src/recipes/watching/wait-for-znode.ts";
import type { Session } from "../../../src/session/session.ts";
import { eventually } from "../../support/eventually.ts";
import { fourLetterWord } from "../../support/four-letter-word.ts";
import { openFor } from "../../support/open-session.ts";
import { freshChroot, sharedServer } from "../../support/shared-server.ts";

/** Whether any session watches the znode itself; the server does not list watches of children. */
async function isWatched(server: string, path: string): Promise<boolean> {
  const full = `${server.slice(server.indexOf("/"))}${path}`;
  return (await fourLetterWord(sharedServer(), "wchp")).split("\n").includes(full);
}

interface Case {
  readonly condition: Condition;
  /** Changes after which the condition is still unmet. */
  readonly before: (other: Session) => Promise<unknown>;
  readonly change: (other: Session) => Promise<unknown>;
}

const cases: Case[] = [
  {
    condition: { kind: "exists" },
    before: (other) => other.create("/b", null),
    change: (other) => other.create("/a", null),
  },
  {
    condition: { kind: "gone" },
    before: async (other) => {
      await other.setData("/a", Buffer.from("1"));
    },
    change: (other) => other.delete("/a"),
  },
  {
    condition: { kind: "value", text: "ready" },
    before: (other) => other.create("/a", Buffer.from("not yet")),
    change: (other) => other.setData("/a", Buffer.from("ready")),
  },
];

test.each(cases)("waits for $condition and leaves no watch", async (row) => {
  const server = await freshChroot();
  const other = openFor(server);
  if (row.condition.kind === "gone") await other.create("/a", null);
  const session = openFor(server);
  const { signal } = new AbortController();
  let isOver = false;
  const waited = waitForZnode("/a", row.condition, { signal, session: async () => session });
  const over = waited.then(() => {
    isOver = true;
  });
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(true));
  await row.before(other);
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(true));
  expect(isOver).toBe(false);
  await row.change(other);
  await over;
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(false));
});

test("waits for a number of children and removes the watch of children", async () => {
  const server = await freshChroot();
  const [other, session] = [openFor(server), openFor(server)];
  const listed = vi.spyOn(session, "getChildren");
  const removed = vi.spyOn(session, "removeWatch");
  const { signal } = new AbortController();
  const condition = { kind: "children", count: 2 } as const;
  const waited = waitForZnode("/a", condition, { signal, session: async () => session });
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(true));
  await other.create("/a", null);
  await other.create("/a/1", null);
  await eventually(() => expect(listed.mock.settledResults.at(-1)?.value).toEqual(["1"]));
  expect(removed).not.toHaveBeenCalled();
  await other.create("/a/2", null);
  await waited;
  expect(await removed.mock.results[0]?.value).toEqual(["children"]);
});

test("goes on with the next session when one is lost", async () => {
  const server = await freshChroot();
  const [first, second] = [openFor(server), openFor(server)];
  const sessions = [first, second];
  const { signal } = new AbortController();
  const session = async () => sessions.shift() ?? second;
  const waited = waitForZnode("/a", { kind: "exists" }, { signal, session });
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(true));
  await first.close();
  await second.create("/a", null);
  await waited;
  expect(sessions).toEqual([]);
});

test("leaves no watch where it is interrupted", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  const controller = new AbortController();
  const options = { signal: controller.signal, session: async () => session };
  const waited = waitForZnode("/a", { kind: "exists" }, options);
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(true));
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(waited).rejects.toBe(reason);
  await eventually(async () => expect(await isWatched(server, "/a")).toBe(false));
});
