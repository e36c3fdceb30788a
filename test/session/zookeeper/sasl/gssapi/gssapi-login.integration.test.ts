/** Sessions that log in by Kerberos, with tickets of a real KDC, to Apache ZooKeeper. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { GssapiOptions, SaslOptions } from "../../../../../src/session/options.ts";
import type { Session } from "../../../../../src/session/session.ts";
import { eventually } from "../../../../support/eventually.ts";
import { startFaultProxy } from "../../../../support/fault-proxy.ts";
import {
  type Kdc,
  startKdc,
  startKerberosEnsemble,
  startKerberosServer,
} from "../../../../support/kdc.ts";
import { openFor, rejection } from "../../../../support/open-session.ts";
import { type SaslServer, startSaslServer } from "../../../../support/sasl-server.ts";
import { sharedServer } from "../../../../support/shared-server.ts";
import type { ZooKeeperServer } from "../../../../support/zookeeper-server.ts";

let kdc: Kdc;
let server: ZooKeeperServer;
let digest: SaslServer;
let keytab: string;
const BOB = { mechanism: "DIGEST-MD5", username: "bob", password: "bobsecret" } as const;

beforeAll(async () => {
  kdc = await startKdc();
  // The process that makes the calls inherits them.
  for (const [name, value] of Object.entries(kdc.env)) vi.stubEnv(name, value);
  [server, digest] = await Promise.all([
    startKerberosServer(kdc, { jvmFlags: ["-Dzookeeper.sessionRequireClientSASLAuth=true"] }),
    startSaslServer({ bob: BOB.password }),
  ]);
  keytab = kdc.principal("ann");
});
afterAll(async () => {
  await Promise.all([server?.stop(), digest?.stop()]);
  await kdc?.stop();
  vi.unstubAllEnvs();
});

const asAnn = (more: Partial<GssapiOptions> = {}): { sasl: SaslOptions } => ({
  sasl: { mechanism: "GSSAPI", host: "localhost", keytab, ...more },
});
const saslIds = async (session: Session) =>
  (await session.whoAmI()).filter(({ scheme }) => scheme === "sasl").map(({ id }) => id);

/** Changes of direction on a connection to `port`, and the opcodes of each write of the client. */
async function tapped(port: number) {
  const proxy = await startFaultProxy(port);
  onTestFinished(() => proxy.close());
  const directions: string[] = [];
  const writes: number[][] = [];
  proxy.onBytes = (direction, chunk) => {
    if (directions.at(-1) !== direction) directions.push(direction);
    if (direction === "to-server") writes.push(opcodesOf(chunk));
  };
  return { proxy, directions, writes };
}

/** The second number of each frame; of a handshake it is part of a zxid. */
function opcodesOf(bytes: Buffer): number[] {
  const opcodes: number[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at))
    opcodes.push(bytes.readInt32BE(at + 8));
  return opcodes;
}

const OP = { getData: 4, sasl: 102, closeSession: -11 } as const;

test.each<[string, number, () => number, () => { sasl?: SaslOptions }, number[][]]>([
  [
    "no login",
    1,
    () => Number(sharedServer().split(":")[1]),
    () => ({}),
    [[0, OP.getData, OP.closeSession]],
  ],
  [
    "DIGEST-MD5",
    2,
    () => digest.server.port,
    () => ({ sasl: BOB }),
    [
      [0, OP.sasl],
      [OP.sasl, OP.getData, OP.closeSession],
    ],
  ],
  [
    "GSSAPI",
    3,
    () => server.port,
    () => asAnn(),
    [[0, OP.sasl], [OP.sasl], [OP.sasl, OP.getData, OP.closeSession]],
  ],
])("with %s a get takes %i round trips behind TCP's own", async (_, trips, port, login, sent) => {
  const { proxy, directions, writes } = await tapped(port());
  const session = openFor(proxy.address, login());
  const [read, closed] = [session.getData("/"), session.close()];
  await read;
  await closed;
  expect(directions).toEqual(
    Array.from({ length: trips }, () => ["to-server", "to-client"]).flat(),
  );
  expect(writes).toEqual(sent);
});

test("a keytab, a ticket cache and a principal in it log in", async () => {
  const ticketCache = kdc.ticket("ann");
  for (const options of [
    { keytab },
    { keytab, principal: "ann" },
    { ticketCache },
    { ticketCache, principal: "ann@ZKSH.TEST" },
  ]) {
    const sasl = { mechanism: "GSSAPI", host: "localhost", ...options } as const;
    expect(await saslIds(openFor(server.address, { sasl }))).toEqual(["ann@ZKSH.TEST"]);
  }
});

test("a server of another service and host takes the ticket for them", async () => {
  const other = await startKerberosServer(kdc, {}, "zk/elsewhere.test");
  onTestFinished(() => other.stop());
  const session = openFor(other.address, asAnn({ service: "zk", host: "elsewhere.test" }));
  expect(await saslIds(session)).toEqual(["ann@ZKSH.TEST"]);
});

test.each<[string, () => Promise<{ sasl: SaslOptions }>, string, RegExp]>([
  [
    "no tickets",
    async () => ({ sasl: { mechanism: "GSSAPI", host: "localhost" } }),
    "sasl-no-credentials",
    /by Kerberos: there are no tickets \(No Kerberos credentials available \(default cache: FILE:/,
  ],
  [
    "a ticket of another principal",
    async () => ({
      sasl: {
        mechanism: "GSSAPI",
        host: "localhost",
        ticketCache: kdc.ticket("ann"),
        principal: "bob",
      },
    }),
    "sasl-no-credentials",
    /there are no tickets of bob \(/,
  ],
  [
    "a key that the KDC has changed",
    async () => {
      const stale = kdc.principal("carl");
      kdc.changeKey("carl");
      return asAnn({ keytab: stale });
    },
    "sasl-no-credentials",
    /the KDC has another key than .*carl\.keytab \(/,
  ],
  [
    "another host",
    async () => asAnn({ host: "elsewhere" }),
    "sasl-unknown-service",
    /the KDC does not know the server zookeeper@elsewhere \(Server zookeeper\/elsewhere@ZKSH\.TEST not found in Kerberos database\)/,
  ],
  [
    "another service",
    async () => asAnn({ service: "zk" }),
    "sasl-unknown-service",
    /the KDC does not know the server zk@localhost \(/,
  ],
])("%s ends the session, with what the library says", async (_, options, reason, message) => {
  const session = openFor(server.address, await options());
  const states: unknown[] = [];
  session.onState((change) => states.push(change));
  expect(await rejection(session.getData("/"))).toMatchObject({
    name: "PermissionError",
    reason,
    message: expect.stringMatching(message),
  });
  expect(states).toEqual([{ state: "lost", reason: "auth-failed" }]);
});

test("a server that has another key than the KDC refuses the ticket", async () => {
  const other = await startKerberosServer(kdc, {}, "zookeeper/stale");
  onTestFinished(() => other.stop());
  kdc.changeKey("zookeeper/stale");
  const session = openFor(other.address, asAnn({ host: "stale" }));
  expect(await rejection(session.getData("/"))).toMatchObject({
    reason: "sasl-ticket-refused",
    message: expect.stringContaining(
      `${other.address} refused the login of ann@ZKSH.TEST: it did not accept the Kerberos ticket (`,
    ),
  });
});

test("a server that wants the other mechanism refuses the login", async () => {
  const password = openFor(server.address, { sasl: BOB });
  expect(await rejection(password.getData("/"))).toMatchObject({ reason: "sasl-refused" });
  const ticket = openFor(digest.server.address, asAnn());
  expect(await rejection(ticket.getData("/"))).toMatchObject({
    reason: "sasl-other-mechanism",
    message: `${digest.server.address} does not take the Kerberos ticket of ann@ZKSH.TEST: it wants DIGEST-MD5`,
  });
});

test("a server without SASL ends the session before a request is sent", async () => {
  const session = openFor(sharedServer(), asAnn());
  expect(await rejection(session.getData("/"))).toMatchObject({
    reason: "sasl-not-offered",
    message: expect.stringContaining("does not answer the login of ann@ZKSH.TEST: "),
  });
});

test("a KDC that says nothing holds nothing up, and the connect timeout ends the login", async () => {
  const silent = await startFaultProxy(kdc.port);
  onTestFinished(() => silent.close());
  silent.blackhole();
  vi.stubEnv("KRB5_CONFIG", kdc.clientConfig(silent.port));
  const session = openFor(server.address, { ...asAnn(), connectTimeoutMs: 1_500 });
  let longest = 0;
  let last = performance.now();
  const ticker = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  const began = performance.now();
  const error = await rejection(session.getData("/"));
  clearInterval(ticker);
  vi.stubEnv("KRB5_CONFIG", kdc.env.KRB5_CONFIG ?? "");
  expect(error).toMatchObject({
    reason: "sasl-kdc-unreachable",
    message: `cannot log in to ${server.address} by Kerberos: no ticket for zookeeper@localhost within 1.5 s`,
  });
  expect(performance.now() - began).toBeLessThan(10_000);
  // The library's call alone takes 50 s.
  expect(longest).toBeLessThan(1_000);
  // The process that waited for the KDC is gone, and its connection with it.
  await eventually(() => expect(silent.connections).toBe(0));
});

test("a KDC that nobody listens for ends a first login at once", async () => {
  const gone = await startFaultProxy(kdc.port);
  await gone.close();
  vi.stubEnv("KRB5_CONFIG", kdc.clientConfig(gone.port));
  const session = openFor(server.address, asAnn());
  const error = await rejection(session.getData("/"));
  vi.stubEnv("KRB5_CONFIG", kdc.env.KRB5_CONFIG ?? "");
  expect(error).toMatchObject({
    reason: "sasl-kdc-unreachable",
    message: expect.stringContaining("no KDC can be reached (Cannot contact any KDC for realm"),
  });
});

test("on a reconnect a KDC that is gone is waited for, and the time counts against the session", async () => {
  const proxy = await startFaultProxy(server.port);
  onTestFinished(() => proxy.close());
  const session = openFor(proxy.address, { ...asAnn(), timeoutMs: 30_000 });
  await session.create("/mortal", null, { mode: "ephemeral" });
  const { id } = session;
  await kdc.kill();
  const alive = session.aliveForMs();
  proxy.drop();
  await eventually(() => expect(session.state).toBe("suspended"));
  const began = performance.now();
  await eventually(() => {
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect(session.state).toBe("suspended");
  });
  expect(session.aliveForMs()).toBeLessThan(alive - 900);
  await kdc.start();
  expect(await saslIds(session)).toEqual(["ann@ZKSH.TEST"]);
  expect(session.id).toBe(id);
});

test("a session of an ensemble logs in on the next server, and its watch fires there", async () => {
  const ensemble = await startKerberosEnsemble(kdc, "zookeeper/fleet");
  onTestFinished(() => ensemble.stop());
  const session = openFor(ensemble.connectString, asAnn({ host: "fleet" }));
  await session.create("/watched", Buffer.from("1"));
  const events: string[] = [];
  await session.getData("/watched", { watch: ({ type }) => void events.push(type) });
  const first = session.server;
  await ensemble.servers.find(({ address }) => address === first)?.kill();
  expect(await saslIds(session)).toEqual(["ann@ZKSH.TEST"]);
  expect(session.server).not.toBe(first);
  await session.setData("/watched", Buffer.from("2"));
  await eventually(() => expect(events).toEqual(["data-changed"]));
});

/** Those that this process has started and that make Kerberos' calls. */
function kerberosProcesses(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ")[1];
        const words = readFileSync(`/proc/${pid}/cmdline`, "latin1");
        return isOurs === String(process.pid) && words.includes("gssapi.cjs");
      } catch {
        return false;
      }
    });
}

test("a Kerberos process that crashes ends the session, not ours; none is left behind", async () => {
  const silent = await startFaultProxy(kdc.port);
  onTestFinished(() => silent.close());
  silent.blackhole();
  vi.stubEnv("KRB5_CONFIG", kdc.clientConfig(silent.port));
  const session = openFor(server.address, asAnn());
  const failed = rejection(session.getData("/"));
  await eventually(() => expect(silent.connections).toBe(1));
  vi.stubEnv("KRB5_CONFIG", kdc.env.KRB5_CONFIG ?? "");
  for (const pid of kerberosProcesses()) process.kill(pid, "SIGSEGV");
  expect(await failed).toMatchObject({
    reason: "sasl-failed",
    message: `cannot log in to ${server.address} by Kerberos: the Kerberos process ended with SIGSEGV`,
  });
  await eventually(() => expect(kerberosProcesses()).toEqual([]));
});
