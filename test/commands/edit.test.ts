import { describe, expect, test } from "vitest";
import { ConnectionError, PermissionError } from "../../src/errors.ts";
import type { ChildEnd, GuardedChild, GuardRequest } from "../../src/processes/child-requests.ts";
import { type RunOptions, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/app": "", "/app/port": "2181", "/app/config": '{"debug":false}\n' };

interface Editing extends RunOptions {
  /** What the editor makes of the file. */
  readonly change?: (text: string) => string;
  readonly end?: ChildEnd;
}

/** Runs a line with an editor that changes its file by itself. */
async function edited(argv: readonly string[], { change, end, ...options }: Editing = {}) {
  const scratches = new Map<string, Buffer>();
  const started: GuardRequest[] = [];
  const startGuarded = async (request: GuardRequest) => {
    started.push(request);
    const path = request.argv.at(-1) ?? "";
    const text = String(scratches.get(path));
    scratches.set(path, Buffer.from(change ? change(text) : text));
    return { ended: Promise.resolve(end ?? { code: 0 }), async dispose() {} } as GuardedChild;
  };
  const ran = await run(argv, { given, tty: true, startGuarded, scratches, ...options });
  return { ...ran, started, files: [...scratches] };
}

describe("edit", () => {
  test("stores what the editor has written, with the version that was read", async () => {
    const { exit, stdout, session, files, started } = await edited(["edit", "/app/config"], {
      change: (text) => text.replace("false", "true"),
      env: { EDITOR: "ed -s" },
    });
    expect([exit, stdout]).toEqual([0, "Changed /app/config (version 1)\n"]);
    expect(session.dataOf("/app/config")).toBe('{"debug":true}\n');
    expect(files).toEqual([]);
    expect(started.map(({ argv, group }) => [argv, group])).toEqual([
      [["sh", "-c", 'ed -s "$@"', "ed -s", "/tmp/zksh-test/config.json"], "share"],
    ]);
  });

  test.each([
    { env: {}, editor: "vi" },
    { env: { EDITOR: "ed" }, editor: "ed" },
    { env: { EDITOR: "ed", VISUAL: "vim" }, editor: "vim" },
  ])("runs $editor with $env", async ({ env, editor }) => {
    const { started } = await edited(["edit", "/app/port"], { env });
    expect(started[0]?.argv).toContain(`${editor} "$@"`);
  });

  test("says that nothing was changed", async () => {
    const { exit, stdout, session, files } = await edited(["edit", "/app/config"]);
    expect([exit, stdout, files]).toEqual([0, "/app/config was not changed\n", []]);
    expect(session.asked.filter((request) => request.startsWith("setData"))).toEqual([]);
    const json = await edited(["--json", "edit", "/app/config"]);
    expect(json.stdout).toBe('{"path":"/app/config","changed":false}\n');
  });

  test.each([
    { change: "2181\n", stored: "2181" },
    { change: "2182\n", stored: "2182" },
    { change: "2182\n\n", stored: "2182\n" },
    { change: "", stored: "" },
  ])("makes $stored of 2181 when the editor leaves $change", async ({ change, stored }) => {
    const { exit, session } = await edited(["edit", "/app/port"], { change: () => change });
    expect([exit, session.dataOf("/app/port")]).toEqual([0, stored]);
  });

  test("keeps a line end that was there, and one that was removed away", async () => {
    const { session } = await edited(["edit", "/app/config"], { change: () => "[]" });
    expect(session.dataOf("/app/config")).toBe("[]");
  });

  test("creates a znode with --create only", async () => {
    const missing = await edited(["edit", "/app/motd"]);
    expect([missing.exit, missing.started]).toEqual([3, []]);
    expect(missing.stderr).toContain("edit --create /app/motd creates it");
    const created = await edited(["edit", "--create", "/app/motd"], { change: () => "hello\n" });
    expect([created.exit, created.stdout]).toEqual([0, "Created /app/motd\n"]);
    expect(created.session.dataOf("/app/motd")).toBe("hello");
    const unchanged = await edited(["edit", "--create", "/app/motd"]);
    expect(unchanged.session.dataOf("/app/motd")).toBeUndefined();
  });

  test("refuses binary data, and to run without a terminal", async () => {
    const binary = await edited(["edit", "/app"], { given: { "/app": Buffer.from([0xff, 0]) } });
    expect([binary.exit, binary.stderr, binary.started]).toEqual([
      9,
      "error: /app holds binary data\n  get /app > FILE, edit FILE, and set -v VERSION /app @FILE\n",
      [],
    ]);
    const piped = await edited(["edit", "/app/port"], { tty: false });
    expect([piped.exit, piped.started]).toEqual([9, []]);
    expect(piped.stderr).toContain("error: edit needs a terminal\n  get /app/port > FILE");
    const spaced = await edited(["edit", "/a b"], { tty: false });
    expect(spaced.stderr).toContain("set -v VERSION '/a b' @FILE\n");
  });

  test.each([
    { end: { code: 1 }, how: "ended with code 1" },
    { end: { killedBy: "SIGKILL" }, how: "was killed by SIGKILL" },
  ])("changes nothing when the editor $how", async ({ end, how }) => {
    const failed = await edited(["edit", "/app/port"], { end });
    expect([failed.exit, failed.stderr, failed.files]).toEqual([
      1,
      `error: nothing was changed: the editor vi ${how}\n`,
      [],
    ]);
    const typed = await edited(["edit", "/app/port"], { end, change: () => "2182" });
    expect(typed.stderr).toContain("note: your text is in /tmp/zksh-test/port.txt\n");
    expect(typed.session.dataOf("/app/port")).toBe("2181");
    expect(typed.files).toEqual([["/tmp/zksh-test/port.txt", Buffer.from("2182")]]);
  });

  test("names a missing editor", async () => {
    const { exit, stderr } = await edited(["edit", "/app/port"], {
      end: { code: 127 },
      env: { EDITOR: "emax" },
    });
    expect([exit, stderr]).toEqual([
      1,
      "error: nothing was changed: the editor emax ended with code 127\n" +
        "  set VISUAL or EDITOR to a program that is installed\n",
    ]);
  });
});

describe("a znode that another client changes meanwhile", () => {
  /** Does it while the editor is open. */
  const during = (session: StubSession, what: () => Promise<unknown>) => ({
    session,
    change(text: string) {
      void what();
      return text.replace("false", "true");
    },
  });

  test("is left alone: exit 5, the difference, and the text in a file", async () => {
    const session = new StubSession(given);
    const other = () => session.setData("/app/config", Buffer.from('{"debug":null}'));
    const { exit, stdout, stderr, files } = await edited(
      ["edit", "/app/config"],
      during(session, other),
    );
    expect(exit).toBe(5);
    expect(stdout).toBe(
      "--- /app/config\n+++ /tmp/zksh-test/config.json\n" +
        '@@ -1,3 +1,3 @@\n {\n-  "debug": null\n+  "debug": true\n }\n',
    );
    expect(stderr).toBe(
      "note: your text is in /tmp/zksh-test/config.json\n" +
        "error: /app/config was changed meanwhile, and is at version 1: nothing was written\n" +
        "  set -v 1 /app/config @/tmp/zksh-test/config.json writes your text\n",
    );
    expect(session.dataOf("/app/config")).toBe('{"debug":null}');
    expect(files).toHaveLength(1);
  });

  test("is changed, too, when it was deleted and created again with the same version", async () => {
    const session = new StubSession(given);
    const { exit } = await edited(
      ["edit", "/app/config"],
      during(session, async () => {
        await session.delete("/app/config");
        await session.create("/app/config", Buffer.from("new"));
      }),
    );
    expect([exit, session.dataOf("/app/config")]).toEqual([5, "new"]);
  });

  test("is left alone when it changes between the last look and the write", async () => {
    const session = new StubSession(given);
    const getData = session.getData.bind(session);
    let reads = 0;
    session.getData = async (...args) => {
      const found = await getData(...args);
      if (++reads === 2) await session.setData("/app/port", Buffer.from("theirs"));
      return found;
    };
    const { exit } = await edited(["edit", "/app/port"], { session, change: () => "ours" });
    expect([exit, session.dataOf("/app/port")]).toEqual([5, "theirs"]);
  });

  test("is not created again when it was deleted", async () => {
    const session = new StubSession(given);
    const { exit, stderr, files } = await edited(
      ["edit", "/app/config"],
      during(session, () => session.delete("/app/config")),
    );
    expect([exit, files.length, session.dataOf("/app/config")]).toEqual([3, 1, undefined]);
    expect(stderr).toContain("create /app/config @/tmp/zksh-test/config.json creates it");
  });

  test("is left alone when --create finds it there", async () => {
    const session = new StubSession(given);
    const { exit, stderr } = await edited(["edit", "--create", "/app/motd"], {
      session,
      change() {
        void session.create("/app/motd", Buffer.from("theirs"));
        return "ours\n";
      },
    });
    expect([exit, session.dataOf("/app/motd")]).toEqual([5, "theirs"]);
    expect(stderr).toContain("/app/motd was created meanwhile");
  });
});

describe("JSON that no longer parses", () => {
  const broken = { change: () => '{"debug":' };

  test("is stored with --yes", async () => {
    const { exit, session } = await edited(["-y", "edit", "/app/config"], broken);
    expect([exit, session.dataOf("/app/config")]).toEqual([0, '{"debug":']);
  });

  test("is kept in a file where no user can be asked", async () => {
    const { exit, stderr, session, files } = await edited(
      ["--no-input", "edit", "/app/config"],
      broken,
    );
    expect([exit, session.dataOf("/app/config")]).toEqual([9, given["/app/config"]]);
    expect(stderr).toBe("note: your text is in /tmp/zksh-test/config.json\nnothing was changed\n");
    expect(files).toHaveLength(1);
  });

  test("is no matter where the data was no JSON before", async () => {
    const { exit } = await edited(["edit", "/app/port"], broken);
    expect(exit).toBe(0);
  });
});

describe("a write that fails", () => {
  test("names the file with the text", async () => {
    const session = new StubSession(given);
    session.setData = async () => {
      throw new PermissionError("no-auth", "not permitted: /app/port (NoAuth)", { code: -102 });
    };
    const { exit, stderr, files } = await edited(["edit", "/app/port"], {
      session,
      change: () => "1",
    });
    expect([exit, files.length]).toEqual([4, 1]);
    expect(stderr).toContain("note: your text is in /tmp/zksh-test/port.txt\n");
  });

  test("has succeeded when only its answer was lost", async () => {
    const session = new StubSession(given);
    const setData = session.setData.bind(session);
    session.setData = async (...args) => {
      await setData(...args);
      throw new ConnectionError("connection-loss", "the connection was lost", { code: -4 });
    };
    const { exit, stdout } = await edited(["edit", "/app/port"], { session, change: () => "1" });
    expect([exit, stdout]).toEqual([0, "Changed /app/port (version 1)\n"]);
  });
});
