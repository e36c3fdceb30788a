import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const given = { "/a": "ready", "/a/b": "", "/n": null };

const met = [
  { words: ["/a", "exists"], says: "/a exists" },
  { words: ["/x", "gone"], says: "/x is gone" },
  { words: ["/a", "value", "ready"], says: "/a has the value" },
  { words: ["/n", "value", ""], says: "/n has the value" },
  { words: ["/a", "children", "1"], says: "/a has 1 child" },
  { words: ["/n", "children", "0"], says: "/n has 0 children" },
];

const unmet = [
  { words: ["/x", "exists"], says: "/x does not exist" },
  { words: ["/a", "gone"], says: "/a still exists" },
  { words: ["/a", "value", "read"], says: "/a does not have this value" },
  { words: ["/x", "value", "ready"], says: "/x does not have this value" },
  { words: ["/a", "children", "2"], says: "/a does not have this number of children" },
  { words: ["/x", "children", "0"], says: "/x does not have this number of children" },
];

const rows: Row[] = [
  ...met.map(({ words, says }) => ({
    name: `ends at once: ${words.join(" ")}`,
    argv: ["wait-for", ...words],
    given,
    tty: true,
    stdout: `${says}\n`,
  })),
  ...unmet.map(({ words, says }) => ({
    name: `ends with exit code 7: ${words.join(" ")}`,
    argv: ["wait-for", ...words, "-w", "20ms"],
    given,
    stderr: `error: gave up after 20ms: ${says}\n`,
    exit: 7,
  })),
  { name: "is silent in a pipe", argv: ["wait-for", "/a", "exists"], given },
  {
    name: "JSON names the condition",
    argv: ["--json", "wait-for", "/a", "children", "1"],
    given,
    stdout: '{"path":"/a","condition":"children"}\n',
  },
];

describe("wait-for", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test.each([
    { words: ["is"], error: "unknown condition 'is'" },
    { words: ["exists", "x"], error: "exists takes no value, got 'x'" },
    { words: ["value"], error: "value needs a text" },
    { words: ["children"], error: "children needs a number" },
    { words: ["children", "-1"], error: "bad number '-1'" },
    { words: ["children", "few"], error: "bad number 'few'" },
  ])("$words is a usage error", async ({ words, error }) => {
    const { stderr, exit } = await run(["wait-for", "/a", "--", ...words], { given });
    expect([exit, stderr]).toEqual([2, expect.stringContaining(error)]);
  });

  test("a znode that may not be read is an error, not a wait", async () => {
    const noAuth = new PermissionError("no-auth", "not permitted: /a (NoAuth)", { code: -102 });
    const { exit } = await run(["wait-for", "/a", "value", "x"], {
      given,
      failures: { "/a": noAuth },
    });
    expect(exit).toBe(4);
  });
});
