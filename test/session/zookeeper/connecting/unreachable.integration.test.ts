import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectionError } from "../../../../src/errors.ts";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { eventually, sleep } from "../../../support/eventually.ts";
import {
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.ts";
import { freePort } from "../../../support/free-port.ts";
import { sharedServer } from "../../../support/shared-server.ts";
import { startServer } from "../../../support/zookeeper-server.ts";

// Names with the addresses a test needs; the machine's own resolver knows none such.
const dns = vi.hoisted(() => ({ names: new Map<string, readonly string[]>() }));
vi.mock("node:dns/promises", async (original) => {
  const real = await original<typeof import("node:dns/promises")>();
  const lookup = async (host: string, options: object) => {
    const known = dns.names.get(host);
    if (known === undefined) return real.lookup(host, options);
    if (known.length === 0)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
    return known.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { ...real, lookup };
});

// Real pauses, but on record: their length is exact, the time they take is not.
const pauses = vi.hoisted((): number[] => []);
vi.mock("node:timers/promises", async (original) => {
  const real = await original<typeof import("node:timers/promises")>();
  const setTimeout = (ms: number, value: unknown, options: object) => {
    pauses.push(ms);
    return real.setTimeout(ms, value, options);
  };
  return { ...real, setTimeout };
});

const HAS_IPV6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === "::1"),
);
/** Another address of this machine. */
const SECOND_IP = "127.0.0.2";

const cleanups: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  dns.names.clear();
  dns.names.set("nowhere.invalid", []);
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: FakeServerOptions = {}): Promise<FakeServer> {
  const server = await startFakeServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function proxy(target = sharedServer()): Promise<FaultProxy> {
  const started = await startFaultProxy(Number(target.split(":")[1]));
  cleanups.push(() => started.close());
  return started;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
}

function open(address: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({ ...parseConnectString(address), ...options });
  cleanups.push(() => session.close());
  return session;
}

/** The order of the connect string instead of a random one. */
function keepOrder(): void {
  vi.spyOn(Math, "random").mockReturnValue(0.999);
}

async function refusal(address: string, options: Partial<SessionOptions>) {
  const session = open(address, options);
  const startedAt = performance.now();
  const error = await session.connected().then(
    () => Promise.reject(new Error("it is connected")),
    (reason) => reason as ConnectionError,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({
    reason: "unreachable",
    code: -4,
    name: "ConnectionError",
    sent: false,
  });
  return { message: error.message, tookMs: performance.now() - startedAt, session };
}

describe("when no server answers", () => {
  test("the error names every address and why, when the time is over", async () => {
    const blackhole = await proxy();
    blackhole.blackhole();
    const closing = await start({ handshake: "close" });
    const nobody = `127.0.0.1:${await freePort()}`;
    const list = `${nobody},nowhere.invalid:2181,${blackhole.address},${closing.address}`;
    const { message, tookMs, session } = await refusal(list, { connectTimeoutMs: 1_200 });
    const [head, tail = ""] = message.split("within 1.2 s: ");
    expect(head).toBe("cannot connect to ZooKeeper ");
    expect(tail.split(/, (?=[\w.]+:\d+ )/).sort()).toEqual(
      [
        `${nobody} (connection refused)`,
        "nowhere.invalid:2181 (no such host)",
        `${blackhole.address} (no answer)`,
        `${closing.address} (the server closed the connection; it may have no quorum, or expect TLS)`,
      ].sort(),
    );
    expect(tookMs).toBeGreaterThan(1_180);
    // Not so long for each of them.
    expect(tookMs).toBeLessThan(2 * 1_200);
    expect([session.state, session.isAlive(), session.id]).toEqual(["lost", false, 0n]);
    await expect(session.create("/a", null)).rejects.toMatchObject({
      reason: "unreachable",
      sent: false,
    });
  });

  test("one address that says nothing takes no more than its share of the time", async () => {
    const [first, second] = [await proxy(), await proxy()];
    first.blackhole();
    second.blackhole();
    await refusal(`${first.address},${second.address}`, { connectTimeoutMs: 2_000 });
    expect([first.accepted, second.accepted]).toEqual([1, 1]);
  });

  test("a name that does not exist is reported at once", async () => {
    const { message, tookMs } = await refusal("nowhere.invalid", { connectTimeoutMs: 5_000 });
    expect(message).toBe("cannot connect to ZooKeeper: nowhere.invalid:2181 (no such host)");
    expect(tookMs).toBeLessThan(2_500);
  });

  test("refused connections are tried again until the connect timeout", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const lines: string[] = [];
    const trace = (line: string) => lines.push(line);
    const { message, tookMs } = await refusal(nobody, { connectTimeoutMs: 1_000, trace });
    // The last attempt may fail a moment before the time is over, or a moment after.
    expect(message.replace(" within 1 s", "")).toBe(
      `cannot connect to ZooKeeper: ${nobody} (connection refused)`,
    );
    expect(tookMs).toBeGreaterThan(980);
    expect(lines.filter((line) => line.endsWith("connection refused")).length).toBeGreaterThan(2);
  });

  test("refused connections are tried no longer than the time given for them", async () => {
    const nobody = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const atOnce = await refusal(nobody.join(), { connectTimeoutMs: 5_000, refusedTimeoutMs: 0 });
    for (const address of nobody)
      expect(atOnce.message).toContain(`${address} (connection refused)`);
    expect(atOnce.tookMs).toBeLessThan(2_500);
    const later = await refusal(nobody.join(), { connectTimeoutMs: 5_000, refusedTimeoutMs: 300 });
    expect(later.tookMs).toBeGreaterThan(290);
    expect(later.tookMs).toBeLessThan(2_500);
  });

  test("the time for refusals does not cut an address off that says nothing", async () => {
    const blackhole = await proxy();
    blackhole.blackhole();
    const list = `127.0.0.1:${await freePort()},${blackhole.address}`;
    const { tookMs } = await refusal(list, { connectTimeoutMs: 700, refusedTimeoutMs: 0 });
    expect(tookMs).toBeGreaterThan(680);
  });
});

describe("when a server answers in time", () => {
  test("a server that comes up while others are tried gets the session", async () => {
    const late = await proxy();
    await late.refuse();
    const lines: string[] = [];
    const session = open(late.address, {
      connectTimeoutMs: 5_000,
      trace: (line) => lines.push(line),
    });
    await eventually(() => lines.filter((line) => line.includes("refused")).length >= 2);
    await late.listen();
    await session.connected();
    expect([session.state, session.server]).toEqual(["connected", late.address]);
  });

  test("the one server of a list that works is found behind all that do not", async () => {
    const blackhole = await proxy();
    blackhole.blackhole();
    const closing = await start({ handshake: "close" });
    const web = createHttpServer();
    const webPort = await freePort();
    await listen(web, webPort, "127.0.0.1");
    const bad = [
      `127.0.0.1:${await freePort()}`,
      "nowhere.invalid",
      blackhole.address,
      closing.address,
    ];
    const list = [...bad, `127.0.0.1:${webPort}`, sharedServer()].join();
    keepOrder();
    const session = open(list, { connectTimeoutMs: 3_000, refusedTimeoutMs: 0 });
    expect(await session.exists("/zookeeper")).toBeDefined();
    expect(session.server).toBe(sharedServer());
  });

  test.runIf(HAS_IPV6)("a server on IPv6 is reached by its address in brackets", async () => {
    const server = await startServer({ config: { clientPortAddress: "::" } });
    cleanups.push(() => server.stop());
    const session = open(`[::1]:${server.port}`);
    expect(await session.exists("/zookeeper")).toBeDefined();
    expect(session.server).toBe(`[::1]:${server.port}`);
    expect(await session.create2("/a", null)).toMatchObject({ path: "/a" });
  });

  test("localhost is reached whichever of its addresses the server listens on", async () => {
    const session = open(`localhost:${sharedServer().split(":")[1]}`);
    expect(await session.exists("/zookeeper")).toBeDefined();
  });

  describe("a name with several addresses", () => {
    let server: FakeServer;
    let address: string;

    beforeEach(async () => {
      server = await start({ onRequest: () => false });
      dns.names.set("several.invalid", [SECOND_IP, "127.0.0.1"]);
      address = `several.invalid:${server.port}`;
    });

    test("is reached though the first refuses, however short the time for refusals", async () => {
      const session = open(address, { connectTimeoutMs: 5_000, refusedTimeoutMs: 0 });
      await session.connected();
      expect(session.server).toBe(address);
    });

    test("is reached though the first says nothing", async () => {
      await listen(createServer(), server.port, SECOND_IP);
      const session = open(address, { connectTimeoutMs: 2_000 });
      await session.connected();
    });

    test("is reached though the first is no ZooKeeper", async () => {
      await listen(createHttpServer(), server.port, SECOND_IP);
      const session = open(address, { connectTimeoutMs: 5_000 });
      await session.connected();
    });

    test("is one address in the error", async () => {
      await server.close();
      const { message } = await refusal(address, { connectTimeoutMs: 5_000, refusedTimeoutMs: 0 });
      expect(message).toBe(`cannot connect to ZooKeeper: ${address} (connection refused)`);
    });

    test("is looked up again after every round", async () => {
      dns.names.set("several.invalid", [SECOND_IP]);
      const lines: string[] = [];
      const session = open(address, { connectTimeoutMs: 5_000, trace: (line) => lines.push(line) });
      await eventually(() => lines.length >= 2);
      dns.names.set("several.invalid", ["127.0.0.1"]);
      await session.connected();
    });
  });
});

describe("back-off", () => {
  test("a server that drops every connection after the handshake is not hammered", async () => {
    const server = await start({
      handshake: "normal",
      onConnection: (connection) => {
        const timer = setInterval(() => {
          if (connection.handshake === undefined) return;
          clearInterval(timer);
          setImmediate(() => connection.close());
        }, 1);
      },
    });
    const session = open(server.address, { timeoutMs: 20_000 });
    await session.connected();
    const startedAt = performance.now();
    // The time itself is the measure: how many attempts fit in.
    await sleep(2_000);
    const attempts = server.connections.length;
    const elapsed = performance.now() - startedAt;
    // 30 ms doubling up to 1 s, each halved at most: 15 + 30 + 60 + … reaches 2 s with the eighth
    // pause.
    expect(attempts).toBeGreaterThanOrEqual(4);
    expect(attempts).toBeLessThanOrEqual(10 + Math.ceil((elapsed - 2_000) / 500));
    expect(session.state).not.toBe("lost");
    server.options.onConnection = () => {};
    await eventually(() => session.state === "connected");
  });

  test("doubles, and differs from client to client by up to a factor of two", async () => {
    const server = await start({ handshake: "close" });
    const firstFour = async (random: number) => {
      vi.spyOn(Math, "random").mockReturnValue(random);
      pauses.length = 0;
      const session = open(server.address, { connectTimeoutMs: 10_000 });
      await eventually(() => pauses.length >= 4);
      await session.close();
      return pauses.slice(0, 4);
    };
    expect(await firstFour(0)).toEqual([15, 30, 60, 120]);
    expect(await firstFour(0.5)).toEqual([22.5, 45, 90, 180]);
  });

  test("starts afresh once a connection has proved useful", async () => {
    const server = await start({
      handshake: "close",
      onRequest: ({ opcode }, reply) => opcode === 3 && reply.error(-101),
    });
    const lines: string[] = [];
    const session = open(server.address, {
      connectTimeoutMs: 10_000,
      trace: (line) => lines.push(line),
    });
    await eventually(() => lines.length >= 4);
    server.options.handshake = "normal";
    await session.exists("/a");
    pauses.length = 0;
    const before = server.connections.length;
    server.connections.at(-1)?.close();
    await eventually(() => server.connections.length > before && session.state === "connected");
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeLessThanOrEqual(30);
  });
});

describe("the server list", () => {
  test("is gone round: every server is tried as often as the others", async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start({ handshake: "close" })));
    await refusal(servers.map((server) => server.address).join(), { connectTimeoutMs: 1_500 });
    const counts = servers.map((server) => server.connections.length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  test("is begun anywhere, so that clients spread over the servers", async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start()));
    const list = servers.map((server) => server.address).join();
    await Promise.all(Array.from({ length: 60 }, () => open(list).connected()));
    // By chance alone one of them has fewer than five once in a million runs.
    for (const server of servers) expect(server.connections.length).toBeGreaterThanOrEqual(5);
  });

  test("goes on with another server when one drops the session, and keeps the session", async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start()));
    const session = open(servers.map((server) => server.address).join());
    await session.connected();
    const { id } = session;
    const visited: (string | undefined)[] = [session.server];
    for (let move = 0; move < 2; move++) {
      servers
        .find((server) => server.address === session.server)
        ?.connections.at(-1)
        ?.close();
      await eventually(() => session.state === "connected" && !visited.includes(session.server));
      visited.push(session.server);
    }
    expect(new Set(visited).size).toBe(3);
    expect(session.id).toBe(id);
  });
});
