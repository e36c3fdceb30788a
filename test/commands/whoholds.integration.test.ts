import { beforeEach, describe, expect, test } from "vitest";
import { Permission, type Session } from "../../src/session/session.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { kazoo, record, ticket, uuid } from "../support/tickets.ts";
import { runReal } from "./run-real.ts";

let server: string;
let ann: Session;
let bob: Session;

beforeEach(async () => {
  server = await freshChroot();
  [ann, bob] = [openFor(server), openFor(server)];
  await ann.create("/a", null);
  await ann.create("/b", null);
});

const whoholds = (...words: readonly string[]) => runReal(server, ["whoholds", ...words]);
const lockTicket = (session: Session, path: string, who: string, pid: number) =>
  ticket(session, `${path}/_c_${uuid(String(pid % 10))}-lock-`, record({ who, pid }));

describe("whoholds", () => {
  test("ends with 0 when one of the paths is held, with 1 when none is, or there is no such znode", async () => {
    expect(await whoholds("/a")).toEqual({ exit: 1, stdout: "/a\tfree\n", stderr: "" });
    expect(await whoholds("/no/such")).toEqual({ exit: 1, stdout: "/no/such\tfree\n", stderr: "" });
    const terminal = await runReal(server, ["whoholds", "/no/such"], { tty: true });
    expect(terminal).toEqual({
      exit: 1,
      stdout: "/no/such is free (there is no such znode)\n",
      stderr: "",
    });
    await lockTicket(ann, "/b", "ann@web3", 1);
    const { exit, stdout } = await whoholds("/a", "/b");
    expect([
      exit,
      stdout.split("\n").map((line) => line.split("\t").slice(0, 4).join(" ")),
    ]).toEqual([0, ["/a free", "/b holder exclusive ann@web3", ""]]);
  });

  test("needs a path, but for -R", async () => {
    expect(await whoholds()).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: no path given\n  use whoholds PATH... or whoholds -R\n",
    });
    expect(await whoholds("-R")).toEqual({ exit: 1, stdout: "", stderr: "" });
    expect(await runReal(server, ["whoholds", "-R", "/no"], { tty: true })).toEqual({
      exit: 1,
      stdout: "no locks below /no\n",
      stderr: "",
    });
  });

  test("may not list: exit code 4", async () => {
    await ann.create("/hidden", null, {
      acl: [{ perms: Permission.admin, scheme: "world", id: "anyone" }],
    });
    expect(await whoholds("/hidden")).toMatchObject({ exit: 4 });
  });

  test("--json has everything, ids and tokens as strings", async () => {
    const acquired = new Date().toISOString();
    const revoke = { by: "eve@ops", reason: "hotfix" };
    const data = record({ cmd: "deploy.sh", why: "v42", acquired, revoke });
    const node = await ticket(ann, `/a/_c_${uuid("a")}-lock-`, data);
    await ticket(bob, `/a/_c_${uuid("b")}-lock-`, "10.0.0.7");
    const stat = await ann.exists(node);
    const { exit, stdout } = await runReal(server, ["--json", "whoholds", "/a", "/b"]);
    expect(exit).toBe(0);
    const [held, free] = stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(held).toEqual({
      path: "/a",
      state: "held",
      exists: true,
      layouts: ["curator-lock"],
      holders: [
        {
          node,
          mode: "exclusive",
          isOurs: true,
          client: "zksh/0.1.0",
          who: "ann@web3",
          host: "web3.example",
          pid: 4711,
          cmd: "deploy.sh",
          why: "v42",
          session: `0x${ann.id.toString(16)}`,
          token: String(stat?.czxid),
          queuedAt: new Date(stat?.ctime ?? 0).toISOString(),
          acquiredAt: acquired,
          isAskedToYield: true,
          revoke,
        },
      ],
      waiters: [
        expect.objectContaining({
          position: 1,
          client: "Curator",
          note: "10.0.0.7",
          isOurs: false,
        }),
      ],
      strangers: [],
    });
    expect(free).toMatchObject({ path: "/b", state: "free", exists: true, holders: [] });
  });

  test("warns of sorts that do not see each other", async () => {
    await lockTicket(ann, "/a", "ann@web3", 1);
    await kazoo(server, 'client.Lock("/a", "job 7").acquire()');
    const { stdout, stderr } = await whoholds("/a");
    expect(stdout.split("\n").map((line) => line.split("\t").slice(1, 4).join(" "))).toEqual([
      "holder exclusive ann@web3",
      "holder exclusive job 7",
      "",
    ]);
    expect(stderr).toBe(
      "warning: on /a there are Curator locks and kazoo locks, which do not see each other\n",
    );
  });

  test("-o zkcli shows it as text", async () => {
    await lockTicket(ann, "/a", "ann@web3", 1);
    expect((await runReal(server, ["-o", "zkcli", "whoholds", "/a"])).stdout).toMatch(
      /^\/a\tholder\texclusive\tann@web3/,
    );
  });
});

describe("whoholds --explain", () => {
  test("says in a pipe, on a terminal and as JSON by which rule each one holds or waits", async () => {
    const first = await lockTicket(ann, "/a", "ann@web3", 1);
    const reader = await ticket(bob, `/a/_c_${uuid("b")}-__READ__`, record({ who: "bob@web1" }));
    await ticket(bob, `/a/_c_${uuid("c")}-__READ__`, record({ who: "cy@web2" }));
    const pipe = (await whoholds("--explain", "/a", "/b")).stdout
      .split("\n")
      .map((line) => line.split("\t").slice(12));
    expect(pipe.slice(0, 2)).toEqual([
      [
        expect.stringMatching(/^ann@web3 pid 1 holds it: .* a zksh lock waits/),
        `ls /a; get -s ${first}`,
      ],
      [
        expect.stringMatching(
          /^bob@web1 pid 4711 waits with \S+-__READ__\d+ for …-lock-\d+, .* a zksh reader waits/,
        ),
        `ls /a; get -s ${reader}`,
      ],
    ]);
    expect((await whoholds("--explain", "/b")).stdout).toBe(
      "/b\tfree\tno tickets: the lock is free, and no contender waits\tls /b\n",
    );
    const terminal = (await runReal(server, ["whoholds", "--explain", "/a"], { tty: true })).stdout;
    expect(terminal).toMatch(/\nSTATE.*\n\n1\. ls \/a\n.*\n4\. get -s/s);
    const [lock] = (await runReal(server, ["--json", "whoholds", "--explain", "/a"])).stdout.split(
      "\n",
    );
    expect(JSON.parse(lock ?? "")).toMatchObject({
      explain: [{ operation: "ls /a" }],
      holders: [{ explain: { rule: "zksh-lock", operation: `get -s ${first}` } }],
      // Readers do not wait for each other.
      waiters: [
        { behind: first, explain: { rule: "zksh-read" } },
        { behind: first, explain: { rule: "zksh-read" } },
      ],
    });
  });

  test("is for one look", async () => {
    expect(await whoholds("--explain", "-w", "/a")).toMatchObject({ exit: 2 });
  });
});

describe("whoholds -R", () => {
  test("finds every lock below, and names a deadlock", async () => {
    await ann.create("/a/b", null);
    await ann.create("/a/b/sem", Buffer.from('{"v":1,"limit":1}'));
    await ann.create("/a/b/sem/leases", null);
    await ann.create("/a/b/sem/locks", null);
    await ticket(ann, `/a/b/sem/leases/_c_${uuid("7")}-lease-`, record());
    await lockTicket(ann, "/a", "ann@web3", 47);
    await lockTicket(bob, "/b", "bob@web1", 81);
    expect((await whoholds("-R", "/")).stdout).not.toContain("deadlock");
    await lockTicket(bob, "/a", "bob@web1", 82);
    await lockTicket(ann, "/b", "ann@web3", 48);
    const { exit, stdout } = await whoholds("-R", "/");
    const lines = stdout.split("\n").slice(0, -1);
    expect(exit).toBe(0);
    expect(lines.slice(0, -1).map((line) => line.split("\t").slice(0, 4).join(" "))).toEqual([
      "/a holder exclusive ann@web3",
      "/a waiter 1 exclusive bob@web1",
      "/a/b/sem holder semaphore ann@web3",
      "/b holder exclusive bob@web1",
      "/b waiter 1 exclusive ann@web3",
    ]);
    expect(lines.at(-1)).toBe(
      "deadlock: bob@web1 pid 82 waits for /a, held by ann@web3 pid 47; " +
        "ann@web3 pid 48 waits for /b, held by bob@web1 pid 81; break it: revoke /a or revoke /b",
    );
    const json = (await runReal(server, ["--json", "whoholds", "-R", "/"])).stdout
      .split("\n")
      .slice(0, -1);
    expect(JSON.parse(json.at(-1) ?? "")).toMatchObject({
      deadlock: [
        { waiter: { pid: 82 }, waitsFor: "/a", blocker: { pid: 47 }, isHeld: true },
        { waiter: { pid: 48 }, waitsFor: "/b", blocker: { pid: 81 }, isHeld: true },
      ],
      breakIt: ["revoke /a", "revoke /b"],
    });
  });

  test("goes on where it may not look, and ends with 8", async () => {
    await ann.create("/a/hidden", null, {
      acl: [{ perms: Permission.create, scheme: "world", id: "anyone" }],
    });
    await lockTicket(ann, "/b", "ann@web3", 1);
    const { exit, stdout, stderr } = await whoholds("-R", "/");
    expect([exit, stdout.split("\t")[0]]).toEqual([8, "/b"]);
    expect(stderr).toMatch(/^error: 1 znode could not be read\n {2}.*\/a\/hidden/);
  });
});
