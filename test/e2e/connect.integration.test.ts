import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeServer, startFakeServer } from "../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { runZksh } from "../support/zksh-process.ts";

let nobody: string;
let silent: FaultProxy;
let closing: FakeServer;

beforeAll(async () => {
  nobody = `127.0.0.1:${await freePort()}`;
  silent = await startFaultProxy(Number(sharedServer().split(":")[1]));
  silent.blackhole();
  closing = await startFakeServer({ handshake: "close" });
});

afterAll(async () => {
  await silent.close();
  await closing.close();
});

describe("a server list without a server", () => {
  test("ends the program with code 6 in time, and every address is named with its reason", async () => {
    const list = [nobody, silent.address, closing.address].join();
    const { code, stdout, stderr, durationMs } = await runZksh([
      "-s",
      list,
      "--connect-timeout",
      "3s",
      "get",
      "/x",
    ]);
    expect([code, String(stdout)]).toEqual([6, ""]);
    const [sentence = ""] = stderr.split("\n");
    expect(sentence).toMatch(/^error: cannot connect to ZooKeeper within 3 s: /);
    for (const reason of [
      `${nobody} (connection refused)`,
      `${silent.address} (no answer)`,
      `${closing.address} (the server closed the connection; it may have no quorum, or expect TLS)`,
    ]) {
      expect(sentence).toContain(reason);
    }
    expect(stderr).not.toContain(" at ");
    // Not so long for each of them; and a program needs its time to start.
    expect(durationMs).toBeLessThan(3_000 + 5_000);
  });

  test("ends the program soon when nobody listens at all", async () => {
    const { code, stderr, durationMs } = await runZksh(["-s", nobody, "get", "/x"]);
    expect(code).toBe(6);
    expect(stderr).toContain(
      `error: cannot connect to ZooKeeper: ${nobody} (connection refused)\n`,
    );
    expect(durationMs).toBeLessThan(8_000);
  });

  test("that expects TLS is told with the option for it", async () => {
    const secure = await startFakeServer({
      handshake: "silent",
      onRequest: () => {},
      onConnection: (connection) => connection.raw(Buffer.from("15030300020246", "hex")),
    });
    const { code, stderr } = await runZksh(["-s", secure.address, "get", "/x"]);
    await secure.close();
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /\(the server expects TLS on this port\)\n.*use --tls, or --tls-ca FILE/,
    );
  });

  test("is one JSON object on stderr when JSON is asked for", async () => {
    const { code, stdout, stderr } = await runZksh([
      "--json",
      "-s",
      nobody,
      "--connect-timeout",
      "200ms",
      "get",
      "/x",
    ]);
    expect([code, String(stdout)]).toEqual([6, ""]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        reason: "unreachable",
        exitCode: 6,
        message: expect.stringContaining(`${nobody} (connection refused)`),
      },
    });
  });
});

test("a server list with one server that works is enough", async () => {
  const chroot = await freshChroot();
  const list = `${nobody},${silent.address},${chroot}`;
  const { code, stderr } = await runZksh(["-s", list, "--connect-timeout", "3s", "get", "/"]);
  expect([code, stderr]).toEqual([0, ""]);
});
