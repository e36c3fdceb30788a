import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, onTestFinished, test } from "vitest";
import type { StateChange } from "../../src/session/session.ts";
import { makeCertificates } from "../support/certificates.ts";
import {
  errorServer,
  fake,
  growth,
  halfFrameServer,
  lastConnection,
  oneMuteOfTwo,
  open,
  SHORT_SESSION_MS,
  silentServer,
  strangeEventServer,
  syncServer,
  UNKNOWN_CODES,
} from "../support/defect-experiments.ts";
import { deferred, eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { freshChroot } from "../support/shared-server.ts";
import { startTlsServer } from "../support/tls-server.ts";

// What was known to be wrong with node-zookeeper-client 1.1.3, by the names of the list in the
// reference. The same experiments with the plain package: test/defects.

describe("3.1 no read timeout", () => {
  test("a silent connection is given up within the session timeout, and its request fails", async () => {
    const server = await silentServer();
    const session = open(server.address, { timeoutMs: SHORT_SESSION_MS });
    await session.connected();
    const startedAt = performance.now();
    await expect(session.create("/a", null)).rejects.toMatchObject({
      reason: "connection-loss",
      sent: true,
    });
    const elapsedMs = performance.now() - startedAt;
    expect(elapsedMs).toBeGreaterThan(SHORT_SESSION_MS / 4);
    expect(elapsedMs).toBeLessThan(SHORT_SESSION_MS);
    await eventually(() => server.connections.length > 1);
  });
});

describe("3.1 handshake never times out", () => {
  test("a server that never answers the handshake is left for the next one", async () => {
    const { connectString, servers } = await oneMuteOfTwo();
    const session = open(connectString, { connectTimeoutMs: SHORT_SESSION_MS });
    await session.connected();
    expect(servers.map(({ connections }) => connections.length)).toEqual([1, 1]);
  });
});

describe("3.1 never self-expires", () => {
  test("a session that reaches no server declares itself lost before a server may expire it", async () => {
    const server = await fake();
    const session = open(server.address, { timeoutMs: SHORT_SESSION_MS });
    const changes: StateChange[] = [];
    session.onState((change) => changes.push(change));
    const lost = deferred<number>();
    session.onState(({ state }) => state === "lost" && lost.resolve(performance.now()));
    const loopDelay = monitorEventLoopDelay({ resolution: 5 });
    loopDelay.enable();
    const startedAt = performance.now();
    await session.connected();
    await server.close();
    const elapsedMs = (await lost.promise) - startedAt;
    loopDelay.disable();
    // This process may have been late itself, on a busy machine; that is not what is judged.
    expect(elapsedMs).toBeLessThan(SHORT_SESSION_MS + loopDelay.max / 1e6);
    expect(changes).toMatchObject([
      { state: "connected" },
      { state: "suspended" },
      { state: "lost", reason: "expired" },
    ]);
    expect(session.isAlive()).toBe(false);
  });
});

describe("3.1 pendingBuffer survives", () => {
  test("half a frame is forgotten with the connection that brought it", async () => {
    const server = await halfFrameServer();
    const session = open(server.address);
    expect(await session.exists("/a")).toBeUndefined();
    expect(server.connections).toHaveLength(2);
    expect(session.state).toBe("connected");
  });
});

describe("3.1 unknown error codes throw", () => {
  test.each(UNKNOWN_CODES)("error %d becomes the failure of its request", async (code) => {
    const server = await errorServer();
    const session = open(server.address);
    await expect(session.exists(`/${code}`)).rejects.toMatchObject({ code, path: `/${code}` });
    await expect(session.exists("/-101")).resolves.toBeUndefined();
  });
});

describe("3.1 version 0 = any in Transaction", () => {
  test("a delete of version 0 in a multi leaves a node of version 1 alone", async () => {
    const session = open(await freshChroot());
    await session.create("/a", null);
    await session.setData("/a", Buffer.from("1"));
    const removed = session.multi([{ op: "delete", path: "/a", version: 0 }]);
    await expect(removed).rejects.toMatchObject({ reason: "bad-version" });
    expect(await session.exists("/a")).toMatchObject({ version: 1 });
  });
});

describe("3.1 unknown opcode reply", () => {
  test("an answer to an operation the package does not know reaches its caller, and the connection stays", async () => {
    const server = await syncServer();
    const session = open(server.address);
    await session.sync("/a");
    expect(server.connections).toHaveLength(1);
    expect(lastConnection(server).isOpen).toBe(true);
  });
});

describe("3.1 unknown event types throw", () => {
  test("an event of an unknown type changes nothing", async () => {
    const server = await strangeEventServer();
    const session = open(server.address);
    const heard: unknown[] = [];
    expect(await session.exists("/a", { watch: (event) => heard.push(event) })).toBeUndefined();
    expect(await session.exists("/a")).toBeUndefined();
    expect(heard).toEqual([]);
    expect(server.connections).toHaveLength(1);
  });
});

describe("3.1 O(n^2)", () => {
  test("a read in a pipeline of 100,000 costs no more than one in a pipeline of 8,000", {
    timeout: 120_000,
  }, async () => {
    const server = await fake();
    // A busy machine may need many seconds for a pipeline, with both ends in this process.
    const session = open(server.address, { timeoutMs: 60_000 });
    await session.connected();
    const pipeline = (reads: number) =>
      Promise.all(Array.from({ length: reads }, () => session.exists("/a")));
    expect(await growth(100_000, pipeline)).toBeLessThan(1.5);
    expect(server.connections).toHaveLength(1);
  });
});

describe("3.1 IPv6", () => {
  test.each(["[::1]:PORT", "[::1]:PORT/chroot"])(
    "%s is the IPv6 host and its port",
    async (form) => {
      const port = await freePort();
      const session = open(form.replace("PORT", String(port)), { refusedTimeoutMs: 0 });
      // Nobody listens there. "No such host" would mean that the address had been taken for a name.
      const reason = `cannot connect to ZooKeeper: [::1]:${port} (`;
      await expect(session.connected()).rejects.toThrow(reason);
      await expect(session.connected()).rejects.toThrow(
        /\((connection refused|address not available|network unreachable)/,
      );
    },
  );
});

describe("3.1 no TLS, no read-only", () => {
  test("a session opens over TLS", async () => {
    const certificates = makeCertificates();
    onTestFinished(() => certificates.remove());
    const tls = await startTlsServer({
      certificate: certificates.server,
      clientCa: certificates.ca,
    });
    onTestFinished(() => tls.stop());
    const session = open(tls.secureAddress, { tls: { ca: readFileSync(certificates.ca) } });
    expect(await session.getChildren("/")).toEqual(["zookeeper"]);
  });

  test.each([true, false])(
    "the handshake says whether a read-only server will do: %s",
    async (readOnly) => {
      const server = await fake();
      await open(server.address, { readOnly }).connected();
      expect(lastConnection(server).handshake?.readOnly).toBe(readOnly);
    },
  );
});
