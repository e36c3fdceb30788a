import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { hexId } from "../../src/text/hex-id.ts";
import { type Ensemble, startEnsemble } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { record, ticket, uuid } from "../support/tickets.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { runReal } from "./run-real.ts";

const lockTicket = (session: Session, path: string, letter: string) =>
  ticket(session, `${path}/_c_${uuid(letter)}-lock-`, record({ who: `${letter}@web1` }));

describe("session, this one", () => {
  test("prints its id, server, client and timeout", async () => {
    const { exit, stdout, stderr } = await runReal(sharedServer(), ["-t", "7s", "session"]);
    expect(exit).toBe(0);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^session\t0x[0-9a-f]+$/),
      `server\t${sharedServer()}`,
      expect.stringMatching(/^client\t127\.0\.0\.1:\d+$/),
      "timeout\t7s",
      expect.stringMatching(/^connected\t\d{4}-\d\d-\d\dT.*Z$/),
      "",
    ]);
    expect(stderr).toBe("note: this session is new, and ends with this command\n");
  });

  test("prints its ephemerals, and the locks that it holds and waits for", async () => {
    const server = await freshChroot();
    const ann = openFor(server);
    for (const path of ["/a", "/b"]) await ann.create(path, null);
    await lockTicket(ann, "/b", "a");
    const script = "create -e /x; lock /a; session --json";
    const { stdout } = await runReal(server, ["--json", "-c", script]);
    const told = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(told).toMatchObject({
      sessionId: expect.stringMatching(/^0x/),
      isOwn: true,
      ephemerals: [expect.stringMatching(/^\/a\/_c_.*-lock-\d{10}$/), "/x"],
      locks: [{ path: "/a", state: "holds", mode: "exclusive" }],
    });
  });

  test("says where the address comes from if the server does not tell it", async () => {
    const strict = await startServer({ config: { "4lw.commands.whitelist": "srvr,envi" } });
    try {
      const { exit, stdout, stderr } = await runReal(strict.address, ["session", "me"], {
        tty: true,
      });
      expect(exit).toBe(0);
      expect(stdout).toMatch(/^session {5}0x\w+ \(this session\)\nserver {6}127.*\nclient {6}127/);
      expect(stderr).toContain(`${strict.address} does not allow cons (4lw.commands.whitelist)\n`);
      expect(stderr).toContain("behind NAT the server sees another one\n");
    } finally {
      await strict.stop();
    }
  });
});

/** The caller closes it. */
function openTo(connectString: string): Session {
  return openSession({ ...parseConnectString(connectString), timeoutMs: 10_000 });
}

describe("session ID, on an ensemble of three servers", () => {
  let ensemble: Ensemble;
  let ann: Session;
  let bob: Session;
  let server: string;
  beforeAll(async () => {
    ensemble = await startEnsemble(3);
    server = await freshChroot(ensemble.connectString.split(",")[0]);
    const chroot = server.slice(server.indexOf("/"));
    const [first, second] = ensemble.servers.map(({ address }) => address);
    ann = openTo(`${first}${chroot}`);
    bob = openTo(`${second}${chroot}`);
    server = `${ensemble.connectString}${chroot}`;
    await ann.create("/db", null);
    await ann.create("/db/locks", null);
    await lockTicket(ann, "/db/locks", "a");
    await bob.sync("/");
    await lockTicket(bob, "/db/locks", "b");
    await bob.create("/e 1", null, { mode: "ephemeral" });
    await bob.create("/plain-0000000001", null, { mode: "ephemeral" });
    await ann.sync("/");
  });
  afterAll(async () => {
    await Promise.all([ann, bob].map((session) => session?.close()));
    await ensemble?.stop();
  });
  const run = (...words: readonly string[]) => runReal(server, ["session", ...words]);

  test("the client and its server are found on any of the servers", async () => {
    const { exit, stdout, stderr } = await run(hexId(bob.id));
    expect([exit, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      `session\t${hexId(bob.id)}`,
      `server\t${ensemble.servers[1]?.address}`,
      expect.stringMatching(/^client\t127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^timeout\t/),
      expect.stringMatching(/^connected\t/),
      expect.stringMatching(/^ephemeral\t\/db\/locks\/_c_/),
      "ephemeral\t/e 1",
      "ephemeral\t/plain-0000000001",
      expect.stringMatching(/^waits\t\/db\/locks\texclusive\t\/db\/locks\/_c_\S+\t1$/),
      "",
    ]);
  });

  test("on a terminal the holder of a lock is named", async () => {
    const { stdout } = await runReal(server, ["session", hexId(bob.id)], { tty: true });
    expect(stdout).toContain("waits for /db/locks (exclusive), next, held by a@web1");
    const holder = await runReal(server, ["session", hexId(ann.id)], { tty: true });
    expect(holder.stdout).toContain("holds /db/locks (exclusive)\n");
  });

  test("ephemerals outside the chroot are counted, not named", async () => {
    const inside = `${server}/db`;
    const { stdout, stderr } = await runReal(inside, ["session", hexId(bob.id)]);
    expect(stdout).toMatch(/^ephemeral\t\/locks\/_c_/m);
    expect(stdout).not.toContain("e 1");
    expect(stderr).toBe("note: 2 ephemerals outside the chroot left out\n");
  });

  test("a session that does not exist is exit code 1", async () => {
    expect(await run("0x123")).toEqual({
      exit: 1,
      stdout: "",
      stderr: "error: there is no session 0x123\n",
    });
  });

  test.each(["123", "0x", "0x12345678901234567", "ann"])("%s is no session id", async (id) => {
    expect((await run(id)).exit).toBe(2);
  });

  test("--all lists the sessions of all servers", async () => {
    const { stdout } = await run("--all");
    const rows = stdout.split("\n").map((line) => line.split("\t"));
    const row = (id: bigint) => rows.find(([session]) => session === hexId(id));
    expect(row(ann.id)?.slice(1, 2)).toEqual([ensemble.servers[0]?.address]);
    expect(row(ann.id)?.[4]).toBe("1");
    expect(row(bob.id)?.slice(1, 2)).toEqual([ensemble.servers[1]?.address]);
    expect(row(bob.id)?.[4]).toBe("3");
    const json = JSON.parse((await run("--all", "--json")).stdout);
    expect(json.sessions).toContainEqual(
      expect.objectContaining({ sessionId: hexId(bob.id), ephemerals: 3 }),
    );
    const table = await runReal(server, ["session", "--all"], { tty: true, columns: 60 });
    expect(table.stdout.split("\n").every((line) => line.length <= 60)).toBe(true);
  });

  test("a server that was killed is named, and the others tell", async () => {
    const third = ensemble.servers[2] as ZooKeeperServer;
    await third.kill();
    try {
      await eventually(async () => {
        const { exit, stdout, stderr } = await run(hexId(bob.id));
        expect(exit).toBe(0);
        expect(stdout).toContain("ephemeral\t/e 1\n");
        expect(stderr).toContain(
          `note: ${third.address} did not answer cons: connection refused\n`,
        );
      });
    } finally {
      await third.start();
    }
  });
});

describe("session ID, where servers allow no words", () => {
  let strict: ZooKeeperServer;
  let bob: Session;
  beforeAll(async () => {
    strict = await startServer({ config: { "4lw.commands.whitelist": "srvr,envi" } });
    bob = openTo(strict.address);
    await bob.create("/a", null);
    await bob.create("/a/e", null, { mode: "ephemeral" });
    await bob.create("/shut", null, { acl: [{ perms: 16, scheme: "world", id: "anyone" }] });
  });
  afterAll(async () => {
    await bob?.close();
    await strict?.stop();
  });

  test("the tree is searched for its ephemerals, and this is said", async () => {
    const { exit, stdout, stderr } = await runReal(strict.address, ["session", hexId(bob.id)]);
    expect([exit, stdout]).toEqual([0, `session\t${hexId(bob.id)}\nephemeral\t/a/e\n`]);
    expect(stderr.split("\n")).toEqual([
      `note: ${strict.address} does not allow cons (4lw.commands.whitelist)`,
      `note: ${strict.address} does not allow dump (4lw.commands.whitelist)`,
      expect.stringMatching(/^note: the ephemerals were searched in \d+ znodes$/),
      "note: 1 znode could not be listed",
      "",
    ]);
  });

  test("a session without ephemerals cannot be told from one that does not exist", async () => {
    const { exit, stderr } = await runReal(strict.address, ["session", "0x123"]);
    expect(exit).toBe(1);
    expect(stderr).toBe(
      "error: session 0x123 owns no ephemeral znode, and no server tells whether it exists\n" +
        "  add to zoo.cfg on each server, and restart it: 4lw.commands.whitelist=srvr,cons,dump\n",
    );
  });

  test("--all needs the words", async () => {
    const { exit, stderr } = await runReal(strict.address, ["session", "--all"]);
    expect(exit).toBe(1);
    expect(stderr).toContain("error: no server tells its sessions\n  add to zoo.cfg");
  });
});
