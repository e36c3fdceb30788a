import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import type { EmbeddedServerOptions } from "../../src/embedded/settings.ts";
import { RawClient } from "../contract/raw-client.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { openFor } from "../support/open-session.ts";

const servers: EmbeddedServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(options?: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer(options);
  servers.push(server);
  return server;
}

describe("startEmbeddedServer", () => {
  test("tells its address", async () => {
    const server = await start();
    expect(server.address).toBe(`127.0.0.1:${server.port}`);
    expect(await fourLetterWord(server.address, "ruok")).toBe("imok");
  });

  test("refuses a port that is in use", async () => {
    const { port } = await start();
    await expect(startEmbeddedServer({ port })).rejects.toThrow(/EADDRINUSE/);
  });

  test("expireSession ends a session at once", async () => {
    const server = await start();
    const session = openFor(server.address);
    const other = openFor(server.address);
    await session.create("/e", null, { mode: "ephemeral" });
    const gone = new Promise((resolve) => other.exists("/e", { watch: resolve }));
    await other.sync("/");
    expect(server.expireSession(session.id)).toBe(true);
    expect(await gone).toMatchObject({ type: "deleted", path: "/e" });
    await eventually(() => session.state === "lost");
    expect(server.expireSession(session.id)).toBe(false);
  });

  test("dropConnections leaves sessions alone", async () => {
    const server = await start();
    const session = openFor(server.address);
    await session.create("/e", null, { mode: "ephemeral" });
    const { id } = session;
    server.dropConnections();
    expect(await session.exists("/e")).toMatchObject({ ephemeralOwner: id });
  });

  test("a stalled server answers no connection, old or new, and then all of them", async () => {
    const server = await start();
    const client = await RawClient.open(server.address, "");
    server.stall(10);
    server.stall(300);
    const before = performance.now();
    const [{ err }, word] = await Promise.all([
      client.create("/a"),
      fourLetterWord(server.address, "ruok"),
    ]);
    expect([err, word]).toEqual([0, "imok"]);
    expect(performance.now() - before).toBeGreaterThan(250);
    client.end();
  });

  test("a client that sent a request while the process was busy keeps its session", async () => {
    const server = await start({ tickTimeMs: 250 });
    const [speaking, silent] = await Promise.all(
      [1, 2].map(() => RawClient.open(server.address, "", { timeoutMs: 500 })),
    );
    const answer = speaking?.exists("/");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    expect(await answer).toMatchObject({ err: 0 });
    await silent?.connection.untilClosed();
    speaking?.end();
  });

  test("stop leaves no handle that keeps the process alive", async () => {
    const server = await startEmbeddedServer();
    const socket = connect(server.port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    await server.stop();
    await closed;
    await expect(fourLetterWord(server.address, "ruok")).rejects.toThrow();
  });
});
