import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ConnectionError, InterruptedError } from "../../../../src/errors.ts";
import { BackgroundCleanup } from "../../../../src/recipes/locks/background-cleanup.ts";
import {
  findAfterFailure,
  removeSpares,
} from "../../../../src/recipes/locks/queue/find-tickets.ts";
import { createOps, type TicketShape } from "../../../../src/recipes/locks/queue/ticket.ts";
import type { Session } from "../../../../src/session/session.ts";
import { onBothServers } from "../../../contract/on-both-servers.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const ONE: TicketShape = { path: "/l", labels: ["lock-"], data: Buffer.alloc(0) };
const TWO: TicketShape = { ...ONE, labels: ["lock-", "__lock__"] };
const LOST = new ConnectionError("connection-loss", "the connection broke");

onBothServers((server) => {
  /** A session with the tickets of a create whose answer is taken for lost. */
  const created = async (shape: TicketShape, uuid: string): Promise<[Session, string[]]> => {
    const session = openFor(await server.freshChroot());
    await session.create("/l", null);
    await session.multi(createOps([shape], uuid));
    return [session, (await session.getChildren("/l")).map((name) => `/l/${name}`)];
  };
  const find = (session: Session, shape: TicketShape, uuid: string, error: unknown = LOST) => {
    const cleanup = new BackgroundCleanup();
    const found = findAfterFailure(session, [shape], uuid, error, { signal: undefined, cleanup });
    return { found, cleanup };
  };

  describe("after a create without an answer", () => {
    test("its ticket is found by the uuid, with its token and a listing", async () => {
      const uuid = randomUUID();
      const [session, nodes] = await created(ONE, uuid);
      const found = await find(session, ONE, uuid).found;
      const stat = await session.exists(nodes[0] as string);
      expect(found).toMatchObject([{ ticket: { nodes, uuid, token: stat?.czxid } }]);
      expect(found?.[0]?.listing.children).toHaveLength(1);
    });

    test("nothing is found where nothing was created, or where the path is missing", async () => {
      const [session] = await created(ONE, randomUUID());
      expect(await find(session, ONE, randomUUID()).found).toBeUndefined();
      expect(await find(session, { ...ONE, path: "/no" }, randomUUID()).found).toBeUndefined();
    });

    test("a ticket of another session does not count", async () => {
      const uuid = randomUUID();
      const [owner, nodes] = await created(ONE, uuid);
      const other = openFor(owner.connectString);
      expect(await find(other, ONE, uuid).found).toBeUndefined();
      expect(await owner.exists(nodes[0] as string)).toBeDefined();
    });

    test("half a ticket is removed, so that it blocks no one", async () => {
      const uuid = randomUUID();
      const [session, nodes] = await created(TWO, uuid);
      expect(nodes).toHaveLength(2);
      await session.delete(nodes[0] as string);
      expect(await find(session, TWO, uuid).found).toBeUndefined();
      expect(await session.getChildren("/l")).toEqual([]);
    });
  });

  describe("a create that was cut short", () => {
    test("has its tickets removed when its outcome is known", async () => {
      const uuid = randomUUID();
      const [session] = await created(ONE, uuid);
      const error = new InterruptedError("interrupted", { outcome: Promise.resolve() });
      const { found, cleanup } = find(session, ONE, uuid, error);
      expect(await rejection(found)).toBe(error);
      await cleanup.settled();
      expect(await session.getChildren("/l")).toEqual([]);
    });
  });

  test("a second ticket of a retried create is removed, and no other", async () => {
    const uuid = randomUUID();
    const [session, [first = ""]] = await created(ONE, uuid);
    const [found] = (await find(session, ONE, uuid).found) ?? [];
    if (found === undefined) throw new Error("no ticket was found");
    await session.multi(createOps([ONE], uuid));
    await session.multi(createOps([ONE], randomUUID()));
    const children = await session.getChildren("/l");
    expect(children).toHaveLength(3);
    await removeSpares(session, { ...found, listing: { ...found.listing, children } });
    const left = await session.getChildren("/l");
    expect(left).toHaveLength(2);
    expect(left.filter((name) => name.includes(uuid))).toEqual([first.slice("/l/".length)]);
  });
});
