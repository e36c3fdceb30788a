import { getServers, setServers } from "node:dns";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { processServices } from "../../../../src/services.ts";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { serversOf } from "../../../../src/session/zookeeper/connecting/name-lookups.ts";
import { type DnsServer, startDnsServer } from "../../../support/dns-server.ts";
import { eventually } from "../../../support/eventually.ts";
import { runZksh } from "../../../support/zksh-process.ts";

const NAME = "_zookeeper._tcp.example.test";
const systemServers = getServers();
const cleanups: (() => Promise<unknown>)[] = [];
let dns: DnsServer;

beforeEach(async () => {
  dns = await startDnsServer();
  cleanups.push(dns.stop);
  setServers([dns.address]);
});

afterEach(async () => {
  setServers(systemServers);
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function server(): Promise<EmbeddedServer> {
  const started = await startEmbeddedServer();
  cleanups.push(() => started.stop());
  return started;
}

/** Takes connections and never answers. */
async function silentServer(): Promise<{ port: number; connections(): number }> {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  return { port, connections: () => sockets.length };
}

/** The record of a server; addresses need no further question to a name server. */
const recordOf = ({ address }: EmbeddedServer) => ({
  target: "127.0.0.1",
  port: Number(address.split(":").at(-1)),
});

function open(options: { connectTimeoutMs?: number } = {}): Session {
  const session = openSession({
    ...parseConnectString(`dns-srv://${NAME}`),
    connectTimeoutMs: 10_000,
    ...options,
  });
  cleanups.push(() => session.close());
  return session;
}

const limits = { signal: new AbortController().signal, timeoutMs: 10_000 };

describe("the servers of SRV records", () => {
  test("are those of the lowest priority first", async () => {
    dns.records.set(NAME, [
      { target: "c.test", port: 3, priority: 30 },
      { target: "a.test", port: 1, priority: 10 },
      { target: "b.test", port: 2, priority: 20 },
    ]);
    expect(await serversOf(NAME, limits)).toEqual([
      { host: "a.test", port: 1 },
      { host: "b.test", port: 2 },
      { host: "c.test", port: 3 },
    ]);
  });

  test("of one priority are drawn by their weights", async () => {
    dns.records.set(NAME, [
      { target: "heavy.test", port: 1, weight: 90 },
      { target: "light.test", port: 1, weight: 10 },
    ]);
    let heavyFirst = 0;
    for (let draw = 0; draw < 400; draw++)
      if ((await serversOf(NAME, limits))[0]?.host === "heavy.test") heavyFirst++;
    // 360 are expected, with a standard deviation of 6.
    expect(heavyFirst).toBeGreaterThan(320);
    expect(heavyFirst).toBeLessThan(395);
  });

  test("do not exist if the record names the root or no port", async () => {
    dns.records.set(NAME, [
      { target: ".", port: 2181 },
      { target: "a.test", port: 0 },
    ]);
    await expect(serversOf(NAME, limits)).rejects.toMatchObject({ code: "ENODATA" });
  });
});

describe("a session to dns-srv://NAME", () => {
  test("connects to a server of the records", async () => {
    const one = await server();
    dns.records.set(NAME, [recordOf(one)]);
    const session = open();
    await session.connected();
    expect(session.server).toBe(one.address);
    expect(session.connectString).toBe(`dns-srv://${NAME}`);
  });

  test("looks the records up again when its server is gone", async () => {
    const [first, second] = [await server(), await server()];
    dns.records.set(NAME, [recordOf(first)]);
    const session = open();
    await session.connected();
    dns.records.set(NAME, [recordOf(second)]);
    await first.stop();
    // The second server does not know the session: what counts is that it was found.
    await eventually(() => expect(session.state).toBe("lost"));
    expect(dns.questions.length).toBeGreaterThan(1);
  });

  test("looks the records up before it tries the other servers that it knows", async () => {
    const [first, second] = [await server(), await server()];
    const silent = await silentServer();
    dns.records.set(NAME, [
      { ...recordOf(first), priority: 1 },
      { target: "127.0.0.1", port: silent.port, priority: 2 },
    ]);
    const session = open();
    await session.connected();
    expect(session.server).toBe(first.address);
    dns.records.set(NAME, [recordOf(second)]);
    await first.stop();
    // The second server does not know the session, and ends it.
    await eventually(() => expect(session.state).toBe("lost"));
    expect(silent.connections()).toBe(0);
  });

  test("keeps the servers that it knows while the name server is silent", async () => {
    const one = await server();
    dns.records.set(NAME, [recordOf(one)]);
    const session = open();
    await session.connected();
    dns.isSilent = true;
    one.dropConnections();
    await eventually(() => expect(session.state).toBe("suspended"));
    await eventually(() => expect(session.state).toBe("connected"), { timeoutMs: 30_000 });
  });

  test("fails at once if the name has no SRV records", async () => {
    await expect(open().connected()).rejects.toThrow(
      `dns-srv://${NAME} (this name has no SRV records)`,
    );
  });

  test("fails after the connect timeout if the name server is silent", async () => {
    dns.isSilent = true;
    await expect(open({ connectTimeoutMs: 1_000 }).connected()).rejects.toThrow(
      "no answer from the DNS server",
    );
  });
});

describe("zksh -s dns-srv://NAME", () => {
  const zksh = (...args: string[]) =>
    runZksh(["-s", `dns-srv://${NAME}/app`, ...args], {
      env: {
        TEST_DNS_SERVER: dns.address,
        NODE_OPTIONS: `--require ${join(import.meta.dirname, "../../../e2e/fixtures/use-dns-server.cjs")}`,
      },
    });

  test("runs a command below the chroot", async () => {
    const one = await server();
    dns.records.set(NAME, [recordOf(one)]);
    const session = open();
    await session.create("/app", Buffer.alloc(0));
    await session.create("/app/x", Buffer.from("1"));
    const { code, stdout, stderr } = await zksh("get", "/x");
    expect([code, String(stdout), stderr]).toEqual([0, "1", ""]);
  });

  test("names the DNS name that has no records and ends with 6", async () => {
    const { code, stderr } = await zksh("get", "/x");
    expect(code).toBe(6);
    expect(stderr).toContain(`dns-srv://${NAME} (this name has no SRV records)`);
  });
});

test("the servers of a front end that asks them words are those of the records", async () => {
  const one = await server();
  dns.records.set(NAME, [recordOf(one)]);
  const services = await processServices.serversOf?.(NAME, limits.signal);
  expect(services).toEqual([{ host: "127.0.0.1", port: recordOf(one).port }]);
});
