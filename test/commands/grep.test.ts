import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const TREE = {
  "/a": "first\nTimeout=30\nlast timeout",
  "/a/b": "nothing",
  "/a/bin": Buffer.from([0, 255, ...Buffer.from("timeout")]),
  "/a/zip": gzipSync("packed timeout"),
};

const rows: Row[] = [
  {
    name: "prints path, line and text",
    argv: ["grep", "timeout", "/a"],
    given: TREE,
    stdout: "/a:3:last timeout\n/a/bin: binary match\n",
  },
  {
    name: "-i",
    argv: ["grep", "-i", "^timeout", "/a"],
    given: TREE,
    stdout: "/a:2:Timeout=30\n",
  },
  { name: "-l", argv: ["grep", "-i", "-l", "timeout", "/a"], given: TREE, stdout: "/a\n/a/bin\n" },
  {
    name: "-c",
    argv: ["grep", "-i", "-c", "timeout=|timeout$", "/a"],
    given: TREE,
    stdout: "/a:2\n/a/bin:1\n",
  },
  { name: "-F", argv: ["grep", "-F", "t=3", "/a"], given: TREE, stdout: "/a:2:Timeout=30\n" },
  { name: "-F takes no expression", argv: ["grep", "-F", ".", "/a"], given: TREE, exit: 1 },
  {
    name: "-z unpacks",
    argv: ["grep", "-z", "packed", "/a"],
    given: TREE,
    stdout: "/a/zip:1:packed timeout\n",
  },
  { name: "exit code 1 without a match", argv: ["grep", "absent", "/a"], given: TREE, exit: 1 },
  {
    name: "escapes on a terminal",
    argv: ["grep", "x", "/e"],
    given: { "/e": "x\u001b]52;c;x\u0007" },
    tty: true,
    stdout: "/e:1:x\\x1b]52;c;x\\x07\n",
  },
  {
    name: "--json",
    argv: ["grep", "-i", "^timeout", "/a", "--json"],
    given: TREE,
    stdout: '{"path":"/a","line":2,"text":"Timeout=30"}\n',
  },
];

describe("grep", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test("a bad expression is a usage error that names -F", async () => {
    const { stderr, exit } = await run(["grep", "(", "/a"], { given: TREE });
    expect([exit, stderr.includes("-F")]).toEqual([2, true]);
  });

  test("gzip'd data that unpacks to too much is named, and the rest searched", async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    const given = { "/a": "needle", "/a/bomb": bomb };
    const { stdout, stderr, exit } = await run(["grep", "-z", "needle", "/a"], { given });
    expect([stdout, exit]).toEqual(["/a:1:needle\n", 8]);
    expect(stderr).toContain("cannot unpack /a/bomb");
  });
});
