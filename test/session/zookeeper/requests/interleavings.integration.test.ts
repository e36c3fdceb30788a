import { describe, expect, onTestFinished, test } from "vitest";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { deferred, eventually } from "../../../support/eventually.ts";
import {
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { freshChroot } from "../../../support/shared-server.ts";

const OP = { exists: 3, getData: 4, auth: 100, setWatches: 101, closeSession: -11 } as const;
const NO_NODE = -101;
const EMPTY_ZNODE = Buffer.concat([Buffer.from("ffffffff", "hex"), Buffer.alloc(68)]);

function open(address: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({ ...parseConnectString(address), timeoutMs: 60_000, ...options });
  onTestFinished(() => session.close());
  return session;
}

async function fake(options: FakeServerOptions): Promise<FakeServer> {
  const server = await startFakeServer(options);
  onTestFinished(() => server.close());
  return server;
}

/**
 * Keeps the event loop busy, so that everything that arrives meanwhile is read at once afterwards.
 */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("a queue longer than the window goes on", () => {
  // Nothing else would send the rest before the next heartbeat, 8.25 s later.
  const SOON_MS = 7_000;

  test("after answers that were read together with the handshake's", async () => {
    const session = open(await freshChroot());
    const startedAt = performance.now();
    const reads = Promise.all(Array.from({ length: 1_200 }, () => session.exists("/n")));
    await nextTurn();
    block(300);
    await reads;
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  });

  test("after an event that had to wait for the answers before it", async () => {
    const session = open(await freshChroot());
    await session.create("/w", null);
    const fired = deferred();
    await session.exists("/w", { watch: () => fired.resolve() });
    const startedAt = performance.now();
    const before = Array.from({ length: 100 }, () => session.exists("/n"));
    const change = session.setData("/w", null);
    const after = Array.from({ length: 1_500 }, () => session.exists("/n"));
    await nextTurn();
    await nextTurn();
    block(300);
    await Promise.all([...before, change, ...after, fired.promise]);
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  });
});

describe("a read that left together with closeSession", () => {
  test("is made again in a new session when the connection breaks behind the handshake", async () => {
    const server = await fake({
      onRequest: ({ opcode, connection }, reply) => {
        if (opcode !== OP.getData) return connection === server.connections[0] ? undefined : false;
        return connection === server.connections[0] ? reply.close() : reply.ok(EMPTY_ZNODE);
      },
    });
    const session = open(server.address);
    const read = session.getData("/a");
    const closed = session.close();
    expect((await read).data).toBeNull();
    await closed;
    expect(server.connections.map(({ handshake }) => handshake?.sessionId)).toEqual([0n, 0n]);
  });

  test("fails at last when every connection breaks", async () => {
    const server = await fake({ onRequest: (_, reply) => reply.close() });
    const session = open(server.address);
    const read = session.getData("/a");
    await session.close();
    await expect(read).rejects.toMatchObject({ name: "ConnectionError" });
  });
});

describe("watches that take several requests to set again", () => {
  test("are asked for from before the gap until all of them have been answered", async () => {
    const asked: [connection: number, zxid: bigint][] = [];
    const server = await fake({
      onRequest: ({ opcode, body, connection }, reply) => {
        if (opcode === OP.exists) return reply.error(NO_NODE);
        if (opcode !== OP.setWatches) return false;
        const index = server.connections.indexOf(connection);
        asked.push([index, body.readBigInt64BE(0)]);
        if (index > 1) return reply.ok();
        // Others have written meanwhile; the first piece is answered, and then the line breaks
        // again.
        server.zxid += 100n;
        if (asked.length > 1) return reply.close();
        return reply.ok();
      },
    });
    const session = open(server.address);
    const name = "n".repeat(90);
    const watch = () => {};
    await Promise.all(
      Array.from({ length: 2_000 }, (_, i) => session.exists(`/${name}${i}`, { watch })),
    );
    const before = session.lastZxid;
    server.connections[0]?.close();
    await eventually(() =>
      expect(asked.filter(([connection]) => connection === 2)).toHaveLength(2),
    );
    expect(new Set(asked.map(([, zxid]) => zxid))).toEqual(new Set([before]));
  });

  test("are asked for on another connection when a server does not set them", async () => {
    const server = await fake({
      onRequest: ({ opcode, connection }, reply) => {
        if (opcode === OP.exists) return reply.error(NO_NODE);
        if (opcode !== OP.setWatches) return false;
        return server.connections.indexOf(connection) === 1 ? reply.error(-127) : reply.ok();
      },
    });
    const session = open(server.address);
    await session.exists("/a", { watch: () => {} });
    server.connections[0]?.close();
    await eventually(() => expect(server.connections[2]?.opcodes).toContain(OP.setWatches));
  });
});

describe("a credential", () => {
  test("is not sent when its caller had given up before", async () => {
    const server = await fake({});
    const session = open(server.address);
    await session.connected();
    const added = session.addAuth("digest", Buffer.from("u:p"), { signal: AbortSignal.abort() });
    await expect(added).rejects.toMatchObject({ reason: "interrupted" });
    await expect(session.exists("/a")).rejects.toThrow();
    expect(server.connections[0]?.opcodes).toEqual([OP.exists]);
  });

  test("is not sent when its caller gives up while no server is there", async () => {
    const server = await fake({ handshake: "silent" });
    const session = open(server.address, { auth: [] });
    const controller = new AbortController();
    const added = session.addAuth("digest", Buffer.from("u:p"), { signal: controller.signal });
    controller.abort();
    await expect(added).rejects.toMatchObject({ reason: "interrupted" });
    server.options.handshake = "normal";
    await eventually(() => server.connections[0] !== undefined);
    server.connections[0]?.close();
    await session.connected();
    await expect(session.exists("/a")).rejects.toThrow();
    expect(server.connections.at(-1)?.opcodes).toEqual([OP.exists]);
  });
});
