import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { record, ticket, uuid } from "../support/tickets.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");

let server: string;
let other: Session;
let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});
afterAll(() => terminals.stop());

beforeEach(async () => {
  server = await freshChroot();
  other = openFor(server);
  await other.create("/deploy", null);
});

/** Ours, Curator's, and ours again with a reason. */
async function threeTickets(): Promise<{ first: string; third: string }> {
  const first = await ticket(
    other,
    `/deploy/_c_${uuid("a")}-lock-`,
    record({ cmd: "deploy.sh", why: "release 42" }),
  );
  await ticket(other, `/deploy/_c_${uuid("b")}-lock-`, "10.0.0.7");
  const third = await ticket(
    other,
    `/deploy/_c_${uuid("c")}-lock-`,
    record({ who: "bob@web1", pid: 881, cmd: "psql" }),
  );
  return { first, third };
}

/** The cells of each line, without what is never the same. */
function columns(screen: string): string[][] {
  return screen.split("\n").map((line) => {
    const cells = line.split(/ {2,}/);
    return cells.length === 7 && cells[0] !== "STATE"
      ? [...cells.slice(0, 4), "AGE", "TOKEN", ...cells.slice(6)]
      : cells;
  });
}

describe("on a terminal of 80 columns", () => {
  test("the queue is a table", async () => {
    await threeTickets();
    const terminal = await terminals.open({
      args: ["-s", server, "whoholds", "/deploy"],
      columns: 80,
      rows: 24,
    });
    const screen = await terminal.shows("[left with 0]");
    expect(columns(screen)).toEqual([
      ["/deploy: held, 2 wait"],
      ["STATE", "WHO", "PID", "CMD", "SINCE", "TOKEN", "CLIENT"],
      ["holder", "ann@web3", "4711", "deploy.sh", "AGE", "TOKEN", "zksh/0.1.0"],
      ["", "release 42"],
      ["waiter 1", "10.0.0.7", "-", "-", "AGE", "TOKEN", "Curator"],
      ["waiter 2", "bob@web1", "881", "psql", "AGE", "TOKEN", "zksh/0.1.0"],
      ["[left with 0]"],
    ]);
    expect(screen.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("--watch repaints in place, tells of requests to give way, and leaves the terminal clean", async () => {
    const { first, third } = await threeTickets();
    const terminal = await terminals.open({
      args: ["-s", server, "whoholds", "--watch", "/deploy"],
      columns: 80,
      rows: 24,
      // Ctrl-C is for zksh, not for the shell that will tell how it ended.
      before: "trap : INT",
    });
    await terminal.shows("waiter 2");
    const revoke = { by: "eve@ops", at: new Date().toISOString(), reason: "hotfix" };
    await other.setData(first, record({ cmd: "deploy.sh", why: "release 42", revoke }));
    await terminal.shows(/asked to release it by eve@ops \d+m?s ago: hotfix/);
    await other.delete(first);
    const screen = await terminal.shows(/holder +10\.0\.0\.7/);
    // Nothing of the first picture is left.
    expect(screen).not.toContain("release 42");
    expect(screen.match(/STATE/g)).toHaveLength(1);
    await other.delete(third);
    await terminal.shows("held, no waiters");
    await terminal.press("C-c");
    const { code, before, after } = await terminal.left();
    expect([code, after]).toEqual([130, before]);
    const last = await terminal.shows("[left with 130]");
    expect(columns(last).slice(0, 4)).toEqual([
      ["/deploy: held, no waiters"],
      ["STATE", "WHO", "PID", "CMD", "SINCE", "TOKEN", "CLIENT"],
      ["holder", "10.0.0.7", "-", "-", "AGE", "TOKEN", "Curator"],
      ["", `session 0x${other.id.toString(16)}`],
    ]);
    // To stop looking is no failure.
    expect(last).not.toContain("error");
  });

  test("--watch shows as much of a long queue as the terminal has room for", async () => {
    for (let i = 0; i < 30; i++) await ticket(other, "/deploy/lock-");
    const terminal = await terminals.open({
      args: ["-s", server, "whoholds", "-w", "/deploy"],
      columns: 80,
      rows: 12,
    });
    const screen = await terminal.shows(/… and \d+ more\n/);
    expect(screen.split("\n")).toHaveLength(11);
    expect(screen).toMatch(/\n… not drawn: \d+ in the queue\n +\d+m?\d*s ago .* now$/);
    const nodes = await other.getChildren("/deploy");
    await other.delete(`/deploy/${nodes.sort()[0]}`);
    await terminal.shows("held, 28 wait");
    expect((await terminal.screen()).split("\n")).toHaveLength(11);
  });

  test("--watch draws how a queue of four moves when one releases, one crashes and one gives up", async () => {
    const data = (who: string) => record({ who });
    const first = await ticket(other, `/deploy/_c_${uuid("a")}-lock-`, data("ann@web3"));
    const crashing = startZksh([
      "-s",
      server,
      "lock",
      "--session-timeout",
      "2s",
      "/deploy",
      "--",
      "sleep",
      "60",
    ]);
    await eventually(async () => expect(await other.getChildren("/deploy")).toHaveLength(2));
    const third = await ticket(other, `/deploy/_c_${uuid("c")}-lock-`, data("cy@web2"));
    await ticket(other, `/deploy/_c_${uuid("d")}-lock-`, data("dan@web9"));
    const args = ["-s", server, "whoholds", "--watch", "/deploy"];
    const wide = await terminals.open({ args, columns: 80, rows: 24 });
    const narrow = await terminals.open({ args, columns: 40, rows: 24 });
    await wide.shows("held, 3 wait");
    await narrow.shows("held, 3 wait");
    await other.delete(first);
    await wide.shows(/\n\S+ #1 +·*▶/);
    await other.delete(third);
    await wide.shows(/\ncy@web2 #2 +·*×\n/);
    crashing.kill("SIGKILL");
    const screen = await wide.shows(/\ndan@web9 #3 +·*▶━*\n/, 20_000);
    const lines = screen.split("\n");
    const timeline = lines.slice(lines.indexOf("· waits  ▶ gets it  ━ holds  × gives up"));
    expect(timeline).toEqual([
      "· waits  ▶ gets it  ━ holds  × gives up",
      expect.stringMatching(/^ann@web3 #0 +[▶━]+$/),
      expect.stringMatching(/^\S+ #1 +·*▶━*$/),
      expect.stringMatching(/^cy@web2 #2 +·*×$/),
      expect.stringMatching(/^dan@web9 #3 +·*▶━*$/),
      expect.stringMatching(/^ +1?m?\d\ds ago +a column is [12]s +now$/),
    ]);
    // A hand-over is one column: where one bar ends the next one begins.
    expect(timeline[2]?.length).toBe((timeline[4]?.indexOf("▶") ?? 0) + 1);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const small = await narrow.shows(/\ndan@web9 #3 +·*▶━*\n/);
    expect(small.split("\n").filter((line) => line.length > 40)).toEqual([]);
    expect(small.match(/STATE/g)).toHaveLength(1);
    await crashing.result;
  });

  test("-R --watch is a board of all locks, the busiest first, with deadlocks marked", async () => {
    const [ann, bob] = [openFor(server), openFor(server)];
    for (const path of ["/app", "/app/idle", "/app/d1", "/app/d2"]) await ann.create(path, null);
    const args = ["-s", server, "whoholds", "-R", "--watch", "/app"];
    const wide = await terminals.open({ args, columns: 80, rows: 24, before: "trap : INT" });
    await wide.shows(/^no locks below \/app\nlooked \d+m?s ago, next look in \d+m?s$/);
    const narrow = await terminals.open({ args, columns: 40, rows: 24 });
    const one = await ticket(ann, `/app/d1/_c_${uuid("1")}-lock-`, record());
    await ticket(bob, `/app/d2/_c_${uuid("2")}-lock-`, record({ who: "bob@web1", pid: 881 }));
    await ticket(bob, `/app/d1/_c_${uuid("3")}-lock-`, record({ who: "bob@web1", pid: 881 }));
    await ticket(bob, "/app/idle/lock-", record({ who: "cy@web2" }));
    const before = await wide.shows("/app: 3 locks, 3 held, 1 waiting");
    expect(columns(before).map(([lock, waiters]) => [lock, waiters])).toEqual([
      ["/app: 3 locks, 3 held, 1 waiting", undefined],
      ["LOCK", "WAIT"],
      ["/app/d1", "1"],
      ["/app/d2", "0"],
      ["/app/idle", "0"],
      [expect.stringMatching(/^looked /), undefined],
    ]);
    await ticket(ann, `/app/d2/_c_${uuid("4")}-lock-`, record());
    const stuck = await wide.shows("DEADLOCK\n");
    expect(stuck).toMatch(/\n\/app\/d1 +1 +\S+ +\S+ +DEADLOCK +ann@web3 pid 4711\n/);
    expect(stuck).toContain(`
DEADLOCK
  bob@web1 pid 881   waits for /app/d1, held by ann@web3 pid 4711
  ann@web3 pid 4711  waits for /app/d2, held by bob@web1 pid 881
  break it: revoke /app/d1   or   revoke /app/d2
looked `);
    const small = await narrow.shows("DEADLOCK\n");
    expect(small.split("\n").filter((line) => line.length > 40)).toEqual([]);
    await ann.delete(one);
    await wide.shows(/^((?!DEADLOCK).)*$/s);
    await wide.press("C-c");
    expect((await wide.left()).code).toBe(130);
    expect(await wide.screen()).not.toContain("error");
  });

  test("--watch keeps to ASCII where the locale has nothing else", async () => {
    await threeTickets();
    const args = ["-s", server, "whoholds", "--watch", "/deploy"];
    const terminal = await terminals.open({ args, columns: 80, rows: 24, env: { LANG: "C" } });
    const screen = await terminal.shows(". waits  > gets it  = holds  x gives up");
    expect(screen).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test("in the shell, --explain explains, and Ctrl-C gives the prompt back", async () => {
    await threeTickets();
    const terminal = await terminals.open({ args: ["-s", server], columns: 80, rows: 50 });
    await terminal.shows("›");
    await terminal.enter("whoholds --explain /deploy");
    await terminal.shows(
      /\n1\. ls \/deploy\n.*\n3\. get -s .* a Curator lock waits for earlier tickets/s,
    );
    await terminal.enter("whoholds --watch /deploy");
    await terminal.shows("waiter 2");
    await terminal.press("C-c");
    await terminal.endsWith(/› ?/);
  });
});

describe("in a pipe", () => {
  test("a line for each, tabs between", async () => {
    const { first } = await threeTickets();
    const { code, stdout } = await runZksh(["-s", server, "whoholds", "/deploy"]);
    const lines = String(stdout).split("\n").slice(0, -1);
    const stat = await other.exists(first);
    expect(lines[0]?.split("\t")).toEqual([
      "/deploy",
      "holder",
      "exclusive",
      "ann@web3",
      "4711",
      "deploy.sh",
      new Date(stat?.ctime ?? 0).toISOString(),
      String(stat?.czxid),
      "zksh/0.1.0",
      `0x${other.id.toString(16)}`,
      first,
      "release 42",
    ]);
    expect(lines.map((line) => line.split("\t").slice(1, 4).join(" "))).toEqual([
      "holder exclusive ann@web3",
      "waiter 1 exclusive 10.0.0.7",
      "waiter 2 exclusive bob@web1",
    ]);
    expect(code).toBe(0);
  });

  test("--watch writes a line a change, over a lost session", async () => {
    const [address = "", chroot] = server.split("/");
    const proxy = await startFaultProxy(Number(address.split(":")[1]));
    onTestFinished(() => proxy.close());
    const args = [
      "-s",
      `${proxy.address}/${chroot}`,
      "-t",
      "3s",
      "--connect-timeout",
      "3s",
      "whoholds",
      "-w",
      "/deploy",
    ];
    const zksh = startZksh(args);
    const last = (line: RegExp) =>
      eventually(() => expect(zksh.stdout.split("\n").at(-2)).toMatch(line));
    await last(/^free \/deploy$/);
    const first = await ticket(
      other,
      `/deploy/_c_${uuid("a")}-lock-`,
      record({ cmd: "deploy.sh" }),
    );
    await last(/^held \/deploy by ann@web3 pid 4711 deploy.sh token \d+$/);
    await ticket(other, `/deploy/_c_${uuid("b")}-lock-`);
    await last(/token \d+; 1 waits$/);
    await proxy.refuse();
    await eventually(() => zksh.stderr.includes("note: the session was lost; opening a new one\n"));
    await other.delete(first);
    await proxy.listen();
    await last(/^held \/deploy by a Curator client in session 0x[0-9a-f]+ token \d+$/);
    zksh.kill("SIGINT");
    expect((await zksh.result).code).toBe(130);
    expect(zksh.stdout.split("\n")).toHaveLength(5);
  });

  test("--json --watch writes an object a change", async () => {
    const zksh = startZksh(["-s", server, "--json", "whoholds", "-w", "/deploy"]);
    await eventually(() => zksh.stdout.includes('"state":"free"'));
    await ticket(other, `/deploy/_c_${uuid("a")}-lock-`, record());
    await eventually(() => zksh.stdout.split("\n").length === 3);
    zksh.kill("SIGINT");
    await zksh.result;
    const objects = zksh.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(objects).toMatchObject([{ state: "free" }, { state: "held", holders: [{ pid: 4711 }] }]);
  });
});

describe("-R --watch in a pipe", () => {
  test("a line for each lock that changes, and for a deadlock; objects with --json", async () => {
    const [ann, bob] = [openFor(server), openFor(server)];
    for (const path of ["/app", "/app/d1", "/app/d2"]) await ann.create(path, null);
    const plain = startZksh(["-s", server, "whoholds", "-R", "--watch", "/app"]);
    const json = startZksh(["-s", server, "--json", "whoholds", "-R", "--watch", "/app"]);
    const one = await ticket(ann, `/app/d1/_c_${uuid("1")}-lock-`, record());
    await ticket(bob, `/app/d2/_c_${uuid("2")}-lock-`, record({ pid: 881 }));
    await eventually(
      () => plain.stdout.split("\n").length === 3 && json.stdout.split("\n").length === 3,
    );
    await ticket(bob, `/app/d1/_c_${uuid("3")}-lock-`, record({ pid: 881 }));
    await ticket(ann, `/app/d2/_c_${uuid("4")}-lock-`, record());
    await eventually(
      () => plain.stdout.includes("deadlock: ") && json.stdout.includes('"deadlock":'),
    );
    const waits = plain.stdout.split("\n").filter((line) => line.endsWith("; 1 waits"));
    expect(waits).toHaveLength(2);
    await bob.close();
    await ann.delete(one);
    await eventually(() => expect(plain.stdout).toContain("free /app/d1\n"));
    await eventually(() => expect(json.stdout).toMatch(/"path":"\/app\/d1","state":"free"/));
    for (const zksh of [plain, json]) {
      zksh.kill("SIGINT");
      expect(await zksh.result).toMatchObject({ code: 130, stderr: "" });
    }
  });
});

describe("beside zksh lock", () => {
  /** Holds until the test ends, or until it is asked to give way. */
  const hold = (path: string, ...program: readonly string[]) =>
    startZksh(["-s", server, "lock", path, "--", ...program]);
  const holderOf = async (path: string) =>
    JSON.parse(String((await runZksh(["-s", server, "--json", "whoholds", path])).stdout))
      .holders[0];

  test("the holder is named, and gives way when it is asked", async () => {
    const zksh = hold("/deploy", "sleep", "60");
    const holder = await eventually(async () => (await holderOf("/deploy")) ?? false);
    expect(holder).toMatchObject({ pid: zksh.pid, cmd: "sleep", mode: "exclusive", isOurs: true });
    const asked = await runZksh([
      "-s",
      server,
      "--yes",
      "revoke",
      "--reason",
      "hotfix",
      "--wait",
      "20s",
      "/deploy",
    ]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect((await zksh.result).code).toBe(121);
    expect((await runZksh(["-s", server, "whoholds", "/deploy"])).code).toBe(1);
  });

  test("--fenced writes go with the lock, and stop with it", async () => {
    const inner = `node ${PROGRAM} -s ${server} create --fenced /done; sleep 60`;
    const zksh = hold("/deploy", "sh", "-c", inner);
    await eventually(async () => (await other.exists("/done")) !== undefined);
    const { node, session } = await holderOf("/deploy");
    const late = { env: { ZK_LOCK_NODE: node } };
    expect(session).toMatch(/^0x/);
    await runZksh(["-s", server, "--yes", "revoke", "--force", "/deploy"]);
    expect((await zksh.result).code).toBe(120);
    expect(await runZksh(["-s", server, "delete", "--fenced", "/done"], late)).toMatchObject({
      code: 5,
    });
  });

  test("a deadlock between locks that are taken inside each other is found", async () => {
    const nested = (path: string) => ["node", PROGRAM, "-s", server, "lock", path, "--", "true"];
    const one = hold(
      "/a",
      "sh",
      "-c",
      `until ${[...nested("/b").slice(0, 4), "exists", "/go"].join(" ")}; do :; done; exec ${nested("/b").join(" ")}`,
    );
    const two = hold(
      "/b",
      "sh",
      "-c",
      `until ${[...nested("/a").slice(0, 4), "exists", "/go"].join(" ")}; do :; done; exec ${nested("/a").join(" ")}`,
    );
    await eventually(
      async () => (await holderOf("/a")) !== undefined && (await holderOf("/b")) !== undefined,
    );
    await other.create("/go", null);
    const screen = await eventually(async () => {
      const { stdout } = await runZksh(["-s", server, "whoholds", "-R", "/"]);
      expect(String(stdout)).toContain("deadlock: ");
      return String(stdout);
    });
    expect(screen).toMatch(
      /deadlock: \S+ pid (\d+) true waits for \/([ab]), held by \S+ pid (\d+) sh; \S+ pid (\d+) true waits for \/([ab]), held by \S+ pid (\d+) sh; \S+ pid \4 true runs inside the lock of \S+ pid \3 sh; \S+ pid \1 true runs inside the lock of \S+ pid \6 sh; break it: revoke \/\2 or revoke \/\5\n/,
    );
    // What it says ends it.
    await runZksh(["-s", server, "--yes", "revoke", "--wait", "20s", "/a"]);
    await eventually(async () => {
      const { stdout } = await runZksh(["-s", server, "whoholds", "-R", "/"]);
      expect(String(stdout)).not.toContain("deadlock: ");
    });
    for (const zksh of [one, two]) zksh.kill();
    await Promise.all([one.result, two.result]);
  });
});
