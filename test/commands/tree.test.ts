import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const TREE = { "/a": "one", "/a/b": "", "/a/b/c": '{"x": 1}', "/a/d": Buffer.from([255, 0]) };
const denied = { "/a/b": new PermissionError("no-auth", "not permitted: /a/b (NoAuth)") };

/** More than the first batch of a walk. */
const MANY = Array.from({ length: 200 }, (_, i) => String(100 + i));

const rows: Row[] = [
  {
    name: "draws branches",
    argv: ["tree", "/a"],
    given: TREE,
    stdout: "/a\n├── b\n│   └── c\n└── d\n",
  },
  {
    name: "-L stops below a level",
    argv: ["tree", "/a", "-L", "1"],
    given: TREE,
    stdout: "/a\n├── b\n└── d\n",
  },
  {
    name: "-s adds sizes and children",
    argv: ["tree", "-s", "/a/b"],
    given: TREE,
    stdout: "/a/b  0 bytes, 1 child\n└── c  8 bytes, 0 children\n",
  },
  {
    name: "-s shows no data, however many znodes there are",
    argv: ["tree", "-s", "/a"],
    given: Object.fromEntries([
      ["/a", "x"],
      ...MANY.map((name) => [`/a/${name}`, "secret"] as const),
    ]),
    stdout: `/a  1 byte, ${MANY.length} children\n${MANY.map((name, i) => `${i === MANY.length - 1 ? "└" : "├"}── ${name}  6 bytes, 0 children\n`).join("")}`,
  },
  {
    name: "-d adds the data on its line",
    argv: ["tree", "-d", "/a"],
    given: { ...TREE, "/a/b/c": "two\nlines \u001b[2J" },
    stdout: "/a  one\n├── b\n│   └── c  two lines \\x1b[2J\n└── d  (2 bytes of binary data)\n",
  },
  {
    name: "cuts data to the width of the terminal",
    argv: ["tree", "-d", "/a"],
    given: { "/a": "x".repeat(200) },
    tty: true,
    columns: 30,
    stdout: `/a  ${"x".repeat(24)}…\n`,
  },
  {
    name: "an unreadable branch is named, and the rest drawn",
    argv: ["tree", "/a"],
    given: TREE,
    failures: denied,
    stdout: "/a\n├── b\n└── d\n",
    stderr: "error: not permitted: /a/b (NoAuth)\nerror: 1 znode could not be read\n",
    exit: 8,
  },
  { name: "a root that is missing", argv: ["tree", "/no"], given: TREE, exit: 3 },
];

describe("tree", () => {
  test.each(rows)("$name", async (row) => {
    const { stderr, ...rest } = await outcome({ env: { LANG: "C.UTF-8" }, ...row });
    const { stderr: told, ...wanted } = expected(row);
    expect(rest).toEqual(wanted);
    if (row.exit !== 3) expect(stderr).toBe(told);
  });

  test("--json is one object a znode, with data where it was asked for", async () => {
    const { stdout } = await run(["tree", "-d", "/a/d", "--json"], { given: TREE });
    expect(JSON.parse(stdout)).toMatchObject({ path: "/a/d", data: "/wA=", encoding: "base64" });
  });
});
