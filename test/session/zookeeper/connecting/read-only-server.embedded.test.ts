/** A session that may attach to a read-only server, and the search for one that can write. */
import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { startEmbeddedServer } from "../../../../src/embedded/server.ts";
import type { StateChange } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeServer, startFakeServer } from "../../../support/fake-server.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { openFor } from "../../../support/open-session.ts";

afterEach(() => vi.restoreAllMocks());

/** The order of the connect string instead of a random one. */
function keepOrder(): void {
  vi.spyOn(Math, "random").mockReturnValue(0.999);
}

/** A server with a quorum, out of reach until its proxy listens. */
async function unreachableServer() {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  const proxy = await startFaultProxy(server.port);
  onTestFinished(() => proxy.close());
  await proxy.refuse();
  return proxy;
}

describe("a read-only server", () => {
  const ACCEPTED_READ_ONLY = Buffer.from(
    `00000000 00002710 0300018f3a7c0000 00000010 ${"07".repeat(16)} 01`.replaceAll(" ", ""),
    "hex",
  );

  async function startReadOnly(): Promise<FakeServer> {
    const server = await startFakeServer({
      handshake: () => ACCEPTED_READ_ONLY,
      onRequest: ({ opcode }, reply) => opcode !== -11 && reply.error(opcode === 3 ? -101 : -119),
    });
    onTestFinished(() => server.close());
    server.zxid = 1n;
    return server;
  }

  test("hears in the handshake whether it may be chosen", async () => {
    const server = await startReadOnly();
    const [strict, lenient] = [
      openFor(server.address),
      openFor(server.address, { readOnly: true }),
    ];
    await Promise.all([strict.connected(), lenient.connected()]);
    const flags = server.connections.map(({ handshake }) => handshake?.readOnly);
    expect(flags.sort()).toEqual([false, true]);
  });

  test("serves reads and refuses writes", async () => {
    const server = await startReadOnly();
    const session = openFor(server.address, { readOnly: true });
    expect(await session.exists("/a")).toBeUndefined();
    expect(session.isReadOnly).toBe(true);
    const refused = { reason: "read-only-server", code: -119, name: "RefusedError" };
    await expect(session.create("/a", null)).rejects.toMatchObject(refused);
    expect(session.state).toBe("connected");
  });

  test("is left for one that can write as soon as there is one, with a new session", async () => {
    const readOnly = await startReadOnly();
    const readWrite = await unreachableServer();
    const session = openFor(`${readOnly.address},${readWrite.address}`, { readOnly: true });
    const changes: StateChange[] = [];
    session.onState((change) => changes.push(change));
    await session.connected();
    expect([session.isReadOnly, session.server, session.id]).toEqual([
      true,
      readOnly.address,
      0x0300_018f_3a7c_0000n,
    ]);
    await readWrite.listen();
    await eventually(() => session.server === readWrite.address);
    expect(session.isReadOnly).toBe(false);
    expect(session.id).not.toBe(0x0300_018f_3a7c_0000n);
    expect(await session.exists("/zookeeper")).toBeDefined();
    expect(changes.map(({ state }) => state)).toEqual(["connected", "suspended", "connected"]);
    await eventually(() => readOnly.connections.every((connection) => !connection.isOpen));
  });

  test("is not left for another that is read-only too", async () => {
    const asked: string[] = [];
    const other = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        asked.push(chunk.toString());
        socket.end(chunk.toString() === "isro" ? "ro" : "");
      });
    });
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const readOnly = await startReadOnly();
    keepOrder();
    const session = openFor(`${readOnly.address},127.0.0.1:${port}`, { readOnly: true });
    await session.connected();
    await eventually(() => asked.length >= 3);
    expect(new Set(asked)).toEqual(new Set(["isro"]));
    expect([session.server, readOnly.connections.length]).toEqual([readOnly.address, 1]);
  });

  test("may be the only one: no other server is asked then", async () => {
    const readOnly = await startReadOnly();
    const session = openFor(readOnly.address, { readOnly: true });
    await session.exists("/a");
    expect([session.isReadOnly, readOnly.connections.length]).toEqual([true, 1]);
  });
});
