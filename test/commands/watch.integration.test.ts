import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { main } from "../../src/main.ts";
import type { ChildEnd, ChildRequest } from "../../src/processes/child-requests.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { deferred, eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { memoryIo } from "./memory-io.ts";
import { expected, outcome, type Row } from "./run.ts";

let server: string;
let other: Session;

beforeEach(async () => {
  server = await freshChroot();
  other = openFor(server);
});

/**
 * The program without a process, on a real server. Ctrl-C ends it at the latest when the test ends.
 */
function start(words: readonly string[], runChild?: (request: ChildRequest) => Promise<ChildEnd>) {
  let interrupt: (signal: "SIGINT") => void = () => {};
  const io = memoryIo({ ...(runChild && { runChild }) });
  const exit = main({ programName: "zksh", argv: ["-s", server, ...words] }, io, {
    openSession: async (options) => openSession(options),
    onSignal(listener) {
      interrupt = listener;
      return () => {};
    },
  });
  const ctrlC = () => interrupt("SIGINT");
  onTestFinished(async () => {
    ctrlC();
    await exit;
  });
  /** Without the times, which every line must have. */
  const lines = () => io.written.stdout.toString().split("\n").slice(0, -1).map(withoutTime);
  const has = (line: string) => eventually(() => expect(lines().at(-1)).toBe(line));
  return { exit, ctrlC, lines, has, io };
}

function withoutTime(line: string): string {
  expect(line).toMatch(
    /\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$|,"at":"\d{4}-\d\d-\d\dT[\d:.]+Z"}$/,
  );
  return line.startsWith("{")
    ? line.replace(/,"at":"[^"]+"}$/, "}")
    : line.slice(0, line.lastIndexOf("\t"));
}

const rows: Row[] = [
  {
    name: "refuses a count of 0",
    argv: ["watch", "/a", "-n", "0"],
    stderr: "error: bad count '0'\n  use a whole number from 1 on\n",
    exit: 2,
  },
  {
    name: "wants a command behind --",
    argv: ["watch", "/a", "--"],
    stderr:
      "error: there is no command after --\n  watch [-R] [-n n] [-t dur] [--exit-on-failure] [--all] path [-- program...]\n",
    exit: 2,
  },
];

describe("watch", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("reports the present state, then each change with the new data", async () => {
    await other.create("/n", Buffer.from("zero"));
    const { exit, lines, has } = start(["watch", "/n", "-n", "7"]);
    await has("current /n (version 0): zero");
    await other.setData("/n", Buffer.from("two\nlines"));
    await has("changed /n (version 1): two\\x0alines");
    await other.setData("/n", Buffer.from([0, 255]));
    await has("changed /n (version 2): base64 AP8=");
    await other.create("/n/a b", null);
    await has("children /n: +a b");
    await other.delete("/n/a b");
    await has("children /n: -a b");
    await other.delete("/n");
    await has("deleted /n");
    await other.create("/n", null);
    await has("created /n (version 0)");
    await other.setData("/n", Buffer.from("again"));
    expect(await exit).toBe(0);
    expect(lines().at(-1)).toBe("changed /n (version 1): again");
  });

  test("waits for a znode that is not there", async () => {
    const { exit, lines, has } = start(["watch", "/n", "--count", "1"]);
    await has("absent /n");
    await other.create("/n", Buffer.from("x"));
    expect(await exit).toBe(0);
    expect(lines()).toEqual(["absent /n", "created /n (version 0): x"]);
  });

  test("-R tells of everything below", async () => {
    await other.create("/n", Buffer.from("x"));
    await other.create("/n/a", null);
    const { exit, lines, has } = start(["watch", "-R", "/n", "-n", "4"]);
    await has("current /n/a (version 0)");
    await other.create("/n/b", Buffer.from("y"));
    await has("created /n/b (version 0): y");
    await other.setData("/n/a", Buffer.from("z"));
    await has("changed /n/a (version 1): z");
    await other.delete("/n/b");
    await has("deleted /n/b");
    await other.setData("/n", null);
    expect(await exit).toBe(0);
    expect(lines()[0]).toBe("current /n (version 0): x");
    expect(lines().at(-1)).toBe("changed /n (version 1)");
  });

  test("writes one object a line as JSON", async () => {
    const { exit, lines, has } = start(["--json", "watch", "/n", "-n", "3"]);
    await has('{"event":"absent","path":"/n"}');
    await other.create("/n", Buffer.from("x"));
    await eventually(() => lines().length === 2);
    await other.create("/n/a", null);
    await has('{"event":"children","path":"/n","added":["a"],"removed":[]}');
    await other.setData("/n", Buffer.from([255]));
    expect(await exit).toBe(0);
    expect(JSON.parse(lines()[1] ?? "")).toMatchObject({
      event: "created",
      version: 0,
      data: "x",
      encoding: "utf8",
    });
    expect(JSON.parse(lines()[3] ?? "")).toMatchObject({
      event: "changed",
      version: 1,
      data: "/w==",
      encoding: "base64",
    });
  });

  test("ends with 7 when its time is up, with 130 at Ctrl-C", async () => {
    const timed = start(["watch", "/n", "--within", "50ms"]);
    expect(await timed.exit).toBe(7);
    expect(timed.io.written.stderr).toBe("error: no further change within 50ms\n");
    const watching = start(["watch", "/n"]);
    await watching.has("absent /n");
    watching.ctrlC();
    expect(await watching.exit).toBe(130);
    expect(watching.io.written.stderr).toBe("");
  });

  test("its time may be longer than a timer's", async () => {
    const watching = start(["watch", "/n", "--within", "1000h"]);
    await watching.has("absent /n");
    watching.ctrlC();
    expect(await watching.exit).toBe(130);
  });

  test("needs permission to read", async () => {
    await other.create("/n", null, { acl: [{ perms: 16, scheme: "world", id: "anyone" }] });
    expect(await start(["watch", "/n"]).exit).toBe(4);
  });
});

describe("watch PATH -- COMMAND", () => {
  test("runs the command with the data, first for the present state", async () => {
    await other.create("/n", Buffer.from("zero"));
    const ran: string[] = [];
    const { exit, io } = start(
      ["watch", "/n", "-n", "2", "--", "apply", "--json", "-x"],
      async (request) => {
        const {
          ZKSH_WATCH_EVENT: event,
          ZKSH_WATCH_PATH: path,
          ZKSH_WATCH_VERSION: version,
        } = request.env;
        ran.push(`${request.argv.join(" ")} <${request.input} ${event} ${path} ${version}`);
        return { code: 0 };
      },
    );
    await eventually(() => ran.length === 1);
    await other.setData("/n", Buffer.from("one"));
    await eventually(() => ran.length === 2);
    await other.delete("/n");
    expect(await exit).toBe(0);
    expect(ran).toEqual([
      "apply --json -x <zero current /n 0",
      "apply --json -x <one changed /n 1",
      "apply --json -x < deleted /n ",
    ]);
    expect(io.written).toEqual({ stdout: Buffer.alloc(0), stderr: "" });
  });

  test("runs one at a time, and then with the newest data", async () => {
    const ran: string[] = [];
    const first = deferred();
    let atOnce = 0;
    start(["watch", "/n", "--", "apply"], async ({ input }) => {
      ran.push(String(input));
      expect(++atOnce).toBe(1);
      if (ran.length === 1) await first.promise;
      atOnce--;
      return { code: 0 };
    });
    await other.create("/n", Buffer.from("a"));
    await eventually(() => ran.length === 1);
    for (const text of ["b", "c", "d"]) await other.setData("/n", Buffer.from(text));
    first.resolve();
    await eventually(() => expect([ran[0], ran.at(-1)]).toEqual(["a", "d"]));
  });

  test("goes on after a failure of the command, and says so", async () => {
    await other.create("/n", null);
    const ends = [{ code: 3 }, { killedBy: "SIGKILL" }];
    const { exit, io } = start(
      ["watch", "/n", "-n", "1", "--", "apply", "x"],
      async () => ends.shift() ?? { code: 0 },
    );
    await eventually(() => ends.length === 1);
    await other.setData("/n", null);
    expect(await exit).toBe(0);
    expect(io.written.stderr).toBe(
      "note: apply x ended with code 3 for /n\nnote: apply x was ended by SIGKILL for /n\n",
    );
  });

  test("--exit-on-failure ends with the first failure", async () => {
    await other.create("/n", null);
    const { exit, io } = start(["watch", "/n", "--exit-on-failure", "--", "apply"], async () => ({
      code: 3,
    }));
    expect(await exit).toBe(1);
    expect(io.written.stderr).toBe(
      "note: apply ended with code 3 for /n\nerror: the command failed: apply\n",
    );
  });
});
