import { describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import { runners } from "./four-runners.ts";

interface Row {
  readonly line: string;
  readonly given?: string;
  /** For a line that must wait for it. */
  readonly connectTimeout?: string;
  readonly code: number;
  /** What one command alone must do otherwise, and why. */
  readonly alone?: { readonly code: number; readonly because: string };
  /** No object in its output says no: at the prompt the code cannot be seen. */
  readonly isSilentNo?: boolean;
  /** stdout is the runner's own, and why. */
  readonly ownOutput?: string;
}

const nobodyStays = { code: 2, because: "nobody stays to see the event" };

const rows: Row[] = [
  { line: "get /a", code: 0 },
  { line: "get -s /a/b", code: 0 },
  { line: "get -b /a", code: 0 },
  { line: "get -x /a", code: 0 },
  { line: "get a", code: 0 },
  { line: "get -w /a", code: 0, alone: nobodyStays },
  { line: "get /none", code: 3 },
  { line: "get /shut", code: 4 },
  { line: "get", code: 2 },
  { line: "get /a//b", code: 2 },
  { line: "ls /", code: 0 },
  { line: "ls", code: 0 },
  { line: "ls -s /a", code: 0 },
  { line: "ls -R /a", code: 0 },
  { line: "ls /none", code: 3 },
  { line: "ls -R /none", code: 3 },
  { line: "stat /a", code: 0 },
  { line: "stat '/a/c d'", code: 0 },
  { line: "stat /none", code: 3 },
  { line: "exists /a", code: 0 },
  { line: "exists /none", code: 1 },
  { line: "create /n 'two words'", code: 0 },
  { line: "create -s /n- x", code: 0 },
  { line: "create -e /n", code: 0 },
  { line: "create -p /n/m/o x", code: 0 },
  { line: "create -c /n", code: 0 },
  { line: "create /a", code: 5 },
  { line: "create --if-missing /a", code: 0 },
  { line: "create /none/n", code: 3 },
  { line: "create /n x nonsense", code: 2 },
  { line: "create -e -c /n", code: 2 },
  { line: 'create /n {"k":"v"}', code: 0 },
  { line: "set /a y", code: 0 },
  { line: "set -s -v 0 /a y", code: 0 },
  { line: "set -b /a AP8=", code: 0 },
  { line: "set -v 7 /a y", code: 5 },
  { line: "set /a y 7", code: 5 },
  { line: "set /none y", code: 3 },
  { line: "set --create /n y", code: 0 },
  { line: "set /a @/no/such/file", code: 2 },
  { line: "delete /a/b", code: 0 },
  { line: "delete /a", code: 5 },
  { line: "delete -v x /a/b", code: 2 },
  { line: "delete /none", code: 3 },
  { line: "mv /a /n", code: 0 },
  { line: "mv /a /a/b/c", code: 2 },
  { line: "mv /none /n", code: 3 },
  { line: "txn 'create /n x' 'set -v 0 /a y' 'check /n'", code: 0 },
  { line: "txn --dry-run 'delete /a/b' 'create -s /n-'", code: 0 },
  { line: "txn 'create /n x' 'delete /a'", code: 5 },
  { line: "txn 'create /n x' 'set /none y'", code: 3 },
  { line: "txn 'get /a'", code: 2 },
  { line: "deleteall /a", code: 0 },
  { line: "deleteall --dry-run /a", code: 0 },
  { line: "deleteall --max 1 /a", code: 9 },
  { line: "deleteall /none", code: 3 },
  { line: "deleteall /", code: 9 },
  { line: "rmr /a", code: 0 },
  { line: "tree /a", code: 0 },
  { line: "tree /none", code: 3 },
  { line: "find /a --name b", code: 0 },
  { line: "find /a --kind odd", code: 2 },
  { line: "find /a -- true", code: 0 },
  { line: "grep -F x /a", code: 0 },
  { line: "grep nothing-like-it /a", code: 1, isSilentNo: true },
  { line: "du /a", code: 0 },
  { line: "du --by inches /a", code: 2 },
  { line: "cp -r /a /copy", code: 0 },
  { line: "cp /none /copy", code: 3 },
  { line: "cp /a file:/dev/null", code: 0 },
  { line: "cp file:/no/such/file /n", code: 2 },
  { line: "diff /a /a", code: 0 },
  { line: "diff /a /a/b", code: 1, isSilentNo: true },
  { line: "export /a/b -o /dev/null", code: 0 },
  { line: "export /none", code: 3 },
  { line: "import /no/such/file", code: 2 },
  { line: "getAllChildrenNumber /a", code: 0 },
  { line: "getAllChildrenNumber /none", code: 3 },
  { line: "getEphemerals", code: 0 },
  { line: "getEphemerals /a//b", code: 2 },
  { line: "ls2 /a", code: 0 },
  { line: "ls2 /none", code: 3 },
  { line: "getAcl /a", code: 0 },
  { line: "getAcl -s /a", code: 0 },
  { line: "getAcl /none", code: 3 },
  { line: "setAcl /a world:anyone:r", code: 0 },
  { line: "setAcl -R /a world:anyone:cdrwa", code: 0 },
  { line: "setAcl /a world:anyone", code: 2 },
  { line: "setAcl -v 7 /a world:anyone:r", code: 5 },
  { line: "can write /a", code: 0 },
  { line: "can create /a/x/y", code: 0 },
  { line: "can admin /a/none", code: 3 },
  { line: "can delete /", code: 1 },
  { line: "can fly /a", code: 2 },
  { line: "addauth digest ann:secret", code: 0 },
  { line: "addauth nonsense x", code: 4 },
  { line: "whoami", code: 0 },
  { line: "whoami x", code: 2 },
  { line: "watch /a --count 1 --within 1s", code: 7 },
  { line: "watch /a//b", code: 2 },
  { line: "wait-for /a exists", code: 0 },
  { line: "wait-for /none gone", code: 0 },
  { line: "wait-for /none exists -w 50ms", code: 7 },
  { line: "wait-for /a maybe", code: 2 },
  { line: "watch /a -- /no/such/program", code: 2 },
  { line: "watch /a --exit-on-failure -- false", code: 1 },
  { line: "addWatch /a", code: 0, alone: nobodyStays },
  { line: "addWatch -m NEVER /a", code: 2 },
  { line: "removewatches /a", code: 1, alone: nobodyStays },
  { line: "removewatches /a -l", code: 0, alone: nobodyStays },
  { line: "removewatches /a -c -d", code: 2 },
  { line: "setquota -n 10 ROOT/a", code: 0 },
  { line: "setquota -n 10 /a", code: 9 },
  { line: "setquota -n 10 /none", code: 3 },
  { line: "setquota -n x /a", code: 2 },
  { line: "listquota ROOT/a", given: "setquota -n 10 ROOT/a", code: 0 },
  { line: "listquota ROOT/a", code: 3 },
  { line: "listquota", code: 2 },
  { line: "delquota ROOT/a", given: "setquota -n 10 ROOT/a", code: 0 },
  { line: "delquota ROOT/a", code: 3 },
  { line: "delquota", code: 2 },
  { line: "sync /", code: 0 },
  { line: "sync", code: 2 },
  { line: "config", code: 0 },
  { line: "config -c x", code: 2 },
  { line: "reconfig -remove 3", code: 1 },
  { line: "reconfig", code: 2 },
  { line: "help", code: 0 },
  { line: "help get", code: 0 },
  { line: "get --help", code: 0 },
  { line: "help quoting", code: 0 },
  { line: "help nonsense", code: 2 },
  { line: "version", code: 0 },
  { line: "version x", code: 2 },
  { line: "cd /a", code: 0 },
  { line: "cd /none", code: 3 },
  { line: "pwd", code: 0 },
  { line: "pwd x", code: 2 },
  { line: "connect", code: 0 },
  { line: "connect 127.0.0.1:1", code: 6, connectTimeout: "3s" },
  { line: "close", code: 0 },
  { line: "close x", code: 2 },
  { line: "history", code: 0, ownOutput: "each knows the lines it was given" },
  { line: "history x", code: 2 },
  { line: "redo 9999", code: 2 },
  { line: "printwatches", code: 0 },
  { line: "printwatches off", code: 0 },
  { line: "printwatches off x", code: 2 },
  { line: "clear", code: 0 },
  { line: "clear x", code: 2 },
  { line: "quit", code: 0 },
  { line: "quit x y", code: 2 },
  { line: "lock --group own /l -- true", code: 0 },
  { line: "lock --group own /l -- sh -c 'exit 3'", code: 3 },
  { line: "lock /l -- /no/such/program", code: 127 },
  { line: "lock -w 5 /l -- true", code: 125 },
  { line: "rwlock --group own read /l -- true", code: 0 },
  { line: "rwlock share /l -- true", code: 125 },
  { line: "sem -N 2 --group own /l -- true", code: 0 },
  { line: "sem /l -- true", code: 125 },
  { line: "elect --group own /l -- true", code: 0 },
  { line: "edit /a /b", code: 2 },
  { line: "undo", code: 1 },
  { line: "settings", code: 0, ownOutput: "the server of each" },
  { line: "settings all", code: 2 },
  { line: "once --per week --group own /o -- true", code: 0 },
  { line: "once --per week --group own /o -- sh -c 'exit 3'", code: 3 },
  { line: "elect --leader /l", code: 1 },
  { line: "unlock /l", code: 1 },
  {
    line: "whoholds ROOT/h",
    given: "create -p ROOT/h/x-1-0000000001 x",
    code: 0,
    ownOutput: "ages and paths",
  },
  { line: "whoholds /l", code: 1 },
  { line: "whoholds /a//b", code: 2 },
  {
    line: "revoke --force ROOT/h",
    given: "create -p ROOT/h/x-1-0000000001 x",
    code: 0,
    ownOutput: "paths",
  },
  { line: "revoke /l", code: 1 },
  { line: "fence guard /f 5", code: 0 },
  { line: "fence guard ROOT/f 4", given: "fence guard ROOT/f 5", code: 1 },
  { line: "fence nonsense", code: 2 },
  { line: "top -n 1 --every 100ms", code: 0, ownOutput: "rates" },
  { line: "top -n 0", code: 2 },
  { line: "doctor", code: 1, ownOutput: "the tree of the test is open, and lines name its server" },
  { line: "doctor --max-znodes many", code: 2 },
  { line: "session", code: 0, ownOutput: "addresses and counters" },
  { line: "session --all", code: 0, ownOutput: "addresses and counters" },
  { line: "session 0x1", code: 1 },
  { line: "session ann", code: 2 },
  { line: "word ruok", code: 0 },
  { line: "word isro --all", code: 0 },
  { line: "word ruko", code: 1 },
  { line: "word RUOK", code: 2 },
  { line: "serve --port x", code: 2 },
  { line: "gte /a", code: 2 },
];

/** Commands that one line alone cannot bring to a good end. */
const NEVER_DONE: ReadonlyMap<string, string> = new Map([
  ["reconfig", "needs an ensemble that allows it"],
  ["watch", "ends well only by a change"],
  ["redo", "needs an earlier line"],
  ["unlock", "needs an earlier line"],
  ["edit", "needs a terminal"],
  ["undo", "brings back only what was destroyed at a terminal"],
  ["doctor", "the tree of the test is open to every client"],
  ["serve", "goes on until it is stopped"],
  ["import", "reads a file, and the prompt of this test has none"],
]);

describe("a line does the same as one command, by -c, from stdin and at the prompt", () => {
  test.each(rows)("$line", async (row) => {
    const { code, alone, ownOutput, isSilentNo } = row;
    const [oneShot, script, stdin, prompt] = await Promise.all([
      runners.oneShot(row),
      runners.script(row),
      runners.stdin(row),
      runners.prompt(row),
    ]);
    expect(script.code).toBe(code);
    if (ownOutput !== undefined) {
      expect([oneShot, stdin, prompt].map((outcome) => outcome.code)).toEqual([code, code, code]);
      return;
    }
    expect(stdin).toEqual(script);
    expect(prompt).toEqual(isSilentNo ? { ...script, code: 0 } : script);
    if (alone) expect(oneShot).toMatchObject({ code: alone.code, stdout: [] });
    else expect(oneShot).toEqual(script);
  });

  test("every command is here, done and failed", () => {
    const named = (wanted: (code: number) => boolean) =>
      new Set(rows.filter(({ code }) => wanted(code)).map(({ line }) => line.split(" ")[0]));
    const done = named((code) => code === 0);
    const failed = named((code) => code !== 0);
    expect(rows.length).toBeGreaterThanOrEqual(60);
    expect(
      commands
        .filter(({ name }) => !done.has(name) && !NEVER_DONE.has(name))
        .map(({ name }) => name),
    ).toEqual([]);
    expect(commands.filter(({ name }) => !failed.has(name)).map(({ name }) => name)).toEqual([]);
  });
});
