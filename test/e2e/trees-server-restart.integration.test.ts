/** The commands for trees while the server is restarted in the middle of them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";

const PARENTS = 20;
const CHILDREN = 500;
const directory = temporaryDirectory("restart");
const file = join(directory, "before.jsonl");

let server: ZooKeeperServer;
let proxy: FaultProxy;

beforeAll(async () => {
  server = await startServer();
  proxy = await startFaultProxy(server.port);
  const session = openSession({ ...parseConnectString(server.address), timeoutMs: 10_000 });
  await plant(session);
  await session.close();
  await run(server.address, "export", "/t", "-o", file);
}, 60_000);

afterAll(async () => {
  await proxy.close();
  await server.stop();
});

async function plant(session: Session): Promise<void> {
  const data = Buffer.alloc(100, "x");
  await session.create("/t", data);
  for (let parent = 0; parent < PARENTS; parent++) {
    const path = `/t/${parent}`;
    const children = Array.from({ length: CHILDREN }, (_, i) => `${path}/${i}`);
    await session.multi([path, ...children].map((one) => ({ op: "create", path: one, data })));
  }
}

async function run(address: string, ...words: readonly string[]) {
  const { code, stdout, stderr } = await runZksh(["-y", "-s", address, ...words], {
    timeoutMs: 60_000,
  });
  return { code, stdout: String(stdout), stderr };
}

/** Runs the command through the proxy; the server restarts when `chunk` chunks have come from it. */
async function runOverRestart(chunk: number, ...words: readonly string[]) {
  let chunks = 0;
  let restarted: Promise<void> | undefined;
  proxy.onBytes = (towards) => {
    if (towards === "to-client" && ++chunks === chunk) restarted = server.restart();
  };
  const result = await run(proxy.address, ...words);
  await restarted;
  expect(restarted, `${words[0]} ended before the restart`).toBeDefined();
  return result;
}

/** The lines of an export below its header, which tells the time. */
async function znodeLines(name: string): Promise<string> {
  const text = await readFile(name, "utf8");
  return text.slice(text.indexOf("\n"));
}

describe("over a restart of the server", () => {
  test.each([
    ["find", "/t", "--size", "100"],
    ["find", "/t"],
    ["grep", "-l", "x", "/t"],
    ["du", "/t"],
    ["tree", "-s", "/t"],
    ["diff", "/t", `file:${file}`],
  ])("%s %s %s has the same result", async (...words) => {
    const before = await run(server.address, ...words);
    expect(await runOverRestart(8, ...words)).toEqual(before);
  });

  test("export is complete, and warns that changes may be missing from its list", async () => {
    const again = join(directory, "again.jsonl");
    const { code, stderr } = await runOverRestart(12, "export", "/t", "-o", again);
    expect([code, stderr]).toEqual([0, expect.stringContaining("may be missing")]);
    expect(await znodeLines(again)).toBe(await znodeLines(file));
  });

  test("export --consistent begins again and has nothing to warn of", async () => {
    const again = join(directory, "consistent.jsonl");
    const words = ["export", "--consistent", "/t", "-o", again];
    expect(await runOverRestart(12, ...words)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await znodeLines(again)).toBe(await znodeLines(file));
  });

  test.each([
    { words: ["cp", "-r", "-p", "/t", "/copied"], to: "/copied" },
    { words: ["import", file, "/imported"], to: "/imported" },
  ])("$words.0 ends with an equal tree", async ({ words, to }) => {
    const { code } = await runOverRestart(12, ...words);
    expect(code).toBe(0);
    expect(await run(server.address, "diff", "--acl", "/t", to)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  test("mv that copies ends with an equal tree, and the source is gone", async () => {
    expect((await run(server.address, "cp", "-r", "/t", "/old")).code).toBe(0);
    expect((await runOverRestart(40, "mv", "/old", "/moved")).code).toBe(0);
    const same = { code: 0, stdout: "", stderr: "" };
    expect(await run(server.address, "diff", "/t", "/moved")).toEqual(same);
    expect((await run(server.address, "exists", "/old")).code).toBe(1);
  });
});
