/** doctor where servers misbehave on purpose, where it is interrupted, and where nothing is there. */
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type FakeServerOptions, startFakeServer } from "../support/fake-server.ts";
import { freePort } from "../support/free-port.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const srvr = (mode: string, zxid: string) =>
  `Zookeeper version: 3.8.0-x, built on 2022-02-25\nZxid: ${zxid}\nMode: ${mode}\n`;

async function fake(options: FakeServerOptions) {
  const server = await startFakeServer({ handshake: "close", word: () => "\n", ...options });
  onTestFinished(() => server.close());
  return server;
}

describe("doctor", () => {
  test("ends with 6 when no server can be reached, and still says why", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const { code, stdout } = await runZksh(["-s", address, "doctor"]);
    expect([code, stdout.toString()]).toEqual([
      6,
      `error\tunreachable\t${address}\tconnection refused\tstart the server: zkServer.sh start\n`,
    ]);
  });

  test("ends with 6 when the servers are in SRV records that do not exist", async () => {
    const { code, stderr } = await runZksh(["-s", "dns-srv://_zk._tcp.invalid", "doctor"]);
    expect([code, stderr]).toEqual([
      6,
      expect.stringContaining("cannot look up the servers of _zk._tcp.invalid: "),
    ]);
  });

  test("names a port that answers as no ZooKeeper does", async () => {
    const port = await freePort();
    const http = createServer((socket) => {
      socket.on("error", () => {});
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n\u001b[2J");
    });
    await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const { code, stdout } = await runZksh(["-s", `127.0.0.1:${port}`, "doctor"]);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(
      /^error\tnot-zookeeper\t127\.0\.0\.1:\d+\t[^\n]*clientPort[^\n]*\n$/,
    );
  });

  test("says that no session can be opened where only words are answered", async () => {
    const { address } = await fake({ srvr: srvr("standalone", "0x1") });
    const words = ["-s", address, "--connect-timeout", "500ms", "doctor"];
    const { code, stdout } = await runZksh(words);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/^error\tno-session\tensemble\t/);
  });

  test("is interrupted while a server does not answer", async () => {
    const silent = await startFakeServer();
    onTestFinished(() => silent.close());
    const { address, connections } = silent;
    const running = startZksh(["-s", address, "doctor"]);
    await eventually(() => connections.length > 0);
    running.kill("SIGINT");
    const { code, stdout } = await running.result;
    expect([code, stdout.toString()]).toEqual([130, ""]);
  });

  test("is interrupted while it waits for a follower to catch up", async () => {
    const leader = await fake({ srvr: srvr("leader", "0x100000009") });
    const follower = await fake({ srvr: srvr("follower", "0x100000001") });
    const running = startZksh(["-s", `${leader.address},${follower.address}`, "doctor"]);
    await eventually(() => follower.connections.length > 1);
    running.kill("SIGINT");
    const { code, stdout } = await running.result;
    expect([code, stdout.toString()]).toEqual([130, ""]);
  });

  test("finds nothing wrong with the server in memory", async () => {
    const { code, stdout, stderr } = await runZksh(["--embedded", "doctor"]);
    expect([code, stdout.toString(), stderr]).toEqual([0, "", ""]);
  });
});
