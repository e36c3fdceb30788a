import { describe, expect, test } from "vitest";
import { Election } from "../../../src/recipes/locks/election.ts";
import type { Party } from "../../../src/recipes/locks/holder-record.ts";
import { OPEN_ACL } from "../../../src/session/session.ts";
import { eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

const OWN = [{ perms: 31, scheme: "auth", id: "" }];

/** Collects what an observer is told. */
function collect(leaders: AsyncIterable<Party | undefined>): {
  told: (string | undefined)[];
  ended: Promise<void>;
} {
  const told: (string | undefined)[] = [];
  const ended = (async () => {
    for await (const leader of leaders) told.push(leader && (leader.note ?? leader.who));
  })();
  return { told, ended };
}

describe("Election", () => {
  test("has one leader, and then the next", async () => {
    const chroot = await freshChroot();
    const [one, two] = [openFor(chroot), openFor(chroot)];
    const first = await new Election(one, "/e", { id: "one" }).campaign();
    expect(first).toMatchObject({ mode: "leader", path: "/e" });
    expect(first.nodePath).toMatch(/^\/e\/_c_[0-9a-f-]{36}-latch-0000000000$/);
    expect(String((await one.getData(first.nodePath)).data)).toBe("one");
    const second = new Election(two, "/e", { holder: { who: "ann" } });
    expect(await rejection(second.campaign({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
    const campaigning = second.campaign();
    expect(await second.leader()).toMatchObject({
      note: "one",
      node: first.nodePath,
      token: first.fencingToken,
    });
    await first.release();
    expect((await campaigning).fencingToken).toBeGreaterThan(first.fencingToken);
    expect(await second.leader()).toMatchObject({ who: "ann" });
    await (await campaigning).release();
    expect(await second.leader()).toBeUndefined();
  });

  test("a missing path has no leader", async () => {
    const session = openFor(await freshChroot());
    expect(await new Election(session, "/none").leader()).toBeUndefined();
  });

  test("observers are told each leader once, that there is none, and that the path was deleted", async () => {
    const chroot = await freshChroot();
    const [watcher, one, two] = [openFor(chroot), openFor(chroot), openFor(chroot)];
    const stop = new AbortController();
    const { told, ended } = collect(new Election(watcher, "/e").observe(stop.signal));
    await eventually(() => expect(told).toEqual([undefined]));
    const first = await new Election(one, "/e", { id: "one" }).campaign();
    await eventually(() => expect(told).toEqual([undefined, "one"]));
    // Neither another candidate nor a change of data is a change of leaders.
    const campaigning = new Election(two, "/e", { id: "two" }).campaign();
    await eventually(async () => expect(await one.getChildren("/e")).toHaveLength(2));
    await one.setData(first.nodePath, Buffer.from("uno"));
    await first.release();
    await eventually(() => expect(told).toEqual([undefined, "one", "two"]));
    await (await campaigning).release();
    await eventually(() => expect(told).toEqual([undefined, "one", "two", undefined]));
    // The path stays, empty; then it goes, and is made again.
    const third = await new Election(one, "/e", { id: "three" }).campaign();
    await eventually(() => expect(told.slice(4)).toEqual(["three"]));
    await third.release();
    await eventually(() => expect(told.slice(5)).toEqual([undefined]));
    await one.delete("/e");
    const fourth = await new Election(one, "/e", { id: "four" }).campaign();
    await eventually(() => expect(told.slice(6)).toEqual(["four"]));
    stop.abort();
    await ended;
    await fourth.release();
    expect(told).toHaveLength(7);
  });

  test("an observer hears of a leader that it may not read", async () => {
    const chroot = await freshChroot();
    const [watcher, one] = [openFor(chroot), openFor(chroot)];
    await one.addAuth("digest", Buffer.from("ann:secret"));
    const first = await new Election(one, "/e", { acl: OWN, pathAcl: OPEN_ACL }).campaign();
    const stop = new AbortController();
    const leaders = new Election(watcher, "/e").observe(stop.signal);
    expect(await leaders.next()).toMatchObject({ value: { node: first.nodePath } });
    const next = leaders.next();
    await first.release();
    expect(await next).toEqual({ value: undefined, done: false });
    stop.abort();
  });

  test("an observer hears of the end of its session", async () => {
    const session = openFor(await freshChroot());
    const leaders = new Election(session, "/e").observe(new AbortController().signal);
    expect(await leaders.next()).toEqual({ value: undefined, done: false });
    const next = rejection(leaders.next());
    await session.close();
    expect(await next).toMatchObject({ name: "ConnectionError" });
  });

  test("kazoo's election has other tickets", async () => {
    const session = openFor(await freshChroot());
    expect(() => new Election(session, "/e", { compat: "all" })).toThrow(
      "kazoo has no such ticket",
    );
  });
});
