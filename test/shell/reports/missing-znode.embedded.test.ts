import { describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../../src/embedded/server.ts";
import { NoNodeError, PermissionError } from "../../../src/errors.ts";
import type { Session } from "../../../src/session/session.ts";
import { findNearby } from "../../../src/shell/reports/missing-znode.ts";
import { run } from "../../commands/run.ts";
import { runReal } from "../../commands/run-real.ts";
import { StubSession } from "../../commands/stub-session.ts";

const given = { "/app": "", "/app/config": "", "/app/jobs": "", "/app/jobs/job-0000000001": "" };

function missing(path: string): NoNodeError {
  return new NoNodeError("no-node", `no such znode: ${path}`, { path });
}

const lookups = [
  { path: "/app/confg", nearby: { parent: "/app", suggestion: "/app/config" } },
  { path: "/app/confg/x/y", nearby: { parent: "/app", suggestion: "/app/config" } },
  { path: "/ap/config", nearby: { parent: "/", suggestion: "/app" } },
  { path: "/app/something", nearby: { parent: "/app" } },
  { path: "/app/jobs/job-0000000002", nearby: { parent: "/app/jobs" } },
  { path: "/x", nearby: { parent: "/" } },
  { path: "/app", nearby: undefined },
];

describe("findNearby", () => {
  test.each(lookups)("finds what is near $path", async ({ path, nearby }) => {
    const session = new StubSession(given);
    const open = async () => session.asSession();
    expect(await findNearby(missing(path), { open })).toEqual(nearby);
    expect(session.asked.at(-1)).toBe("close");
  });

  test("asks for all parents in one flight", async () => {
    const session = new StubSession(given);
    await findNearby(missing("/app/x/y"), { open: async () => session.asSession() });
    expect(session.asked).toEqual([
      "exists /",
      "exists /app",
      "exists /app/x",
      "exists /app/x/y",
      "getChildren /app",
      "close",
    ]);
  });

  test("leaves a session that it was given open", async () => {
    const session = new StubSession(given);
    await findNearby(missing("/app/x"), { current: async () => session.asSession() });
    expect(session.asked).not.toContain("close");
  });

  test("has no suggestion without permission to list the parent", async () => {
    const session = new StubSession(given);
    session.getChildren = async () => {
      throw new PermissionError("no-auth", "not permitted");
    };
    expect(
      await findNearby(missing("/app/confg"), { open: async () => session.asSession() }),
    ).toEqual({
      parent: "/app",
    });
  });

  test("does not list too many children", async () => {
    const session = new StubSession(given);
    const answer = session.exists.bind(session);
    session.exists = async (path) => {
      const stat = await answer(path);
      return stat && { ...stat, numChildren: 10_001 };
    };
    expect(
      await findNearby(missing("/app/confg"), { open: async () => session.asSession() }),
    ).toEqual({
      parent: "/app",
    });
    expect(session.asked).not.toContain("getChildren /app");
  });

  test("gives up on a session after a short wait, and ignores its failure", async () => {
    const never = { open: () => new Promise<Session>(() => {}) };
    const keepAlive = setInterval(() => {}, 100);
    expect(await findNearby(missing("/app/x"), never)).toBeUndefined();
    clearInterval(keepAlive);
    const open = async () => {
      throw new Error("unreachable");
    };
    expect(await findNearby(missing("/app/x"), { open })).toBeUndefined();
  });

  test("ignores other errors", async () => {
    const open = async () => {
      throw new Error("must not be asked");
    };
    expect(
      await findNearby(new NoNodeError("no-quota", "no quota", { path: "/a" }), { open }),
    ).toBeUndefined();
    expect(await findNearby(new Error("x"), { open })).toBeUndefined();
  });
});

const MESSAGE =
  "no such znode: /app/confg (NoNode)\n  nearest existing parent: /app; did you mean /app/config?\n";

describe("a missing znode", () => {
  test("is explained after one command, by a session of its own", async () => {
    const { stderr, opened, exit } = await run(["get", "/app/confg"], { given });
    expect([stderr, opened.length, exit]).toEqual([`error: ${MESSAGE}`, 2, 3]);
  });

  test("is explained in a script, by the script's session", async () => {
    const { stderr, opened } = await run(["-c", "get /app/confg"], { given });
    expect([stderr, opened.length]).toEqual([`-c:1: error: ${MESSAGE}`, 1]);
  });

  test("is not explained in JSON, nor as zkCli", async () => {
    const json = await run(["--json", "get", "/app/confg"], { given });
    expect([JSON.parse(json.stderr).error.hint, json.opened.length]).toEqual([undefined, 1]);
    const zkcli = await run(["-o", "zkcli", "get", "/app/confg"], { given });
    expect([zkcli.stderr, zkcli.opened.length]).toEqual(["Node does not exist: /app/confg\n", 1]);
  });

  test("a command's own hint stands where no name is close", async () => {
    const { stderr } = await run(["create", "/app/other/x"], { given });
    expect(stderr).toBe(
      "error: cannot create /app/other/x: its parent /app/other does not exist (NoNode)\n  create -p creates missing parents too\n",
    );
    const slip = await run(["create", "/app/jbos/x"], { given });
    expect(slip.stderr).toContain("nearest existing parent: /app; did you mean /app/jobs?\n");
  });

  test("a missing chroot is created with the line that the hint names", async () => {
    const server = await startEmbeddedServer();
    onTestFinished(() => server.stop());
    const { stderr } = await runReal(`${server.address}/nochroot`, ["ls", "/"]);
    expect(stderr).toBe(
      "error: no such znode: / (NoNode)\n" +
        `  the chroot /nochroot does not exist; create it with: zksh -s ${server.address} create -p /nochroot\n`,
    );
  });
});
