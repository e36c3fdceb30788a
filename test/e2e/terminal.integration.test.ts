import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import {
  startTerminals,
  type Terminal,
  type TerminalOptions,
  type Terminals,
} from "../support/terminal.ts";
import { startServer } from "../support/zookeeper-server.ts";

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

/** zksh at its prompt, connected to an empty chroot of the shared server. */
async function openShell(
  options: TerminalOptions & { chroot?: string } = {},
): Promise<Terminal & { chroot: string }> {
  const chroot = options.chroot ?? (await freshChroot());
  const terminal = await terminals.open({
    ...options,
    args: ["-s", chroot, ...(options.args ?? [])],
  });
  await terminal.shows(
    /^connected to 127\.0\.0\.1:\d+ \([\d.]+, standalone\), session 0x[0-9a-f]+$/m,
  );
  return Object.assign(terminal, { chroot });
}

/** An empty chroot behind a network that fails on demand. */
async function proxied(): Promise<{ proxy: FaultProxy; chroot: string }> {
  const [, port = "", path = ""] = /:(\d+)(.*)/.exec(await freshChroot()) ?? [];
  const proxy = await startFaultProxy(Number(port));
  onTestFinished(() => proxy.close());
  return { proxy, chroot: proxy.address + path };
}

async function expectSane(terminal: Terminal, code: number): Promise<void> {
  const left = await terminal.left();
  expect(left.code).toBe(code);
  expect(left.after).toBe(left.before);
}

describe("typing", () => {
  test("runs lines, shows results, and leaves with Ctrl-D, the terminal as it was", async () => {
    const terminal = await openShell();
    const first = await terminal.endsWith(/zksh 127\.0\.0\.1:\d+…\S+ \/ ›/);
    expect(first.split("\n").length).toBeLessThanOrEqual(3);
    await terminal.enter("create /app hello");
    await terminal.enter("cd app");
    await terminal.endsWith("/app ›");
    await terminal.enter("get .; cd -");
    await terminal.shows("\nhello\n/\n");
    await terminal.enter("gte /app");
    await terminal.shows("error: unknown command 'gte'\n  did you mean get?\n");
    await terminal.press("C-d");
    await expectSane(terminal, 0);
  });

  test("goes on where a quote is open", async () => {
    const terminal = await openShell();
    await terminal.enter("create /q 'one");
    await terminal.endsWith("…");
    await terminal.enter("two'");
    await terminal.enter("get /q");
    await terminal.shows("\none\ntwo\n");
    await terminal.enter("get 'abc");
    await terminal.endsWith("…");
    await terminal.press("C-c");
    await terminal.enter("exists /q");
    await terminal.shows("/q exists");
  });

  test("runs 200 pasted lines one after the other", async () => {
    const terminal = await openShell();
    await terminal.enter("create /p");
    await terminal.shows("Created /p");
    await terminal.paste(
      Array.from({ length: 200 }, (_, i) => `create /p/n${i} 'a\tb'\n`).join(""),
    );
    await terminal.shows("Created /p/n199", 15_000);
    const session = openFor(terminal.chroot);
    expect((await session.getChildren("/p")).length).toBe(200);
    expect(String((await session.getData("/p/n7")).data)).toBe("a\tb");
    expect(await terminal.screen()).toMatch(/› create \/p\/n9 'a.*b'\nCreated \/p\/n9\n/);
  });

  test("closes the session at exit", async () => {
    const terminal = await openShell();
    await terminal.enter("create -e /mine");
    await terminal.shows("Created /mine");
    await terminal.enter("exit");
    await expectSane(terminal, 0);
    expect(await openFor(terminal.chroot).exists("/mine")).toBeUndefined();
  });
});

describe("TAB", () => {
  test("completes commands, options, and paths that are relative or need quotes", async () => {
    const terminal = await openShell();
    const session = openFor(terminal.chroot);
    for (const path of ["/apple", "/apple/two words", "/apple/two ways", "/berry"])
      await session.create(path, null);
    await terminal.type("exis");
    await terminal.press("Tab");
    await terminal.endsWith("› exists");
    await terminal.type("/app");
    await terminal.press("Tab");
    await terminal.endsWith("› exists /apple");
    await terminal.press("Tab");
    await terminal.endsWith("› exists /apple/");
    await terminal.press("Tab");
    await terminal.endsWith("› exists '/apple/two w'");
    await terminal.press("Tab");
    await terminal.shows("two ways  two words\n");
    await terminal.type("o");
    await terminal.press("Tab", "Enter");
    await terminal.shows("/apple/two words exists");
    await terminal.enter("cd /apple");
    await terminal.endsWith("/apple ›");
    await terminal.type("ls ../b");
    await terminal.press("Tab");
    await terminal.endsWith("› ls ../berry");
    await terminal.press("C-c");
    await terminal.type("create --se");
    await terminal.press("Tab");
    await terminal.endsWith("› create --sequential");
  });

  test("gives the prompt back when the server does not answer, and keeps nobody from leaving", async () => {
    const { proxy, chroot } = await proxied();
    // The connection would not be given up for 24 s.
    const terminal = await openShell({ chroot, args: ["-t", "60s"] });
    proxy.stall();
    await terminal.type("ls /");
    await terminal.press("Tab");
    await terminal.shows("(still loading; TAB again)");
    await terminal.type("x");
    await terminal.endsWith("› ls /x");
    await terminal.press("C-c", "C-d");
    await expectSane(terminal, 0);
  });
});

describe("Ctrl-D at a question", () => {
  test("is a no: the shell goes on with the session it had", async () => {
    const terminal = await openShell();
    await terminal.enter("create -e /q x");
    await terminal.enter("deleteall /q");
    await terminal.shows("? Delete /q?");
    await terminal.press("C-d");
    await terminal.endsWith("/ ›");
    await terminal.enter("addauth digest ben");
    await terminal.shows(/\? Password for ben/);
    await terminal.press("C-d");
    await terminal.endsWith("/ ›");
    await terminal.enter("getEphemerals");
    await terminal.shows("\n/q");
    await terminal.press("C-d");
    await expectSane(terminal, 0);
  });
});

describe("history", () => {
  test("outlives the shell, private and without passwords", async () => {
    const terminal = await openShell();
    await terminal.enter("create /h one");
    await terminal.enter(" create /h/unseen");
    await terminal.enter("addauth digest ann:secret");
    await terminal.enter("addauth digest ben");
    await terminal.shows(/password/i);
    await terminal.type("hush");
    await terminal.press("C-t");
    await terminal.endsWith("? Password for ben ****");
    await terminal.press("Enter");
    await terminal.endsWith("/ ›");
    await terminal.enter("history");
    await terminal.shows("addauth digest ann:***\n");
    await terminal.press("C-d");
    await expectSane(terminal, 0);
    expect(await terminal.screen()).not.toContain("hush");

    const file = join(terminal.home, ".local/state/zksh/history");
    expect(readFileSync(file, "utf8")).toBe(
      "create /h one\naddauth digest ann:***\naddauth digest ben\nhistory\n",
    );
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);

    const next = await openShell({ chroot: terminal.chroot, home: terminal.home });
    await next.press("C-r");
    await next.type("h one");
    await next.endsWith("(search) h one: create /h one");
    await next.press("Enter");
    await next.shows("error: znode already exists: /h (NodeExists)");
    await next.press("Up", "Up");
    await next.endsWith("› history");
    await next.press("C-c");
    await next.enter("get /h");
    await next.shows("\none\n");
    await next.enter("!!");
    await next.shows("› !!\nget /h\none\n");
  });
});

test("a question has the terminal to itself, and its answer is no command", async () => {
  const terminal = await openShell();
  await terminal.enter("create /tree");
  await terminal.enter("create /tree/leaf");
  await terminal.shows("Created /tree/leaf");
  await terminal.enter("deleteall /tree");
  await terminal.shows(/\? .*\(y\/N\)/);
  await terminal.enter("n");
  await terminal.shows(/^nothing was done/m);
  await terminal.enter("deleteall /tree");
  await terminal.shows(/\(y\/N\)$/);
  await terminal.press("C-c");
  await terminal.endsWith("/ ›");
  await terminal.press("Up");
  await terminal.endsWith("› deleteall /tree");
  await terminal.press("Enter");
  await terminal.shows(/\(y\/N\)$/);
  await terminal.enter("y");
  await terminal.endsWith("/ ›");
  await terminal.enter("exists /tree");
  expect(await terminal.shows("/tree does not exist")).not.toContain("unknown command");
});

describe("Ctrl-C", () => {
  test("at the prompt clears the line, or tells how to leave", async () => {
    const terminal = await openShell();
    await terminal.press("C-c");
    await terminal.shows("Ctrl-D or quit leaves the shell");
    await terminal.type("delete /precious");
    await terminal.endsWith("delete /precious");
    await terminal.press("C-c");
    await terminal.endsWith("/ ›");
    await terminal.enter("pwd");
    await terminal.shows("› pwd\n/\n");
  });

  test("ends a watch, and a listing that takes long", async () => {
    const { proxy, chroot } = await proxied();
    const terminal = await openShell({ chroot });
    await terminal.enter("watch /");
    await terminal.shows(/› watch \/\n./);
    await terminal.press("C-c");
    await terminal.endsWith("/ ›");
    proxy.stall();
    await terminal.enter("ls -R /");
    await terminal.shows("ls (Ctrl-C cancels)");
    await terminal.press("C-c");
    await terminal.endsWith("/ ›");
    proxy.resume();
    await terminal.enter("pwd");
    await terminal.shows("› pwd\n/\n");
  });

  test("ends the wait for a server that is gone", async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const terminal = await openShell({ chroot: server.address });
    await server.kill();
    await terminal.shows("connection lost; reconnecting");
    await terminal.enter("get /zookeeper");
    await terminal.shows(/suspended, \d+s left \(Ctrl-C cancels\)/);
    await terminal.press("C-c");
    await terminal.endsWith(/zksh \(suspended, \d+s left\) 127\.0\.0\.1:\d+ \/ ›/);
    await terminal.press("C-d");
    await expectSane(terminal, 0);
  });
});

describe("the terminal", () => {
  test("may change its size", async () => {
    const terminal = await openShell();
    // However the line is wrapped. What is typed after a resize is shown after zksh has drawn anew.
    const ends = (text: string) =>
      eventually(async () => (await terminal.screen()).replaceAll("\n", "").endsWith(text));
    await terminal.type("create /some/long/path 'with data that needs more than forty");
    await ends("forty");
    await terminal.resize(40);
    await terminal.type(" columns");
    await ends("columns");
    await terminal.resize(120);
    await terminal.type("'");
    await ends("columns'");
    await terminal.press("C-c");
    await terminal.enter("pwd");
    await terminal.shows("› pwd\n/\n");
  });

  test("may have no columns at all", async () => {
    const { proxy, chroot } = await proxied();
    const terminal = await openShell({ chroot, before: "stty cols 0 rows 0" });
    await terminal.enter("create /z");
    await terminal.shows("Created /z");
    await terminal.type("exis");
    await terminal.press("Tab");
    await terminal.enter("/z");
    await terminal.shows("/z exists");
    proxy.stall();
    await terminal.enter("ls /");
    await terminal.shows("ls (Ctrl-C cancels)");
    await terminal.press("C-c");
    await terminal.endsWith("/ ›");
    proxy.resume();
    await terminal.press("C-d");
    await expectSane(terminal, 0);
  });

  test("is given back by Ctrl-Z, and taken again by fg", async () => {
    const command = [
      process.execPath,
      join(import.meta.dirname, "../../bin/zksh.js"),
      "-s",
      await freshChroot(),
    ];
    const terminal = await terminals.open({ command: ["sh", "-i"], env: { PS1: "$ " } });
    await terminal.endsWith("$");
    await terminal.enter(command.join(" "));
    await terminal.endsWith(/zksh 127\.0\.0\.1:\d+…\S+ \/ ›/);
    await terminal.type("pw");
    await terminal.endsWith("› pw");
    await terminal.press("C-z");
    await terminal.endsWith(/Stopped[^$]*\$/);
    await terminal.enter("echo the shell hears");
    await terminal.endsWith("the shell hears\n$");
    await terminal.enter("fg");
    await terminal.endsWith(/fg\n[^$]*› pw/);
    await terminal.type("d");
    await terminal.press("Enter");
    await terminal.endsWith(/› pwd\n\/\nzksh \S+ \/ ›/);
    await terminal.press("C-d");
    await terminal.endsWith("$");
    await terminal.enter("exit");
    await expectSane(terminal, 0);
  });

  test("is given back when zksh is killed", async () => {
    const terminal = await openShell();
    process.kill(terminal.pid, "SIGTERM");
    await expectSane(terminal, 143);
    const other = await openShell();
    process.kill(other.pid, "SIGINT");
    await expectSane(other, 130);
    const third = await openShell();
    process.kill(third.pid, "SIGHUP");
    await expectSane(third, 129);
  });

  test.each([
    { when: "at the prompt", enter: [], shows: "Created /mine" },
    { when: "at a question", enter: ["create /tree", "deleteall /tree"], shows: "? Delete /tree?" },
    // A shell around it that ignores the hang-up keeps it from us.
    {
      when: "at a question, without a signal",
      enter: ["deleteall /mine"],
      shows: "? Delete /mine?",
      before: "trap : HUP",
    },
  ])("may be closed $when: the session ends with it", async ({ enter, shows, before = ":" }) => {
    const terminal = await openShell({ before });
    await terminal.enter("create -e /mine");
    await terminal.shows("Created /mine");
    for (const line of enter) await terminal.enter(line);
    await terminal.shows(shows);
    const { pid } = terminal;
    const session = openFor(terminal.chroot);
    expect(await session.exists("/mine")).toBeDefined();
    await terminal.close();
    // Long before the session's timeout of 30 s.
    await eventually(async () => expect(await session.exists("/mine")).toBeUndefined());
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  });

  test("may know ASCII only, and no colours", async () => {
    const terminal = await openShell({ env: { LANG: "C", NO_COLOR: "1" }, args: ["--read-only"] });
    await terminal.endsWith(/zksh 127\.0\.0\.1:\d+\.\.\.\S+ ro \/ >/);
    await terminal.enter("create /a");
    await terminal.shows("error: create is refused: the session is read-only");
  });
});

describe("the session", () => {
  test("need not be there: the prompt comes at once, and commands try", async () => {
    const port = await freePort();
    const terminal = await terminals.open({ args: ["-s", `127.0.0.1:${port}`] });
    await terminal.shows(/zksh \(connecting\) 127\.0\.0\.1:\d+ \/ ›/);
    await terminal.shows(`cannot connect to ZooKeeper: 127.0.0.1:${port} (connection refused)`);
    await terminal.endsWith(/zksh \(not connected\) 127\.0\.0\.1:\d+ \/ ›/);
    await terminal.enter("ls /");
    await terminal.shows(/error: cannot connect to ZooKeeper/);
    const server = await startServer({ port });
    onTestFinished(() => server.stop());
    await terminal.shows("connected to 127.0.0.1", 15_000);
    await terminal.enter("ls /");
    await terminal.shows("zookeeper");
  });

  test("is kept when the server comes back in time, and so is what is being typed", async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const terminal = await openShell({ chroot: server.address });
    await terminal.type("get /zoo");
    await server.kill();
    await terminal.endsWith(/zksh \(suspended, \d+s left\) 127\.0\.0\.1:\d+ \/ › get \/zoo/);
    await server.start();
    await terminal.shows(/reconnected to 127\.0\.0\.1:\d+; the session was kept/, 15_000);
    await terminal.endsWith(/zksh 127\.0\.0\.1:\d+ \/ › get \/zoo/);
  });

  test("is reported lost and found once, by the lock that waits on it", async () => {
    const { proxy, chroot } = await proxied();
    const { address } = proxy;
    const other = openFor(chroot.replace(address, sharedServer().replace(/\/.*/, "")));
    const held = await new Mutex(other, "/l").acquire();
    const terminal = await openShell({ chroot });
    await terminal.enter("lock /l");
    await terminal.shows(/waiting .* for \/l: held/);
    await proxy.refuse();
    await terminal.shows("no server answers; the place in the queue of /l is kept for");
    await proxy.listen();
    const screen = await terminal.shows("connected again; the place in the queue of /l was kept");
    expect(screen).not.toMatch(/connection lost|reconnected to/);
    await held.release();
    await terminal.shows("acquired /l");
    // Then no command reports it any more.
    await terminal.endsWith("›");
    await proxy.refuse();
    await terminal.shows("connection lost; reconnecting");
    await proxy.listen();
    await terminal.shows("; the session was kept", 15_000);
    await terminal.press("C-d");
    await expectSane(terminal, 0);
  });

  test("is replaced when it expires, and what was lost is named", async () => {
    const { proxy, chroot } = await proxied();
    const terminal = await openShell({ chroot, args: ["-t", "4s"] });
    await terminal.enter("create -e /here; create -e -s /n-; ls -w /");
    await terminal.shows("Created /n-0000000001");
    // The watch is there, too, when the shell asks for the next line.
    await terminal.endsWith("›");
    await terminal.type("pw");
    proxy.blackhole();
    await terminal.shows(
      /session 0x[0-9a-f]+ expired; lost with it: ephemerals \/here, \/n-0000000001; watches on \/$/m,
    );
    proxy.heal();
    await terminal.shows(/expired[\s\S]*\nconnected to 127\.0\.0\.1/, 15_000);
    await terminal.type("d");
    await terminal.press("Enter");
    await terminal.shows("› pwd\n/\n");
  });

  test("tells of watched changes above what is being typed", async () => {
    const terminal = await openShell();
    await terminal.enter("create /w 1");
    await terminal.enter("get -w /w");
    await terminal.shows("\n1\n");
    await terminal.type("create /half-typ");
    await openFor(terminal.chroot).setData("/w", Buffer.from("2"));
    await terminal.shows(/^\d\d:\d\d:\d\d \/w data changed$/m);
    await terminal.endsWith("› create /half-typ");
    await terminal.enter("ed");
    await terminal.shows("Created /half-typed");
  });
});
