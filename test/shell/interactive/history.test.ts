import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  expandHistory,
  History,
  historyFile,
  MAX_ENTRIES,
} from "../../../src/shell/interactive/history.ts";
import { temporaryDirectory } from "../../support/tracked-process.ts";

const fresh = () => join(temporaryDirectory("history"), "state/zksh/history");

const OTHER_USER = 65_534;
const give = (path: string) => chownSync(path, OTHER_USER, OTHER_USER);

async function kept(file: string, ...lines: string[]): Promise<string> {
  const history = await History.load(file);
  for (const line of lines) history.add(line);
  await history.flushed();
  return readFileSync(file, "utf8");
}

describe("historyFile", () => {
  test.each([
    [{ XDG_STATE_HOME: "/s", HOME: "/h" }, "/s/zksh/history"],
    [{ XDG_STATE_HOME: "relative", HOME: "/h" }, "/h/.local/state/zksh/history"],
    [{ HOME: "/h" }, "/h/.local/state/zksh/history"],
    [{}, undefined],
  ])("is chosen by %j", (env, wanted) => {
    expect(historyFile(env)).toBe(wanted);
  });
});

describe("History", () => {
  test("keeps lines in a file that other users cannot read", async () => {
    const file = fresh();
    expect(await kept(file, "ls /", "get /a")).toBe("ls /\nget /a\n");
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect((await History.load(file)).entries).toEqual(["ls /", "get /a"]);
  });

  test("keeps no blanks, repetitions, lines with a space in front, or passwords", async () => {
    expect(await kept(fresh(), "ls /", "ls / ", "", "  ", " get /a", "addauth digest a:b")).toBe(
      "ls /\naddauth digest a:***\n",
    );
  });

  test("keeps a line with line ends as one", async () => {
    const file = fresh();
    const lines = ["set /a 'x\ny'", '"quoted" first'];
    await kept(file, ...lines);
    expect((await History.load(file)).entries).toEqual(lines);
  });

  test("two shells add to one file", async () => {
    const file = fresh();
    const shells = await Promise.all([History.load(file), History.load(file)]);
    for (let i = 0; i < 100; i++)
      for (const [index, shell] of shells.entries()) shell.add(`get /${index}/${i}`);
    await Promise.all(shells.map((shell) => shell.flushed()));
    const lines = (await History.load(file)).entries;
    expect(lines.length).toBe(200);
    for (const index of [0, 1]) {
      const own = lines.filter((line) => line.startsWith(`get /${index}/`));
      expect(own).toEqual(Array.from({ length: 100 }, (_, i) => `get /${index}/${i}`));
    }
  });

  test("forgets the oldest, and closes a file that is open to others", async () => {
    const file = fresh();
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Array.from({ length: MAX_ENTRIES * 2 }, (_, i) => `get /${i}\n`).join(""));
    chmodSync(file, 0o644);
    const { entries } = await History.load(file);
    expect([entries.length, entries[0]]).toEqual([MAX_ENTRIES, `get /${MAX_ENTRIES}`]);
    expect(readFileSync(file, "utf8").split("\n").length).toBe(MAX_ENTRIES + 1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("keeps as many lines as the settings want, and with 0 uses no file", async () => {
    const file = fresh();
    await kept(file, ...Array.from({ length: 30 }, (_, i) => `get /${i}`));
    const ten = await History.load(file, 10);
    expect([ten.entries.length, ten.entries[0]]).toEqual([10, "get /20"]);
    expect(readFileSync(file, "utf8").split("\n").length).toBe(11);
    ten.add("get /new");
    await ten.flushed();
    expect([ten.entries.length, ten.entries[9]]).toEqual([10, "get /new"]);
    const none = await History.load(file, 0);
    expect(none.entries).toEqual([]);
    none.add("get /secret");
    await none.flushed();
    expect(readFileSync(file, "utf8")).not.toContain("secret");
  });

  test("follows a link of our own to a file of our own, and keeps the link", async () => {
    const [file, elsewhere] = [fresh(), join(temporaryDirectory("dotfiles"), "zksh-history")];
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(elsewhere, file);
    expect(await kept(file, "ls /")).toBe("ls /\n");
    writeFileSync(
      elsewhere,
      Array.from({ length: MAX_ENTRIES * 2 }, (_, i) => `get /${i}\n`).join(""),
    );
    expect((await History.load(file)).entries).toHaveLength(MAX_ENTRIES);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(elsewhere, "utf8").split("\n").length).toBe(MAX_ENTRIES + 1);
  });

  /** As a user finds them whose HOME belongs to somebody else, which sudo leaves so. */
  test.runIf(process.getuid?.() === 0).each([
    {
      name: "a link of another user",
      plant: (file: string) => lchownSync(file, OTHER_USER, OTHER_USER),
    },
    { name: "a link in a directory of another user", plant: (file: string) => give(dirname(file)) },
    {
      name: "a link to a file of another user",
      plant: (_: string, victim: string) => give(victim),
    },
    {
      name: "a file of another user",
      plant: (file: string, victim: string) => {
        renameSync(victim, file);
        give(file);
      },
    },
  ])("neither reads, changes nor adds to $name, and says so", async ({ plant }) => {
    const file = fresh();
    const victim = join(temporaryDirectory("victim"), "shadow");
    writeFileSync(victim, "root:secret\n", { mode: 0o644 });
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(victim, file);
    plant(file, victim);
    const history = await History.load(file);
    history.add("ls /");
    await history.flushed();
    expect([history.entries, history.failure]).toEqual([
      ["ls /"],
      expect.stringContaining("belongs to another user"),
    ]);
    const untouched = existsSync(victim) ? victim : file;
    expect([readFileSync(untouched, "utf8"), statSync(untouched).mode & 0o777]).toEqual([
      "root:secret\n",
      0o644,
    ]);
  });

  test("does without a file that cannot be read, and says why", async () => {
    // In a folder of ours: the temporary folder itself is root's.
    const folder = join(temporaryDirectory("history"), "a-folder");
    mkdirSync(folder);
    const history = await History.load(folder);
    history.add("ls /");
    await history.flushed();
    expect([history.entries, history.failure]).toEqual([
      ["ls /"],
      expect.stringContaining("EISDIR"),
    ]);
  });
});

describe("expandHistory", () => {
  const lines = ["get /a", "ls /", "addauth digest a:***"];

  test.each([
    ["!!", lines.slice(0, 2), "ls /"],
    ["!! -R", lines.slice(0, 2), "ls / -R"],
    ["!0", lines, "get /a"],
    ["set /a hi!!", lines, "set /a hi!!"],
    ["!x", lines, "!x"],
  ])("expands %s", (text, history, wanted) => {
    expect(expandHistory(text, history)).toBe(wanted);
  });

  test("refuses what is not there, and what had a password", () => {
    expect(() => expandHistory("!!", [])).toThrow("no such line");
    expect(() => expandHistory("!9", lines)).toThrow("no such line");
    expect(() => expandHistory("!!", lines)).toThrow("password");
  });
});
