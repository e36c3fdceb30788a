import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../../../src/index.ts";
import type { ServerAddress } from "../../../../src/session/options.ts";
import { askWord } from "../../../../src/session/zookeeper/connecting/four-letter-word.ts";
import { freePort } from "../../../support/free-port.ts";

const toStop: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop();
});

/** A server that does `behave` with each connection. */
async function listening(behave: (socket: Socket) => void): Promise<ServerAddress> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    behave(socket);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  toStop.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { host: "127.0.0.1", port };
}

describe("a word", () => {
  test("gets the answer of a server, byte for byte", async () => {
    const odd = Buffer.from([0xff, 0x00, 0x0a, 0xc3]);
    const server = await listening((socket) => socket.once("data", () => socket.end(odd)));
    expect(await askWord(server, "srvr")).toMatchObject({ kind: "answered", bytes: odd });
  });

  test("is answered by the embedded server", async () => {
    const server = await startEmbeddedServer();
    toStop.push(() => server.stop());
    const [host = "", port] = server.address.split(":");
    const answer = await askWord({ host, port: Number(port) }, "ruok");
    expect(answer).toMatchObject({ kind: "answered", bytes: Buffer.from("imok") });
  });

  test.each(["", "\n"])(
    "that the whitelist lacks is recognised, with %j at the end",
    async (end) => {
      const refusal = `cons is not executed because it is not in the whitelist.${end}`;
      const server = await listening((socket) => socket.once("data", () => socket.end(refusal)));
      expect(await askWord(server, "cons")).toEqual({ kind: "not-allowed" });
    },
  );

  test("is answered, not refused, where the refusal of another word is quoted", async () => {
    const quoted = "stat is not executed because it is not in the whitelist.";
    const server = await listening((socket) => socket.once("data", () => socket.end(quoted)));
    expect(await askWord(server, "cons")).toMatchObject({ kind: "answered" });
  });
});

describe("a word fails", () => {
  test("where no server listens", async () => {
    const server = { host: "127.0.0.1", port: await freePort() };
    expect(await askWord(server, "srvr")).toEqual({
      kind: "failed",
      why: "refused",
      says: "connection refused",
    });
  });

  test("where the name has no address", async () => {
    const server = { host: "no-such-host.invalid", port: 2181 };
    expect(await askWord(server, "srvr")).toMatchObject({ kind: "failed", why: "dns" });
  });

  test("where the server hangs up without an answer", async () => {
    const server = await listening((socket) => socket.once("data", () => socket.end()));
    expect(await askWord(server, "abcd")).toMatchObject({ kind: "failed", why: "closed" });
  });

  test("where the server says nothing within the deadline", async () => {
    const server = await listening(() => {});
    const answer = await askWord(server, "srvr", { timeoutMs: 50 });
    expect(answer).toEqual({
      kind: "failed",
      why: "no-answer",
      says: "no answer to srvr within 50 ms",
    });
  });

  test("where the answer has no end", async () => {
    const server = await listening((socket) => {
      const more = () => {
        while (socket.write(Buffer.alloc(65_536, "x")));
      };
      socket.once("data", more);
      socket.on("drain", more);
    });
    expect(await askWord(server, "srvr")).toMatchObject({ kind: "failed", why: "too-long" });
  });
});

test("an interrupted word rejects with the reason of the signal", async () => {
  const server = await listening(() => {});
  const controller = new AbortController();
  const asked = askWord(server, "srvr", { signal: controller.signal });
  const reason = new Error("interrupted here");
  controller.abort(reason);
  await expect(asked).rejects.toBe(reason);
  await expect(askWord(server, "srvr", { signal: controller.signal })).rejects.toBe(reason);
});
