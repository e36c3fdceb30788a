import { afterEach, expect, test } from "vitest";
import type { KeeperOptions } from "../../../../src/embedded/dialect.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../../../src/embedded/server.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

const servers: EmbeddedServer[] = [];
const sessions: Session[] = [];

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startKeeper(keeper: KeeperOptions = {}): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dialect: "keeper", keeper });
  servers.push(server);
  return server;
}

function open(address: string, options: Partial<SessionOptions> = {}, trace: string[] = []) {
  const session = openFor(address, { trace: (line) => trace.push(line), ...options });
  sessions.push(session);
  return session;
}

test("a session is lost as soon as its connection breaks, and is not resumed", async () => {
  const server = await startKeeper();
  const trace: string[] = [];
  const session = open(server.address, {}, trace);
  await session.create("/e", null, { mode: "ephemeral" });
  const states: string[] = [];
  session.onState(({ state }) => states.push(state));
  server.dropConnections();
  await eventually(() => session.state === "lost");
  expect(states).toEqual(["lost"]);
  expect(session.isAlive()).toBe(false);
  expect(await rejection(session.getData("/e"))).toMatchObject({
    reason: "session-expired",
    message: expect.stringContaining("on ClickHouse Keeper a session ends with its connection"),
  });
  expect(trace.filter((line) => line.startsWith("attached to"))).toHaveLength(1);
});

test("a server that is not active is left for the next one", async () => {
  const [inactive, active] = [await startKeeper({ isActive: false }), await startKeeper()];
  const trace: string[] = [];
  const session = open(`${inactive.address},${active.address}`, {}, trace);
  await session.connected();
  expect(session.server).toBe(active.address);
  const alone = open(inactive.address, { connectTimeoutMs: 600 }, trace);
  expect(await rejection(alone.connected())).toMatchObject({
    message: expect.stringContaining("this ClickHouse Keeper is not active: it has no leader"),
  });
});

test("a closed session is over when the connection ends, without a second connection", async () => {
  const server = await startKeeper();
  const trace: string[] = [];
  const session = open(server.address, {}, trace);
  await session.create("/e", null, { mode: "ephemeral" });
  const startedAt = performance.now();
  await session.close();
  expect(performance.now() - startedAt).toBeLessThan(900);
  expect(trace.filter((line) => line.startsWith("attached to"))).toHaveLength(1);
  const other = open(server.address);
  expect(await other.exists("/e")).toBeUndefined();
});

test("reads and closeSession in one flight are answered at the first attempt", async () => {
  const server = await startKeeper();
  const trace: string[] = [];
  const session = open(server.address, {}, trace);
  const read = session.getChildren("/");
  await session.close();
  expect(await read).toEqual(["keeper"]);
  expect(trace.filter((line) => line.startsWith("attached to"))).toHaveLength(1);
});

const WATCHES = 7;

test.each<{ keeper: KeeperOptions; has: boolean[] }>([
  { keeper: { version: "22.3.1" }, has: [false, false, false] },
  { keeper: { version: "23.3.1" }, has: [true, false, false] },
  { keeper: { version: "24.8.1" }, has: [true, false, false] },
  { keeper: { version: "24.8.1", features: [0] }, has: [false, false, false] },
  { keeper: { version: "25.12.1" }, has: [true, true, false] },
  { keeper: { version: "25.12.1", features: [0, 1] }, has: [true, false, false] },
  { keeper: { version: "26.7.1" }, has: [true, true, true] },
  { keeper: { version: "26.7.1", features: [WATCHES] }, has: [false, true, true] },
  // srvr is switched off: the handshake tells that it is Keeper, the flags what it has.
  { keeper: { version: "26.7.1", words: [] }, has: [true, true, false] },
])("of $keeper nothing is asked that it lacks", async ({ keeper, has }) => {
  const server = await startKeeper(keeper);
  const session = open(server.address);
  await session.create("/n", Buffer.from("data"));
  const outcomes = [
    await session.knows("multiRead"),
    await didWork(session.addWatch("/n", "recursive", () => {})),
    await didWork(session.create("/c", null, { mode: "container" })),
  ];
  expect(outcomes).toEqual(has);
  expect((await session.create2("/m", Buffer.from("12345"))).stat.dataLength).toBe(5);
  const [found, missing] = await session.multiRead([
    { op: "getData", path: "/n" },
    { op: "getData", path: "/none" },
  ]);
  expect(found).toMatchObject({ op: "getData", data: Buffer.from("data") });
  expect(missing).toMatchObject({ op: "error", error: { reason: "no-node" } });
  const refused = [
    session.whoAmI(),
    session.getEphemerals(),
    session.getAllChildrenNumber("/"),
    session.create("/t", null, { mode: "persistentWithTtl", ttlMs: 5_000 }),
    session.multi([
      { op: "create", path: "/u" },
      { op: "create", path: "/t", mode: "persistentWithTtl", ttlMs: 5_000 },
    ]),
  ];
  for (const error of await Promise.all(refused.map(rejection)))
    expect(error).toMatchObject({
      reason: "unimplemented",
      message: expect.stringContaining("is not on ClickHouse Keeper"),
    });
  expect(session.state).toBe("connected");
});

async function didWork(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    (error) => {
      expect(error).toMatchObject({ reason: "unimplemented" });
      return false;
    },
  );
}

test("many plain reads leave as multiReads, and each gets its own error", async () => {
  const server = await startKeeper();
  const trace: string[] = [];
  const session = open(server.address, {}, trace);
  await session.create("/n", Buffer.from("data"));
  await session.knows("multiRead");
  const reads = Array.from({ length: 200 }, (_, index) =>
    index % 7 === 0
      ? rejection(session.getData("/none")).then((error) => (error as { reason?: string }).reason)
      : session.getData("/n").then(({ data }) => String(data)),
  );
  const answers = await Promise.all(reads);
  expect(answers.filter((answer) => answer === "no-node")).toHaveLength(29);
  expect(answers.filter((answer) => answer === "data")).toHaveLength(171);
  expect(session.state).toBe("connected");
});

test("a container's odd owner means none", async () => {
  const server = await startKeeper({ version: "26.7.1" });
  const session = open(server.address);
  await session.create("/c", null, { mode: "container" });
  expect((await session.exists("/c"))?.ephemeralOwner).toBe(-(2n ** 63n));
});

test("the password of the server is sent, padded, in every handshake and in no trace", async () => {
  const server = await startKeeper({ password: "s3cret" });
  const trace: string[] = [];
  const options = { keeperPassword: Buffer.from("s3cret") };
  const session = open(server.address, options, trace);
  const read = session.getChildren("/");
  await session.close();
  expect(await read).toEqual(["keeper"]);
  expect(trace.join("\n")).not.toContain("s3cret");
});

test.each<[string, Partial<SessionOptions>, string]>([
  ["none", {}, "asks clients for a password"],
  ["a wrong one", { keeperPassword: Buffer.from("wrong") }, "does not accept the password"],
])("with %s where a password is asked for, the session ends at once", async (_, options, says) => {
  const server = await startKeeper({ password: "s3cret" });
  const session = open(server.address, { connectTimeoutMs: 20_000, ...options });
  const startedAt = performance.now();
  expect(await rejection(session.connected())).toMatchObject({
    name: "PermissionError",
    message: `the ClickHouse Keeper ${server.address} ${says}`,
  });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test("where srvr is switched off too, the reason is one of several", async () => {
  const server = await startKeeper({ password: "s3cret", words: [] });
  const keeperPassword = Buffer.from("wrong");
  const session = open(server.address, { connectTimeoutMs: 600, keeperPassword });
  expect(await rejection(session.connected())).toMatchObject({
    message: expect.stringContaining(
      "it may have no quorum, or expect TLS, or not accept the Keeper password",
    ),
  });
});

test("the session timeout is that of the server", async () => {
  const server = await startKeeper();
  const short = open(server.address, { timeoutMs: 4_000 });
  const long = open(server.address, { timeoutMs: 600_000 });
  await Promise.all([short.connected(), long.connected()]);
  expect([short.timeoutMs, long.timeoutMs]).toEqual([10_000, 100_000]);
});

test("the configuration is read from /keeper/config, before and after a connection", async () => {
  const server = await startKeeper();
  const session = open(server.address, { chroot: "/app" });
  const early = session.getConfig();
  await session.connected();
  const late = session.getConfig();
  for (const { data } of await Promise.all([early, late]))
    expect(String(data)).toBe("server.1=localhost:9234;participant;1");
});
