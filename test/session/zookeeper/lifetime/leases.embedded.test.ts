/**
 * What a session proves to the locks that rest on it, against servers that answer like a deposed
 * leader or hand out other sessions.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { ConnectionError, NoNodeError } from "../../../../src/errors.ts";
import type { Session, StateChange } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const OP = { multi: 14, multiRead: 22, closeSession: -11 } as const;
/** Long enough for a busy machine: a process that stands still for as long loses its session. */
const TIMEOUT_MS = 3_000;

/** The answer to `multi [check]`: one result, and the end. */
const CHECKED = bytes("0000000d 00 00000000 ffffffff 01 ffffffff");
const MISSING = bytes("ffffffff 00 ffffff9b ffffff9b ffffffff 01 ffffffff");

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

async function start(options: FakeServerOptions): Promise<FakeServer> {
  const server = await startFakeServer(options);
  onTestFinished(() => server.close());
  return server;
}

/**
 * Commits while `isLeader()`; a deposed leader goes on to answer handshakes, syncs and pings, and
 * nothing else.
 */
function committing(isLeader: () => boolean, result = () => CHECKED) {
  return ({ opcode }: FakeRequest, reply: FakeReply): unknown => {
    if (opcode !== OP.multi) return false;
    return isLeader() ? reply.ok(result()) : undefined;
  };
}

async function leased(
  server: FakeServer,
): Promise<{ session: Session; states: StateChange[]; missing: () => number }> {
  const states: StateChange[] = [];
  let missing = 0;
  const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
  session.onState((change) => states.push(change));
  await session.multi([{ op: "check", path: "/ticket" }]);
  session.keepLease(["/ticket"], () => missing++);
  return { session, states, missing: () => missing };
}

describe("a deposed leader, which answers syncs and handshakes but commits nothing", () => {
  test("ends a session that holds locks within its timeout", async () => {
    let isLeader = true;
    const server = await start({ onRequest: committing(() => isLeader) });
    const { session, states } = await leased(server);
    // The lease is kept up for longer than the timeout as long as transactions are committed.
    const begun = performance.now();
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(1.5 * TIMEOUT_MS));
    expect(session.leaseForMs()).toBeGreaterThan(0);
    expect(session.state).toBe("connected");
    const deposedAt = performance.now();
    isLeader = false;
    await eventually(() => expect(session.state).toBe("lost"));
    expect(performance.now() - deposedAt).toBeLessThan(TIMEOUT_MS);
    expect(states.at(-1)).toMatchObject({ state: "lost", reason: "expired" });
    expect(session.leaseForMs()).toBe(0);
  });

  test("keeps a session that holds nothing alive, and gives it no lease", async () => {
    const server = await start({ onRequest: committing(() => false) });
    const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
    await session.connected();
    const begun = performance.now();
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(1.5 * TIMEOUT_MS));
    expect(session.isAlive()).toBe(true);
    expect(session.leaseForMs()).toBe(0);
  });

  test("is not believed after a reconnect either: its handshake renews no lease", async () => {
    let isLeader = true;
    const server = await start({ onRequest: committing(() => isLeader) });
    const { session } = await leased(server);
    const before = session.leaseForMs();
    isLeader = false;
    server.connections.at(-1)?.close();
    await eventually(() => expect(server.connections).toHaveLength(2));
    await session.connected();
    expect(session.leaseForMs()).toBeLessThan(before);
    await eventually(() => expect(session.state).toBe("lost"));
  });
});

describe("heartbeats of a session that holds locks", () => {
  test("check the ticket, leave at once on a new connection, and stop with the last lock", async () => {
    const server = await start({ onRequest: committing(() => true) });
    const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
    await session.multi([{ op: "check", path: "/ticket" }]);
    const end = session.keepLease(["/ticket"], () => {});
    server.connections[0]?.close();
    await eventually(() => expect(server.connections[1]?.opcodes).toContain(OP.multi));
    const beat = server.connections[1]?.requests.find(({ opcode }) => opcode === OP.multi);
    expect(beat?.body.toString("latin1")).toContain("/ticket");
    end();
    const count = () =>
      server.connections[1]?.opcodes.filter((opcode) => opcode === OP.multi).length;
    const [before, begun] = [count(), performance.now()];
    await eventually(() => expect(performance.now() - begun).toBeGreaterThan(TIMEOUT_MS / 2));
    expect(count()).toBe(before);
  });

  test("tell when the ticket is gone", async () => {
    let result = CHECKED;
    const server = await start({
      onRequest: committing(
        () => true,
        () => result,
      ),
    });
    const { session, missing } = await leased(server);
    result = MISSING;
    await eventually(() => expect(missing()).toBeGreaterThan(0));
    // A failed check was committed all the same: the session itself is well.
    expect(session.leaseForMs()).toBeGreaterThan(0);
  });

  test.each([
    { name: "has expired", code: "ffffff90", ends: true },
    { name: "has moved to another server", code: "ffffff8a", ends: false },
  ])("prove nothing when the check fails because the session $name", async ({ code, ends }) => {
    let result = CHECKED;
    const server = await start({
      onRequest: committing(
        () => true,
        () => result,
      ),
    });
    const { session, states } = await leased(server);
    result = bytes(`ffffffff 00 ${code} ${code} ffffffff 01 ffffffff`);
    await eventually(() =>
      expect(states.map(({ state }) => state)).toContain(ends ? "lost" : "suspended"),
    );
    // It goes on to fail: what is left is what was proved before.
    if (!ends) expect(session.leaseForMs()).toBeLessThan(TIMEOUT_MS * 0.9);
    await eventually(() => expect(session.leaseForMs()).toBe(0));
  });

  test("take turns when there are many tickets, so that every one is checked", async () => {
    const checked = new Set<string>();
    const server = await start({
      onRequest: ({ opcode, body }, reply) => {
        if (opcode !== OP.multi) return false;
        for (const [name] of body.toString("latin1").matchAll(/\/t\d+/g)) checked.add(name);
        return reply.ok(CHECKED);
      },
    });
    const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
    await session.multi([{ op: "check", path: "/t0" }]);
    for (let i = 0; i < 70; i++) session.keepLease([`/t${i}`], () => {});
    await eventually(() => expect(checked.size).toBe(70));
  });
});

describe("the session timeout", () => {
  test("is the lowest that any server has granted", async () => {
    const server = await start({ timeoutMs: 10_000 });
    const session = openFor(server.address, { timeoutMs: 30_000 });
    await session.connected();
    expect(session.timeoutMs).toBe(10_000);
    for (const [granted, counted] of [
      [30_000, 10_000],
      [6_000, 6_000],
      [30_000, 6_000],
    ] as const) {
      server.options.timeoutMs = granted;
      const connections = server.connections.length;
      server.connections.at(-1)?.close();
      await eventually(() => expect(server.connections.length).toBeGreaterThan(connections));
      await eventually(() => expect(session.timeoutMs).toBe(counted));
      expect(session.aliveForMs()).toBeLessThanOrEqual(counted * 0.95);
    }
  });
});

describe("a server that answers a reconnect with another session", () => {
  test("has ended the old one: the session is lost, and the other one is closed", async () => {
    const other = 0x0200_0000_0000_0001n;
    const server = await start({});
    const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
    await session.connected();
    const first = session.id;
    server.options.handshake = () => {
      const answer = bytes(`00000000 00000bb8 0000000000000000 00000010 ${"00".repeat(16)} 00`);
      answer.writeBigInt64BE(other, 8);
      return answer;
    };
    server.connections[0]?.close();
    await eventually(() => expect(session.state).toBe("lost"));
    expect(session.id).toBe(first);
    expect(session.isAlive()).toBe(false);
    await eventually(() => expect(server.connections[1]?.opcodes).toEqual([OP.closeSession]));
  });
});

test("a handshake answer of another protocol version is a failed attempt that names it", async () => {
  const server = await start({
    handshake: () => bytes(`0000002b 000007d0 0000000000000001 00000010 ${"00".repeat(16)} 00`),
  });
  const session = openFor(server.address, { connectTimeoutMs: 1_000 });
  const error = await rejection(session.connected());
  expect(error).toBeInstanceOf(ConnectionError);
  expect((error as Error).message).toContain("version 43 of the handshake");
});

test("a result of multiRead that has its error in its header is a failed read", async () => {
  const stat = "00".repeat(68);
  const server = await start({
    srvr: "Zookeeper version: 3.8.0-1, built on 2022-02-25\n",
    onRequest: ({ opcode }, reply) => {
      if (opcode !== OP.multiRead) return false;
      // getData failed in its header and has no body; the next read's answer follows.
      return reply.ok(
        bytes(`00000004 00 ffffff9b 00000004 00 00000000 00000001 78 ${stat} ffffffff 01 ffffffff`),
      );
    },
  });
  const session = openFor(server.address, { timeoutMs: TIMEOUT_MS });
  const [gone, there] = await session.multiRead([
    { op: "getData", path: "/gone" },
    { op: "getData", path: "/there" },
  ]);
  expect(gone).toMatchObject({ op: "error", path: "/gone" });
  expect(gone?.op === "error" && gone.error).toBeInstanceOf(NoNodeError);
  expect(there).toMatchObject({ op: "getData", data: Buffer.from("x") });
});
