/**
 * What servers answer at the end of their counter, where no real one gets in the time of a test.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const OP = { create: 1, delete: 2, getData: 4, getChildren2: 12, removeWatches: 18 } as const;
const EVENT = { deleted: 2 } as const;
const CONNECTED = 3;
/** Without an answer to srvr a session waits for its deadline. */
const SRVR = "Zookeeper version: 3.8.0-1, built on 2022\n";

const int = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string) => Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);

/** Nothing in it is looked at but czxid and the owner. */
function stat(czxid: bigint, owner: bigint): Buffer {
  const bytes = Buffer.alloc(68);
  bytes.writeBigInt64BE(czxid);
  bytes.writeBigInt64BE(owner, 44);
  return bytes;
}

/** A queue below /l in which the next ticket gets `number`, behind `others`. */
async function queueWith(number: string, others: readonly string[]) {
  let ticket = "";
  const deleted: string[] = [];
  const watched: string[] = [];
  let ticketZxid = 0n;
  const onRequest = ({ opcode, body, connection }: FakeRequest, reply: FakeReply) => {
    if (body.length < 4) return false;
    const path = body.subarray(4, 4 + body.readInt32BE(0)).toString();
    const session = 0x0100_018f_3a7c_0000n + BigInt(server.connections.indexOf(connection));
    if (opcode === OP.create && path.startsWith("/l/")) {
      ticket = `${path.slice(3)}${number}`;
      ticketZxid = server.zxid;
      reply.ok(text(`/l/${ticket}`));
    } else if (opcode === OP.getChildren2) {
      const children = [...others.filter((name) => !deleted.includes(`/l/${name}`)), ticket].map(
        text,
      );
      reply.ok(Buffer.concat([int(children.length), ...children, stat(0n, 0n)]));
    } else if (opcode === OP.getData) {
      if (body.at(-1) === 1) watched.push(path);
      reply.ok(Buffer.concat([int(-1), stat(path.endsWith(ticket) ? ticketZxid : 1n, session)]));
    } else if (opcode === OP.delete) {
      deleted.push(path);
      reply.ok();
    } else if (opcode === OP.removeWatches) reply.ok();
    else return false;
    return true;
  };
  const server: FakeServer = await startFakeServer({ onRequest, srvr: SRVR });
  onTestFinished(() => server.close());
  const mutex = new Mutex(openFor(server.address), "/l");
  const leaves = (name: string) => {
    deleted.push(`/l/${name}`);
    server.connections[0]?.event(EVENT.deleted, CONNECTED, `/l/${name}`);
  };
  return { mutex, deleted, watched, leaves, ticket: () => ticket };
}

describe("the end of the counter", () => {
  test.each(["2147483647", "2147482647"])(
    "number %s is refused, and its ticket deleted",
    async (number) => {
      const { mutex, deleted, ticket } = await queueWith(number, []);
      expect(await rejection(mutex.acquire())).toMatchObject({
        name: "LockError",
        reason: "sequence-exhausted",
        path: "/l",
        hint: "delete /l while no client uses it: the numbers then start again",
      });
      await mutex.settled();
      expect(deleted).toEqual([`/l/${ticket()}`]);
    },
  );

  test("the last number before it gets the lock", async () => {
    const { mutex } = await queueWith("2147482646", []);
    expect((await mutex.acquire()).isHeld()).toBe(true);
  });

  test("a number that another ticket has too is refused", async () => {
    const twin = "_c_00000000-0000-0000-0000-000000000000-lock-0000000007";
    const { mutex } = await queueWith("0000000007", [twin]);
    expect(await rejection(mutex.acquire())).toMatchObject({
      reason: "sequence-exhausted",
      message: `${twin} has the same number as our ticket: no order can be told below /l`,
      hint: expect.stringContaining("delete its ticket"),
    });
  });

  test("a negative number waits for the tickets before the counter wrapped", async () => {
    const before = "_c_00000000-0000-0000-0000-000000000000-lock-2147483647";
    const { mutex, watched, leaves, ticket } = await queueWith("-2147483648", [before]);
    const acquiring = mutex.acquire();
    await eventually(() => expect(watched).toContain(`/l/${before}`));
    leaves(before);
    expect((await acquiring).nodePath).toBe(`/l/${ticket()}`);
  });

  test("a negative number does not wait for later negative numbers", async () => {
    const after = "_c_00000000-0000-0000-0000-000000000000-lock--2147483647";
    const { mutex } = await queueWith("-2147483648", [after]);
    expect((await mutex.acquire()).isHeld()).toBe(true);
  });
});
