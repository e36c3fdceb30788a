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
  const first = await ticket(other, `/deploy/_c_${uuid("a")}-lock-`, record({ cmd: "deploy.sh", why: "release 42" }));
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
    const terminal = await terminals.open({ args: ["-s", server, "whoholds", "/deploy"], columns: 80, rows: 24 });
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
    await terminal.shows(/asked to give way by eve@ops \d+m?s ago: hotfix/);
    await other.delete(first);
    const screen = await terminal.shows(/holder +10\.0\.0\.7/);
    // Nothing of the first picture is left.
    expect(screen).not.toContain("release 42");
    expect(screen.match(/STATE/g)).toHaveLength(1);
    await other.delete(third);
    await terminal.shows("held, nobody waits");
    await terminal.press("C-c");
    const { code, before, after } = await terminal.left();
    expect([code, after]).toEqual([130, before]);
    expect(columns(await terminal.shows("[left with 130]"))).toEqual([
      ["/deploy: held, nobody waits"],
      ["STATE", "WHO", "PID", "CMD", "SINCE", "TOKEN", "CLIENT"],
      ["holder", "10.0.0.7", "-", "-", "AGE", "TOKEN", "Curator"],
      ["", `session 0x${other.id.toString(16)}`],
      ["^Cerror: interrupted"],
      ["[left with 130]"],
    ]);
  });

  test("--watch shows as much of a long queue as the terminal has room for", async () => {
    for (let i = 0; i < 30; i++) await ticket(other, "/deploy/lock-");
    const terminal = await terminals.open({ args: ["-s", server, "whoholds", "-w", "/deploy"], columns: 80, rows: 12 });
    const screen = await terminal.shows(/… and \d+ more lines/);
    expect(screen.split("\n")).toHaveLength(11);
    const nodes = await other.getChildren("/deploy");
    await other.delete(`/deploy/${nodes.sort()[0]}`);
    await terminal.shows("held, 28 wait");
    expect((await terminal.screen()).split("\n")).toHaveLength(11);
  });

  test("in the shell, Ctrl-C gives the prompt back", async () => {
    await threeTickets();
    const terminal = await terminals.open({ args: ["-s", server], columns: 80, rows: 24 });
    await terminal.shows("›");
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
    const last = (line: RegExp) => eventually(() => expect(zksh.stdout.split("\n").at(-2)).toMatch(line));
    await last(/^free \/deploy$/);
    const first = await ticket(other, `/deploy/_c_${uuid("a")}-lock-`, record({ cmd: "deploy.sh" }));
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

describe("beside zksh lock", () => {
  /** Holds until the test ends, or until it is asked to give way. */
  const hold = (path: string, ...program: readonly string[]) =>
    startZksh(["-s", server, "lock", path, "--", ...program]);
  const holderOf = async (path: string) =>
    JSON.parse(String((await runZksh(["-s", server, "--json", "whoholds", path])).stdout)).holders[0];

  test("the holder is named, and gives way when it is asked", async () => {
    const zksh = hold("/deploy", "sleep", "60");
    const holder = await eventually(async () => (await holderOf("/deploy")) ?? false);
    expect(holder).toMatchObject({ pid: zksh.pid, cmd: "sleep", mode: "exclusive", isOurs: true });
    const asked = await runZksh(["-s", server, "--yes", "revoke", "--reason", "hotfix", "--wait", "20s", "/deploy"]);
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
    expect(await runZksh(["-s", server, "delete", "--fenced", "/done"], late)).toMatchObject({ code: 5 });
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
    await eventually(async () => (await holderOf("/a")) !== undefined && (await holderOf("/b")) !== undefined);
    await other.create("/go", null);
    const screen = await eventually(async () => {
      const { stdout } = await runZksh(["-s", server, "whoholds", "-R", "/"]);
      expect(String(stdout)).toContain("deadlock: ");
      return String(stdout);
    });
    expect(screen).toMatch(
      /deadlock: (0x\w+) \(\S+ pid \d+ true\) waits for \/[ab] held by 0x\w+ \(\S+ pid \d+ sh\), inside which 0x\w+ \(\S+ pid \d+ true\) waits for \/[ab] held by 0x\w+ \(\S+ pid \d+ sh\), inside which \1 waits\n/,
    );
    for (const zksh of [one, two]) zksh.kill();
    await Promise.all([one.result, two.result]);
  });
});
