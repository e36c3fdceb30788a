import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const given = { "/a": "", "/a/b": "", "/a/b/c": "x" };

const rows: Row[] = [
  {
    name: "relative paths start where it leads",
    argv: ["-c", "cd /a; cd b; pwd; get c"],
    given,
    stdout: "/a/b\nx",
  },
  {
    name: "goes up, and ignores a slash at the end",
    argv: ["-c", "cd /a/b/; cd ..; pwd"],
    given,
    stdout: "/a\n",
  },
  { name: "without a path it is the root", argv: ["-c", "cd /a; cd; pwd"], given, stdout: "/\n" },
  {
    name: "- goes back, and says where",
    argv: ["-c", "cd /a; cd /a/b; cd -; pwd"],
    given,
    stdout: "/a\n/a\n",
  },
  { name: "// is the root too", argv: ["-c", "cd /a; cd //; pwd"], given, stdout: "/\n" },
  {
    name: "- fails without a previous working znode",
    argv: ["cd", "-"],
    stderr: "error: there is no previous working znode\n",
    exit: 2,
  },
  {
    name: "stays where it is when there is no such znode",
    argv: ["--keep-going", "-c", "cd /nope; pwd"],
    stdout: "/\n",
    stderr: "-c:1: error: no such znode: /nope (NoNode)\n",
    exit: 8,
  },
  { name: "tells by its exit code when run alone", argv: ["cd", "/a"], given },
  { name: "in JSON", argv: ["--json", "cd", "/a"], given, stdout: '{"path":"/a"}\n' },
];

describe("cd", () => {
  test.each(rows)("$name", async (row) => {
    const { stdout, stderr, exit } = await outcome(row);
    // What is near a missing znode is somebody else's subject.
    expect({ stdout, stderr: stderr.replace(/^ {2}.*\n/gm, ""), exit }).toEqual(expected(row));
  });
});
