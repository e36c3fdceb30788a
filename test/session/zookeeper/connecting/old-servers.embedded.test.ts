import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OperationError } from "../../../../src/errors.ts";
import type { Session } from "../../../../src/session/session.ts";
import { Opcode } from "../../../../src/wire/protocol.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const HOUR_MS = 3_600_000;
const UNIMPLEMENTED = -6;
const NO_NODE = -101;

let server: FakeServer;
let session: Session;

beforeEach(async () => {
  server = await startFakeServer({ onRequest: answerAs34 });
  server.options.srvr =
    "Zookeeper version: 3.4.14-4c25d480, built on 03/06/2019 16:18 GMT\nMode: standalone\n";
  session = openFor(server.address);
});

afterEach(async () => {
  await session.close();
  await server.close();
});

/** What 3.4 knows; to anything else it says that it does not know it, and hangs up. */
function answerAs34({ opcode, body }: FakeRequest, reply: FakeReply): unknown {
  const path = body.length < 4 ? "" : body.toString("utf8", 4, 4 + body.readInt32BE(0));
  const ok = (...parts: Buffer[]) =>
    path === "/no" ? reply.error(NO_NODE) : reply.ok(Buffer.concat(parts));
  switch (opcode) {
    case Opcode.create:
      return ok(text(body.readInt32BE(body.length - 4) >= 2 ? `${path}0000000007` : path));
    case Opcode.exists:
      return ok(stat(7));
    case Opcode.getData:
      return ok(text("data"), stat(7));
    case Opcode.getChildren:
      return ok(int(2), text("a"), text("b"));
    case Opcode.multi:
    case Opcode.closeSession:
      return false;
    default:
      reply.error(UNIMPLEMENTED);
      return reply.close();
  }
}

/** What was asked on the connection that the session holds. */
function asked(): readonly number[] {
  return server.connections[0]?.opcodes ?? [];
}

describe("a server of 3.4", () => {
  test.each<{ name: string; since: string; call: () => Promise<unknown> }>([
    { name: "addWatch", since: "3.6.0", call: () => session.addWatch("/n", "recursive", () => {}) },
    { name: "whoAmI", since: "3.7.0", call: () => session.whoAmI() },
    { name: "getEphemerals", since: "3.6.0", call: () => session.getEphemerals() },
    {
      name: "getAllChildrenNumber",
      since: "3.6.0",
      call: () => session.getAllChildrenNumber("/n"),
    },
    {
      name: "createContainer",
      since: "3.5.1",
      call: () => session.create("/n", null, { mode: "container" }),
    },
    {
      name: "createContainer",
      since: "3.5.1",
      call: () => session.multi([{ op: "create", path: "/n", mode: "container" }]),
    },
    {
      name: "createTtl",
      since: "3.5.3",
      call: () => session.create2("/n", null, { mode: "persistentWithTtl", ttlMs: HOUR_MS }),
    },
    {
      name: "createTtl",
      since: "3.5.3",
      call: () =>
        session.multi([
          { op: "create", path: "/n", mode: "persistentSequentialWithTtl", ttlMs: HOUR_MS },
        ]),
    },
    { name: "reconfig", since: "3.5.0", call: () => session.reconfig({ leaving: "1" }) },
  ])("is not asked for $name, which is refused by name", async ({ name, since, call }) => {
    const refused = await rejection(call());
    expect(refused).toBeInstanceOf(OperationError);
    expect(refused).toMatchObject({
      reason: "unimplemented",
      name: "OperationError",
      message: `${name} needs ZooKeeper ${since}; this server is 3.4.14`,
      hint: `server: ${server.address}`,
    });
    expect(asked()).toEqual([]);
    expect(await session.exists("/n")).toMatchObject({ version: 7 });
    expect([server.connections[0]?.isOpen, session.state]).toEqual([true, "connected"]);
  });

  test("gives create2 as a create and an exists", async () => {
    expect(await session.create2("/n", null)).toMatchObject({
      path: "/n",
      stat: { version: 7, czxid: 1n },
    });
    expect(asked()).toEqual([Opcode.create, Opcode.exists]);
    const numbered = await session.create2("/n-", null, { mode: "ephemeralSequential" });
    expect(numbered).toMatchObject({ path: "/n-0000000007", stat: { version: 7 } });
    expect(await rejection(session.create2("/no", null))).toMatchObject({
      reason: "no-node",
      path: "/no",
    });
  });

  test("gives multiRead as the same reads in one flight, each failing alone", async () => {
    const results = await session.multiRead([
      { op: "getData", path: "/n" },
      { op: "getChildren", path: "/n" },
      { op: "getData", path: "/no" },
    ]);
    expect(results).toEqual([
      { op: "getData", path: "/n", data: Buffer.from("data"), stat: await session.exists("/n") },
      { op: "getChildren", path: "/n", children: ["a", "b"] },
      {
        op: "error",
        path: "/no",
        error: expect.objectContaining({ reason: "no-node", path: "/no" }),
      },
    ]);
    expect(asked()).toEqual([Opcode.getData, Opcode.getChildren, Opcode.getData, Opcode.exists]);
  });

  test("fails a multiRead as a whole when its connection does", async () => {
    await session.create2("/n", null);
    server.options.onRequest = ({ connection }) => connection.close();
    const reads = session.multiRead([{ op: "getData", path: "/n" }], { timeoutMs: 5_000 });
    expect(await rejection(reads)).toMatchObject({ reason: "connection-loss", path: "/n" });
  });

  test("is not asked to forget a watch, which is only forgotten here", async () => {
    const heard: string[] = [];
    const watch = () => heard.push("event");
    await session.getData("/n", { watch });
    await session.removeWatch("/n", watch);
    server.connections[0]?.event(3, 3, "/n");
    await session.exists("/n");
    expect([heard, asked()]).toEqual([[], [Opcode.getData, Opcode.exists]]);
  });

  test("is asked for its version once", async () => {
    for (let i = 0; i < 3; i++) await session.create2("/n", null);
    expect(server.connections).toHaveLength(2);
  });
});

describe("a server that does not say what it is", () => {
  test("is taken for a current one", async () => {
    server.options.srvr = "srvr is not executed because it is not in the whitelist.\n";
    server.options.onRequest = ({ opcode }, reply) =>
      opcode === Opcode.getAllChildrenNumber ? reply.ok(int(5)) : false;
    expect(await session.getAllChildrenNumber("/n")).toBe(5);
  });
});

describe("a call that has to ask for the server's version", () => {
  beforeEach(async () => {
    await session.exists("/n");
    // Connections are accepted and left without an answer.
    server.options.handshake = "silent";
    server.connections[0]?.close();
    await eventually(() => session.state === "suspended");
  });

  afterEach(() => {
    // A goodbye to a silent server would take its time.
    server.options.handshake = "normal";
    for (const connection of server.connections) connection.close();
  });

  test("keeps its deadline while there is no server to ask", async () => {
    const limits = { timeoutMs: 100 };
    const calls = [
      session.whoAmI(limits),
      session.create2("/n", null, limits),
      session.multiRead([{ op: "getData", path: "/n" }], limits),
      session.reconfig({ leaving: "1", ...limits }),
    ];
    const errors = await Promise.all(calls.map(rejection));
    for (const error of errors)
      expect(error).toMatchObject({ reason: "deadline", name: "DeadlineError" });
  });

  test("ends when its caller wants it to, while there is no server to ask", async () => {
    const abort = new AbortController();
    const call = session.addWatch("/n", "persistent", () => {}, { signal: abort.signal });
    abort.abort();
    expect(await rejection(call)).toMatchObject({
      reason: "interrupted",
      name: "InterruptedError",
    });
  });
});

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** czxid 1, the given version, and zero everywhere else. */
function stat(version: number): Buffer {
  const bytes = Buffer.alloc(68);
  bytes.writeBigInt64BE(1n, 0);
  bytes.writeInt32BE(version, 32);
  return bytes;
}
