/** Programs under locks on ClickHouse Keeper, as the embedded server plays it. */
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { runZksh } from "../support/zksh-process.ts";
import { Scene } from "./lock-scene.ts";

const it = test.concurrent;
/** What a dead session keeps its tickets for; a Keeper as installed says 10 s at the least. */
const TIMEOUT_MS = 6_000;

let server: EmbeddedServer;
let locked: EmbeddedServer;

beforeAll(async () => {
  server = await startEmbeddedServer({ dialect: "keeper", minSessionTimeoutMs: TIMEOUT_MS });
  locked = await startEmbeddedServer({ dialect: "keeper", keeper: { password: "s3cret" } });
});

afterAll(async () => {
  await Promise.all([server.stop(), locked.stop()]);
});

it("the command of a lock is stopped when its connection breaks, before the lock is free", async (context) => {
  const scene = await Scene.at(context, server.address);
  const { proxy, server: through } = await scene.network();
  const timeout = ["--session-timeout", `${TIMEOUT_MS}ms`];
  const { zksh, beat } = await scene.holding(timeout, { server: through });
  const rival = await scene.rival();
  await beat.goesOn();
  const cutAt = performance.now();
  // The network is there again at once: a session of Apache ZooKeeper would go on.
  proxy.drop();
  const { code, stderr } = await zksh.result;
  expect(code).toBe(120);
  expect(performance.now() - cutAt).toBeLessThan(TIMEOUT_MS / 2);
  expect(stderr).toMatch(/^lost \/l: the session ended$/m);
  expect(beat.lastAt).toBeLessThan(await rival.gotAt);
});

it("a lock that is held for some heartbeats is held to the end", async (context) => {
  const scene = await Scene.at(context, server.address);
  const seconds = String((1.5 * TIMEOUT_MS) / 1_000);
  const timeout = ["--session-timeout", `${TIMEOUT_MS}ms`];
  const { code, stderr } = await scene.run(["lock", ...timeout, "/l", "--", "sleep", seconds]);
  expect([code, stderr]).toEqual([0, ""]);
});

it.each([
  ["lock", ["lock", "/l"]],
  ["rwlock", ["rwlock", "read", "/l"]],
  ["sem", ["sem", "--limit", "2", "/l"]],
  ["elect", ["elect", "/l"]],
  ["once", ["once", "--per", "week", "/l"]],
])("%s runs its command", async (_, words) => {
  const session = openSession(parseConnectString(server.address));
  const parent = await session.create("/run-", null, { mode: "persistentSequential" });
  await session.close();
  const { code, stdout } = await runZksh([
    ...["-s", `${server.address}${parent}`, ...words],
    ...["--", "echo", "done"],
  ]);
  expect([code, String(stdout)]).toEqual([0, "done\n"]);
});

it("doctor names the server and its release", async () => {
  const { stdout, stderr } = await runZksh(["-s", server.address, "doctor", "--json"]);
  expect(stderr).toMatch(/"release":"Keeper 24\.8\.1\.1"/);
  expect(String(stdout)).not.toMatch(/"\/keeper/);
  expect(stderr).not.toMatch(/internal error|not on ClickHouse/);
});

it("the password is read from its file, and a wrong one ends with exit code 4", async (context) => {
  const scene = await Scene.at(context, server.address);
  const [file, wrong] = [scene.file(), scene.file()];
  writeFileSync(file, "s3cret\n", { mode: 0o600 });
  writeFileSync(wrong, "guess\n", { mode: 0o600 });
  const run = (...words: string[]) => runZksh(["-s", locked.address, ...words, "ls", "/"]);
  const good = await run("--keeper-password-file", file, "--debug");
  expect([good.code, String(good.stdout)]).toEqual([0, "keeper\n"]);
  expect(good.stderr).not.toContain("s3cret");
  const bad = await run("--keeper-password-file", wrong);
  expect([bad.code, bad.stderr]).toEqual([
    4,
    `error: the ClickHouse Keeper ${locked.address} does not accept the password\n` +
      "  check the file of --keeper-password-file\n",
  ]);
  const none = await run();
  expect([none.code, none.stderr]).toEqual([
    4,
    `error: the ClickHouse Keeper ${locked.address} asks clients for a password\n` +
      "  give it with --keeper-password-file FILE\n",
  ]);
});
