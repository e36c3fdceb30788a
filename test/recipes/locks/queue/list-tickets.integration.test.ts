/** Tickets that are created in one turn. */
import { describe, expect, test } from "vitest";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { SharedListing } from "../../../../src/recipes/locks/queue/list-tickets.ts";
import { eventually } from "../../../support/eventually.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";

/** A session, and the requests it has sent since the last look. */
function traced(address: string) {
  const lines: string[] = [];
  const session = openFor(address, { trace: (line) => lines.push(line) });
  const sent = () => {
    const requests = lines
      .map((line) => line.split(" ")[0])
      .filter((word) => word !== "sync" && word !== "attached");
    lines.length = 0;
    return requests;
  };
  return { session, sent };
}

describe("tickets that are created in one turn", () => {
  test("share one listing, and all get the lock in their order", async () => {
    const { session, sent } = traced(await freshChroot());
    const mutex = new Mutex(session, "/l");
    let inside = 0;
    const order: number[] = [];
    const turns = Array.from({ length: 200 }, async (_, index) => {
      const lock = await mutex.acquire();
      expect(++inside).toBe(1);
      order.push(index);
      inside--;
      await lock.release();
    });
    await Promise.all(turns);
    expect(order).toEqual(Array.from({ length: 200 }, (_, index) => index));
    const listings = sent().filter((request) => request === "getChildren2");
    expect(listings).toHaveLength(1);
  });

  test("a caller that gives up does not take the listing from those that came with it", async () => {
    const { session } = traced(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const first = await mutex.acquire();
    const leave = new AbortController();
    const second = rejection(mutex.acquire({ signal: leave.signal }));
    const third = mutex.acquire();
    leave.abort(new Error("enough"));
    expect(await second).toMatchObject({ message: "enough" });
    await first.release();
    await (await third).release();
    await eventually(async () => expect(await session.getChildren("/l")).toEqual([]));
  });
});

test("a listing is requested after all that was created in its turn, and again in the next turn", async () => {
  const { session, sent } = traced(await freshChroot());
  await session.create("/l", null);
  const shared = new SharedListing(session, "/l");
  sent();
  const children = ["/l/a", "/l/b"].map((path) => {
    void session.create(path, null);
    return shared.next(undefined);
  });
  for (const listing of await Promise.all(children)) expect(listing.children).toHaveLength(2);
  await shared.next(undefined);
  expect(sent()).toEqual(["create", "create", "getChildren2", "getChildren2"]);
});
