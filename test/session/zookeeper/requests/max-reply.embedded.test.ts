/**
 * Replies that are longer than the session accepts: refused by their announced length, with an
 * error that says so.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { OperationError } from "../../../../src/errors.ts";
import { inspectLock } from "../../../../src/recipes/locks/inspect/inspect-lock.ts";
import { runReal } from "../../../commands/run-real.ts";
import {
  type FakeRequest,
  type FakeServer,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const OP = { getData: 4, getChildren: 8 };
const MB = 1024 * 1024;

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/**
 * Announces replies of so many bytes, by opcode, and sends their first 64 KB; other requests have
 * no znode.
 */
async function announcing(lengths: Readonly<Record<number, number>>): Promise<FakeServer> {
  const server = await startFakeServer({
    onRequest: ({ xid, opcode }: FakeRequest, reply) => {
      const length = lengths[opcode];
      if (length === undefined) return opcode > 0 && opcode < 10 ? reply.error(-101) : false;
      reply.raw(
        Buffer.concat([
          int(length),
          int(xid),
          Buffer.alloc(12),
          int(length / 8),
          Buffer.alloc(64 * 1024),
        ]),
      );
    },
  });
  onTestFinished(() => server.close());
  return server;
}

async function memory(): Promise<number> {
  const { rss, external } = process.memoryUsage();
  return Math.max(rss, external);
}

describe("a reply that is too long", () => {
  test.each([
    {
      what: "a listing of 520 MB",
      opcode: OP.getChildren,
      length: 520_000_000,
      says: "496 MB",
      limit: "128 MB",
    },
    { what: "data of 65 MB", opcode: OP.getData, length: 65 * MB, says: "65 MB", limit: "64 MB" },
  ])("$what is an error, and costs no memory", async ({ opcode, length, says, limit }) => {
    const server = await announcing({ [opcode]: length });
    const session = openFor(server.address);
    await session.connected();
    const { id } = session;
    const before = await memory();
    const error = await rejection(
      opcode === OP.getData ? session.getData("/a") : session.getChildren("/a"),
    );
    expect(error).toBeInstanceOf(OperationError);
    expect(error).toMatchObject({
      reason: "reply-too-long",
      name: "OperationError",
      message: `the reply for /a has ${says}, more than the limit of ${limit}`,
    });
    expect((await memory()) - before).toBeLessThan(50 * MB);
    // The session lives on, over another connection, and the read is not repeated there.
    expect(await rejection(session.getAcl("/a"))).toMatchObject({ reason: "no-node" });
    expect([session.id, session.state]).toEqual([id, "connected"]);
    expect(server.connections.length).toBe(3);
    const asked = server.connections.flatMap(({ requests }) =>
      requests.filter((request) => request.opcode === opcode),
    );
    expect(asked).toHaveLength(2);
  });

  test("a listing may be longer than data", async () => {
    const server = await announcing({ [OP.getChildren]: 65 * MB });
    const session = openFor(server.address, { timeoutMs: 4_000 });
    // It is announced and never comes: what ends the wait is the caller.
    const error = await rejection(session.getChildren("/a", { timeoutMs: 300 }));
    expect(error).toMatchObject({ reason: "deadline" });
  });
});

test("a limit that was set holds for everything", async () => {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  const session = openFor(server.address, { maxReplyBytes: 10_000 });
  await session.create("/data", Buffer.alloc(10_000));
  await session.create("/names", null);
  for (let i = 0; i < 50; i++) await session.create(`/names/${i}${"x".repeat(200)}`, null);
  await session.create("/fits", Buffer.alloc(9_000));
  expect((await session.getData("/fits")).data).toHaveLength(9_000);
  expect(await rejection(session.getData("/data"))).toMatchObject({ reason: "reply-too-long" });
  expect(await rejection(session.getChildren("/names"))).toMatchObject({
    reason: "reply-too-long",
  });
  expect(await rejection(session.getChildren2("/names"))).toMatchObject({
    reason: "reply-too-long",
  });
  expect((await session.getData("/fits")).data).toHaveLength(9_000);
});

test("of many reads that leave together only the one with the long reply fails", async () => {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  const session = openFor(server.address, { maxReplyBytes: 100_000 });
  for (let i = 0; i < 64; i++)
    await session.create(`/n${i}`, Buffer.alloc(i === 40 ? 200_000 : 10, 1));
  for (let round = 0; round < 3; round++) {
    const reads = await Promise.allSettled(
      Array.from({ length: 64 }, (_, i) => session.getData(`/n${i}`)),
    );
    const failed = reads.flatMap((read, i) =>
      read.status === "rejected" ? [[i, read.reason.reason]] : [],
    );
    expect(failed).toEqual([[40, "reply-too-long"]]);
  }
});

test("tickets with long data are read in smaller batches", async () => {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  const session = openFor(server.address, { maxReplyBytes: 200_000 });
  await session.create("/l", null);
  const made = Array.from({ length: 120 }, () =>
    session.create("/l/lock-", Buffer.alloc(20_000, "x"), { mode: "ephemeralSequential" }),
  );
  await Promise.all(made);
  const { holders, waiters } = await inspectLock(session, "/l", {});
  expect([holders.length, waiters.length]).toEqual([1, 119]);
  expect(holders[0]?.note).toBe(`${"x".repeat(199)}…`);
});

describe("--max-reply", () => {
  test("refuses a longer reply, and says how to accept it", async () => {
    const server = await startEmbeddedServer();
    onTestFinished(() => server.stop());
    await openFor(server.address).create("/a", Buffer.alloc(5_000, "x"));
    expect(await runReal(server.address, ["--max-reply", "4k", "get", "/a"])).toEqual({
      exit: 1,
      stdout: "",
      stderr:
        "error: the reply for /a has 5 KB, more than the limit of 4 KB\n" +
        "  raise the limit with --max-reply SIZE, for example 512m\n",
    });
    expect(
      await runReal(server.address, ["get", "/a"], { env: { ZKSH_MAX_REPLY: "4k" } }),
    ).toMatchObject({ exit: 1 });
    expect(await runReal(server.address, ["--max-reply=6k", "get", "/a"])).toMatchObject({
      exit: 0,
    });
    expect(
      await runReal(server.address, ["--json", "--max-reply", "4k", "get", "/a"]),
    ).toMatchObject({
      stderr: expect.stringMatching(/^\{"error":\{"reason":"reply-too-long"/),
    });
  });

  test.each(["0", "x", "-5", "3g", "1023", "1tb"])("%s is no size", async (size) => {
    const { exit, stderr } = await runReal("127.0.0.1:1", [`--max-reply=${size}`, "get", "/a"]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: bad size '.*' for --max-reply\n/);
  });
});
