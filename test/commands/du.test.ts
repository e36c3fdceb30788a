import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const TREE = { "/a": "12345", "/a/b": "123", "/a/b/c": "1", "/a/d": "x".repeat(2_048) };

const rows: Row[] = [
  {
    name: "sums each subtree after those below it",
    argv: ["du", "/a"],
    given: TREE,
    stdout: "1\t1\t/a/b/c\n4\t2\t/a/b\n2048\t1\t/a/d\n2057\t4\t/a\n",
  },
  {
    name: "-d 0 is the sum alone",
    argv: ["du", "-d", "0", "/a"],
    given: TREE,
    stdout: "2057\t4\t/a\n",
  },
  {
    name: "--by znodes",
    argv: ["du", "-d", "1", "--by", "znodes", "/a"],
    given: TREE,
    stdout: "2\t4\t/a/b\n1\t2048\t/a/d\n4\t2057\t/a\n",
  },
  {
    name: "--by children",
    argv: ["du", "-d", "0", "--by", "children", "/a"],
    given: TREE,
    stdout: "2\t4\t2057\t/a\n",
  },
  {
    name: "--top",
    argv: ["du", "--top", "2", "/a"],
    given: TREE,
    stdout:
      "znode\t2048\t/a/d\nznode\t5\t/a\nsubtree\t2057\t4\t/a\nsubtree\t2048\t1\t/a/d\nparent\t2\t/a\nparent\t1\t/a/b\n",
  },
  {
    name: "sizes for people on a terminal",
    argv: ["du", "-d", "1", "/a"],
    given: TREE,
    tty: true,
    stdout:
      "  4 bytes        2 znodes  /a/b\n     2 KB         1 znode  /a/d\n     2 KB        4 znodes  /a\n",
  },
  {
    name: "--json",
    argv: ["du", "-d", "0", "/a", "--json"],
    given: TREE,
    stdout: '{"path":"/a","bytes":2057,"znodes":4,"children":2}\n',
  },
];

describe("du", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test("warns of data and of lists of children near jute.maxbuffer", async () => {
    const names = Array.from({ length: 200 }, (_, i) => `/w/${"n".repeat(4_000)}${i}`);
    const given = {
      "/big": Buffer.alloc(800_000),
      "/w": "",
      ...Object.fromEntries(names.map((name) => [name, ""])),
      "/x": "",
    };
    const { stderr, exit } = await run(["du", "-d", "0", "/"], { given });
    expect(exit).toBe(0);
    expect(stderr).toMatch(/^warning: the data of \/big takes 781 KB of the 1 MB /m);
    expect(stderr).toMatch(/^warning: the list of children of \/w takes 78\d KB /m);
    expect(stderr.split("\n")).toHaveLength(3);
  });
});
