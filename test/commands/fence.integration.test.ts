import { beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { runReal } from "./run-real.ts";

let server: string;
let session: Session;

beforeEach(async () => {
  server = await freshChroot();
  session = openFor(server);
});

const fence = (...words: readonly string[]) => runReal(server, ["fence", ...words]);
const data = async (path: string) => String((await session.getData(path)).data);

describe("fence check", () => {
  test("tells a hold that goes on from one that is over", async () => {
    await session.create("/deploy", null);
    const { path, stat } = await session.create2("/deploy/lock-", null, {
      mode: "ephemeralSequential",
    });
    const sequencer = `exclusive:0x${stat.czxid.toString(16)}:${path}`;
    expect(await fence("check", sequencer)).toEqual({ exit: 0, stdout: "current\n", stderr: "" });
    expect(await runReal(server, ["--json", "fence", "check", sequencer])).toMatchObject({
      stdout: `${JSON.stringify({ node: path, czxid: `0x${stat.czxid.toString(16)}`, current: true })}\n`,
    });
    // The same name, made again.
    expect(await fence("check", `exclusive:0x1:${path}`)).toEqual({
      exit: 1,
      stdout: "stale\n",
      stderr: "",
    });
    await session.delete(path);
    expect(await fence("check", sequencer)).toEqual({ exit: 1, stdout: "stale\n", stderr: "" });
  });

  test.each([
    "x",
    "exclusive:31:/a",
    "exclusive:0x1f:a",
    "shared:0x1f:/a",
    "exclusive:0x1f:/a//b",
    "exclusive:0xg:/a",
  ])("%s is no sequencer", async (sequencer) => {
    expect((await fence("check", sequencer)).exit).toBe(2);
  });

  test("takes no token", async () => {
    expect(await fence("check", "exclusive:0x1f:/a", "7")).toMatchObject({
      exit: 2,
      stderr: "error: fence check takes no token\n",
    });
  });
});

describe("fence guard", () => {
  test("--acl keeps others from turning the token back, on the znode and its parents", async () => {
    const ann = openFor(server, {
      auth: [{ scheme: "digest", credential: Buffer.from("ann:secret") }],
    });
    const guard = [
      "--auth",
      "digest:ann:secret",
      "fence",
      "guard",
      "--acl",
      "auth::cdrwa",
      "/fences/db",
    ];
    expect(await runReal(server, [...guard, "7"])).toMatchObject({ exit: 0, stderr: "" });
    expect(await rejection(session.setData("/fences/db", Buffer.from("1")))).toMatchObject({
      reason: "no-auth",
    });
    expect(await rejection(session.delete("/fences/db"))).toMatchObject({ reason: "no-auth" });
    expect(await runReal(server, [...guard, "6"])).toMatchObject({ exit: 1 });
    expect(String((await ann.getData("/fences/db")).data)).toBe("7");
  });

  test("--acl takes a hash, and is for guard alone", async () => {
    expect((await fence("guard", "--acl", "digest:ann:secret:cdrwa", "/g", "7")).exit).toBe(2);
    expect((await fence("check", "--acl", "auth::cdrwa", "exclusive:0x1f:/a")).exit).toBe(2);
    expect(await session.exists("/g")).toBeUndefined();
  });

  test("lets tokens pass that are not lower, and keeps the highest", async () => {
    expect(await fence("guard", "/fences/db", "8589934607")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    });
    expect(await data("/fences/db")).toBe("8589934607");
    expect((await fence("guard", "/fences/db", "8589934607")).exit).toBe(0);
    expect((await fence("guard", "/fences/db", "9223372036854775807")).exit).toBe(0);
    expect(await fence("guard", "/fences/db", "8589934608")).toEqual({
      exit: 1,
      stdout: "",
      stderr: "error: token 8589934608 is outdated: /fences/db has seen 9223372036854775807\n",
    });
    expect(await data("/fences/db")).toBe("9223372036854775807");
    const [terminal, json] = [
      await runReal(server, ["fence", "guard", "/f", "7"], { tty: true }),
      await runReal(server, ["--json", "fence", "guard", "/f", "9"]),
    ];
    expect([terminal.stdout, json.stdout]).toEqual([
      "/f is at token 7\n",
      '{"path":"/f","token":"9","before":"7"}\n',
    ]);
  });

  test("of many at once the highest stays", async () => {
    const tokens = Array.from({ length: 20 }, (_, index) => String(100 + ((index * 7) % 20)));
    const ends = await Promise.all(tokens.map((token) => fence("guard", "/f", token)));
    expect(ends.every(({ exit }) => exit === 0 || exit === 1)).toBe(true);
    expect(await data("/f")).toBe("119");
  });

  test.each([
    { words: ["guard", "/f"], error: "no token given" },
    { words: ["guard", "/f", "x"], error: "bad token 'x'" },
    { words: ["guard", "/f", "-1"], error: "bad token '-1'" },
    { words: ["guard", "/f/../g", "1"], error: '/f/../g: ".." only works in relative paths' },
    { words: ["guard", "/", "1"], error: "/ cannot keep a token" },
    { words: ["guard", "/zookeeper", "1"], error: "/zookeeper belongs to the server" },
    { words: ["guard", "/zookeeper/quota/x", "1"], error: "/zookeeper belongs to the server" },
    { words: ["keep", "/f", "1"], error: "unknown fence action 'keep': use check or guard" },
  ])("$words is a mistake", async ({ words, error }) => {
    const { exit, stderr } = await fence(...words);
    expect([exit, stderr.split("\n")[0]]).toEqual([2, `error: ${error}`]);
  });

  test("does not overwrite data that is not a token", async () => {
    await session.create("/config", Buffer.from("{}"));
    expect((await fence("guard", "/config", "7")).exit).toBe(5);
    expect(await data("/config")).toBe("{}");
  });
});

describe("--fenced", () => {
  const fenced = (node: string, ...words: readonly string[]) =>
    runReal(server, words, { env: { ZK_LOCK_NODE: node } });

  beforeEach(async () => {
    await session.create("/lock", null, { mode: "ephemeral" });
    await session.create("/n", Buffer.from("old"));
  });

  test("does what it does without, while the lock is there", async () => {
    expect(await fenced("/lock", "set", "--fenced", "/n", "new")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    });
    expect(await data("/n")).toBe("new");
    expect((await fenced("/lock", "set", "--fenced", "-s", "/n", "new")).stdout).toContain(
      "dataVersion = 2\n",
    );
    expect(await fenced("/lock", "create", "--fenced", "-s", "/n/job-", "x")).toMatchObject({
      stdout: "/n/job-0000000000\n",
    });
    expect(await fenced("/lock", "create", "--fenced", "-p", "/p/q", "x")).toMatchObject({
      exit: 0,
      stdout: "/p/q\n",
    });
    expect(await fenced("/lock", "set", "--fenced", "--create", "-s", "/made", "x")).toMatchObject({
      exit: 0,
    });
    expect(await fenced("/lock", "delete", "--fenced", "/p/q")).toMatchObject({ exit: 0 });
    expect([await data("/made"), await session.exists("/p/q")]).toEqual(["x", undefined]);
  });

  test.each([
    ["set", "--fenced", "/n", "new"],
    ["set", "--fenced", "--create", "/made", "x"],
    ["create", "--fenced", "/n/x"],
    ["create", "--fenced", "-p", "/p/q"],
    ["delete", "--fenced", "/n"],
  ])("%s %s %s does nothing when the lock is gone", async (...words) => {
    const { exit, stderr } = await fenced("/gone", ...words);
    expect([exit, stderr]).toEqual([
      5,
      "error: the lock /gone is gone: nothing was written\n  its session expired, or a client deleted it\n",
    ]);
    expect([await data("/n"), (await session.getChildren("/")).sort()]).toEqual([
      "old",
      ["lock", "n"],
    ]);
  });

  test("other errors are not changed", async () => {
    expect((await fenced("/lock", "set", "--fenced", "/no", "x")).exit).toBe(3);
    expect((await fenced("/lock", "set", "--fenced", "-v", "7", "/n", "x")).exit).toBe(5);
    expect((await fenced("/lock", "create", "--fenced", "/n")).exit).toBe(5);
    expect((await fenced("/lock", "delete", "--fenced", "-v", "7", "/n")).exit).toBe(5);
  });

  test("a unique lock cannot fence: the next holder's znode has the same path", async () => {
    const env = { ZK_LOCK_NODE: "/lock", ZK_LOCK_PATH: "/lock" };
    expect(await runReal(server, ["set", "--fenced", "/n", "new"], { env })).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: --fenced does not work under the unique lock /lock: all its holders create the same znode\n" +
        "  leave out --recipe unique, or compare tokens with fence guard\n",
    });
    const held = ["/q\t1\texclusive\t/q/t\t0x1", "/lock\t2\texclusive\t/lock\t0x1"].join("\n");
    const several = {
      ZK_LOCK_NODE: "/q/t",
      ZK_LOCK_PATH: "/q",
      ZK_LOCK_SESSION: "0x1",
      ZK_LOCK_HELD: held,
    };
    expect((await runReal(server, ["set", "--fenced", "/n", "new"], { env: several })).exit).toBe(
      2,
    );
    expect(await data("/n")).toBe("old");
  });

  test("of several locks every one is asked for; those of programs further out are not", async () => {
    await session.create("/other", null, { mode: "ephemeral" });
    const line = (path: string, node: string, of: string) =>
      [path, "7", "exclusive", node, of].join("\t");
    const held = [
      line("/o", "/gone", "0x2"),
      "/older\t5",
      line("/a", "/lock", "0x1"),
      line("/b", "/other", "0x1"),
    ];
    const env = {
      ZK_LOCK_NODE: "/lock",
      ZK_LOCK_PATH: "/a",
      ZK_LOCK_SESSION: "0x1",
      ZK_LOCK_HELD: held.join("\n"),
    };
    expect((await runReal(server, ["set", "--fenced", "/n", "new"], { env })).exit).toBe(0);
    expect((await runReal(server, ["create", "--fenced", "-s", "/n/job-"], { env })).stdout).toBe(
      "/n/job-0000000000\n",
    );
    await session.delete("/other");
    expect(await runReal(server, ["set", "--fenced", "/n", "late"], { env })).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("the lock /other is gone: nothing was written"),
    });
    expect(await data("/n")).toBe("new");
  });

  test("needs a lock around it", async () => {
    for (const words of [
      ["set", "/n", "x"],
      ["create", "/x"],
      ["delete", "/n"],
    ]) {
      expect(await runReal(server, [...words, "--fenced"])).toEqual({
        exit: 2,
        stdout: "",
        stderr:
          "error: --fenced works only in a command run by zksh lock (ZK_LOCK_NODE is not set)\n  run it under a lock: zksh lock PATH -- COMMAND\n",
      });
    }
  });
});
