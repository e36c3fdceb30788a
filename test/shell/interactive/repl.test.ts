import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { InterruptedError } from "../../../src/errors.ts";
import type { Io, Output } from "../../../src/io/io.ts";
import type { Session, WatchListener } from "../../../src/session/session.ts";
import type { Asker } from "../../../src/shell/execute.ts";
import { History } from "../../../src/shell/interactive/history.ts";
import { runRepl } from "../../../src/shell/interactive/repl.ts";
import { memoryIo } from "../../commands/memory-io.ts";
import { StubSession } from "../../commands/stub-session.ts";
import { type Deferred, deferred, eventually } from "../../support/eventually.ts";
import { testFrontEnd } from "../test-front-end.ts";

class Desk {
  readonly keys = new PassThrough();
  readonly program = new AbortController();
  readonly history = new History(["get /old"]);
  readonly sessions: StubSession[] = [];
  readonly exit: Promise<number>;
  /** Holds `getData /slow` back. */
  slow: Deferred<void> = deferred();
  watch: WatchListener | undefined;
  #shown = "";

  constructor({ asker, isReachable = true }: { asker?: Asker; isReachable?: boolean } = {}) {
    const stream = new PassThrough();
    stream.on("data", (chunk) => {
      this.#shown += chunk;
    });
    const screen: Output = { stream, isTTY: true, columns: 80, colorLevel: 0 };
    const io: Io = {
      ...memoryIo({ env: { LANG: "C" } }),
      stdin: { stream: this.keys, isTTY: true },
      stdout: screen,
      stderr: screen,
    };
    const frontEnd = testFrontEnd({
      io,
      asker,
      signal: this.program.signal,
      openSession: async () => this.#open(isReachable),
    });
    this.exit = runRepl(frontEnd, this.history);
  }

  #open(isReachable: boolean): Session {
    const stub = new StubSession({ "/a": "x", "/slow": "s" });
    const getData = stub.getData.bind(stub);
    stub.getData = async (path, options: Parameters<Session["getData"]>[1] = {}) => {
      this.watch = options.watch ?? this.watch;
      if (path !== "/slow") return getData(path, options);
      const aborted = new Promise((resolve) => options.signal?.addEventListener("abort", resolve));
      if (!options.signal?.aborted) await Promise.race([this.slow.promise, aborted]);
      if (options.signal?.aborted) throw new InterruptedError();
      return getData(path, options);
    };
    if (!isReachable) stub.connected = () => Promise.reject(new Error("cannot connect to h:1"));
    this.sessions.push(stub);
    return stub.asSession();
  }

  /** What was written so far, without cursor movements. */
  get shown(): string {
    return stripVTControlCharacters(this.#shown).replaceAll("\r", "");
  }

  async shows(text: string | RegExp): Promise<void> {
    await eventually(() => expect(this.shown).toMatch(text), { message: "not shown" });
  }

  /** Resolves when the keys have been read. */
  async press(keys: string): Promise<void> {
    await new Promise((resolve) => this.keys.write(keys, resolve));
  }
}

let desk: Desk;

beforeEach(async () => {
  desk = new Desk();
  await desk.shows(/connected to 127\.0\.0\.1:2181 \(3\.8\.0\), session 0x10\n/);
});

afterEach(async () => {
  desk.program.abort();
  await desk.exit;
});

describe("the interactive shell", () => {
  test("shows a line that was repeated once in its history", async () => {
    await desk.press("pwd\rpwd\r pwd\rredo 1\rpwd\rhistory\rquit\r");
    expect(await desk.exit).toBe(0);
    expect(desk.shown).toMatch(/\n0 - get \/old\n1 - pwd\n2 - history\n/);
  });

  test("runs five lines, two of them bad, and ends well", async () => {
    await desk.press("get /a\rnope\rget /b\r\r get /a\rquit\r");
    expect(await desk.exit).toBe(0);
    expect(desk.shown).toMatch(
      /> get \/a\nx\n.*> nope\nerror: unknown command 'nope'\n {2}help lists all commands\n.*> get \/b\nerror: no such znode/,
    );
    expect(desk.history.entries).toEqual(["get /old", "get /a", "nope", "get /b", "quit"]);
    expect(desk.sessions.at(-1)?.asked.at(-1)).toBe("close");
  });

  test("stops a line at its first failure", async () => {
    await desk.press("get /b; get /a\rpwd\r");
    await desk.shows(/pwd\n\/\n/);
    expect(desk.shown).not.toContain("\nx\n");
  });

  test("cancels the running command with Ctrl-C, and what waits behind it", async () => {
    await desk.press("get /slow\rget /a\r");
    await desk.press("\x03");
    await desk.shows(/\^C\n/);
    await desk.press("pwd\r");
    await desk.shows(/pwd\n\/\n/);
    expect(desk.shown).not.toContain("\nx\n");
  });

  test("returns to the prompt at the second Ctrl-C, even if the command goes on", async () => {
    const stubborn = desk.sessions[0] as StubSession;
    const held = deferred();
    stubborn.exists = async () => {
      await held.promise;
      return undefined;
    };
    await desk.press("exists /a\r");
    await desk.press("\x03\x03");
    await desk.press("pwd\r");
    await desk.shows(/pwd\n\/\n/);
    held.resolve();
    await desk.press("version\r");
    await desk.shows(/zksh 0\n/);
    expect(desk.shown).not.toContain("does not exist");
  });

  test("keeps what is typed while a command runs, and shows it afterwards", async () => {
    await desk.press("get /slow\rpw");
    desk.slow.resolve();
    await desk.shows(/\ns\n.*> pw$/);
    await desk.press("d\r");
    await desk.shows(/\n\/\n/);
  });

  test("runs the last line again", async () => {
    await desk.press("get /a\r!!\r!0\rredo 1\r");
    await desk.shows(
      /> !!\nget \/a\nx\n[\s\S]*> !0\nget \/old\nerror[\s\S]*> redo 1\nget \/a\nx\n/,
    );
  });

  test("does not run a password again", async () => {
    await desk.press("addauth digest a:b\r!!\r");
    await desk.shows(/does not keep the password of that line/);
    await desk.press("\x1b[A");
    await desk.shows(/> addauth digest a:\*\*\*/);
  });

  test("prints watch events above the prompt, unless they are turned off", async () => {
    await desk.press("get -w /a\r");
    await desk.shows(/\nx\n/);
    await desk.press("half");
    desk.watch?.({ type: "data-changed", path: "/a" });
    await desk.shows(/\d\d:\d\d:\d\d \/a data changed\nzksh .*> half$/);
    await desk.press("\x03printwatches off\r");
    await desk.shows(/off\n.*> $/);
    desk.watch?.({ type: "deleted", path: "/a" });
    await desk.press("version\r");
    await desk.shows(/zksh 0\n/);
    expect(desk.shown).not.toContain("/a deleted");
  });

  test("opens another session after the last one expired, and says what was lost", async () => {
    await desk.press("create -e /mine\rget -w /a\r");
    await desk.shows(/\nx\n/);
    const [first] = desk.sessions;
    first?.become({ state: "suspended" });
    await desk.shows(/the session expires in 12s\n.*zksh \(suspended, 12s left\)/);
    first?.become({ state: "lost", reason: "expired" });
    desk.watch?.({ type: "lost", path: "/a" });
    await desk.shows(/session 0x10 expired; lost with it: ephemerals \/mine; watches on \/a\n/);
    await desk.shows(/expired[\s\S]*connected to/);
    expect(desk.sessions.length).toBe(2);
  });

  test("refuses stdin as data, because the keyboard is its stdin", async () => {
    await desk.press("set /a -\r");
    await desk.shows(/data cannot be read from stdin at the prompt/);
  });

  test("gives an open quote up at Ctrl-D, and leaves at the next", async () => {
    await desk.press("get 'a\r");
    await desk.shows(/\.\.\. $/);
    await desk.press("\x04");
    await desk.shows(/a quote \('\) is opened and never closed/);
    await desk.press("\x04");
    expect(await desk.exit).toBe(0);
  });

  test("ends when a signal ends the program", async () => {
    await desk.press("get /slow\r");
    desk.program.abort(new InterruptedError());
    expect(await desk.exit).toBe(0);
  });

  test("holds keys back while TAB is at work", async () => {
    await desk.press("exists /sl\t\r");
    await desk.shows(/\/slow exists\n/);
  });
});

describe("questions", () => {
  test("have the terminal to themselves; the prompt comes back with its history", async () => {
    const asked: string[] = [];
    const listening: number[] = [];
    desk.program.abort();
    const asker: Asker = {
      async confirm(question) {
        asked.push(question);
        return true;
      },
      text: async () => "",
      async secret(question) {
        asked.push(question);
        listening.push(desk.keys.listenerCount("keypress"));
        return "pw";
      },
    };
    desk = new Desk({ asker });
    await desk.shows(/connected to/);
    await desk.press("addauth digest ann\r");
    await eventually(() => expect(desk.sessions[0]?.asked).toContain("addAuth digest ann:pw"));
    await desk.press("\x1b[A");
    await desk.shows(/> addauth digest ann$/);
    expect([asked.length, listening]).toEqual([1, [0]]);
  });
});

test("connect reports once", async () => {
  await desk.shows(/connected to/);
  await desk.press("connect zk9:2181\r");
  await desk.shows(/Connected to .*\n[\s\S]*> $/);
  await desk.press("pwd\r");
  await desk.shows(/pwd\n\/\n/);
  expect(desk.shown.match(/connected to/gi)).toHaveLength(2);
});

test("a long chroot leaves room for what is typed", async () => {
  await desk.press("connect zk9:2181/teams/billing/production\r");
  await desk.shows(/zksh 127\.0\.0\.1:2181\.\.\.\/production \/ > $/);
});

test("the chroot is part of the prompt", async () => {
  await desk.press("connect zk9:2181,zk8:2181/app\r");
  await desk.shows(/zksh 127\.0\.0\.1:2181\/app \/ > $/);
});

describe("without a server", () => {
  test("says so once, and stays", async () => {
    desk.program.abort();
    desk = new Desk({ isReachable: false });
    await desk.shows(
      /cannot connect to h:1; retrying in the background\n[\s\S]*zksh \(not connected\) /,
    );
    await desk.press("pwd\r");
    await desk.shows(/pwd\n\/\n/);
  });
});
