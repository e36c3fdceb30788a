import { beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { openFresh } from "../support/fresh-session.ts";

let session: Session;

beforeEach(async () => {
  session = await openFresh();
});

describe("watches", () => {
  test("removeWatch keeps a listener from hearing of what comes, and leaves the others", async () => {
    const heard: string[] = [];
    const [gone, stays] = [() => heard.push("gone"), () => heard.push("stays")];
    await session.exists("/n", { watch: gone });
    await session.exists("/n", { watch: stays });
    await session.removeWatch("/n", gone);
    await session.create("/n", null);
    await eventually(() => heard.length > 0);
    expect(heard).toEqual(["stays"]);
    // The last of a path takes the watch off the server too, where removing it again finds nothing.
    await session.getData("/n", { watch: gone });
    await session.removeWatch("/n", gone);
    await session.removeWatch("/n", gone);
    await session.setData("/n", null);
    await session.sync("/");
    expect(heard).toEqual(["stays"]);
  });

  test("removeWatch takes off one kind, or all, and tells which there were", async () => {
    const heard: string[] = [];
    const listener = ({ type }: { type: string }) => heard.push(type);
    await session.create("/n", null);
    await session.getData("/n", { watch: listener });
    await session.getChildren("/n", { watch: listener });
    await session.addWatch("/m", "recursive", listener);
    expect(await session.removeWatch("/n", listener, { kind: "data" })).toEqual(["data"]);
    expect(await session.removeWatch("/n", listener, { kind: "data" })).toEqual([]);
    expect(await session.removeWatch("/m", listener, { kind: "children" })).toEqual([]);
    await session.setData("/n", null);
    await session.create("/n/a", null);
    await session.create("/m", null);
    await session.sync("/");
    expect(heard).toEqual(["children-changed", "created"]);
    await session.getData("/m", { watch: listener });
    await session.getChildren("/m", { watch: listener });
    expect(await session.removeWatch("/m", listener)).toEqual(["children", "data", "persistent"]);
    await session.setData("/m", null);
    await session.sync("/");
    expect(heard).toHaveLength(2);
  });

  test("removeWatch of one kind leaves the others of the path, on the server too", async () => {
    const heard: string[] = [];
    const listener = ({ type }: { type: string }) => heard.push(type);
    await session.create("/n", null);
    await session.addWatch("/n", "persistent", listener);
    await session.getData("/n", { watch: listener });
    expect(await session.removeWatch("/n", listener, { kind: "data" })).toEqual(["data"]);
    await session.setData("/n", null);
    await session.setData("/n", null);
    await session.sync("/");
    expect(heard).toEqual(["data-changed", "data-changed"]);
  });

  test("addWatch hears of every change until it is removed", async () => {
    const heard: string[] = [];
    const listener = ({ type, path }: { type: string; path: string }) =>
      heard.push(`${type} ${path}`);
    await session.create("/n", null);
    await session.addWatch("/n", "persistent", listener);
    await session.setData("/n", null);
    await session.setData("/n", null);
    await session.create("/n/a", null);
    await session.setData("/n/a", null);
    await session.sync("/");
    expect(heard).toEqual(["data-changed /n", "data-changed /n", "children-changed /n"]);
    await session.removeWatch("/n", listener);
    await session.setData("/n", null);
    await session.sync("/");
    expect(heard).toHaveLength(3);
  });

  test("addWatch hears of everything below when it is recursive", async () => {
    const heard: string[] = [];
    await session.addWatch("/", "recursive", ({ type, path }) => heard.push(`${type} ${path}`));
    await session.create("/n", null);
    await session.create("/n/a", null);
    await session.setData("/n/a", null);
    await session.delete("/n/a");
    await session.sync("/");
    expect(heard).toEqual(["created /n", "created /n/a", "data-changed /n/a", "deleted /n/a"]);
  });
});
