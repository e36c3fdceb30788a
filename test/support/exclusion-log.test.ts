import { expect, test } from "vitest";
import { parseExclusionLog, type Rules, served, violations } from "./exclusion-log.ts";

/**
 * The log of intervals written as `id kind begin-last token ticket`; a `!` at the end leaves the
 * end out.
 */
function logOf(...lines: readonly string[]): string {
  return lines
    .map((line) => {
      const [id, kind, times = "", token = "-", ticket = "-", killed] = line.split(" ");
      const [begin, last] = times.split("-");
      return `begin ${begin} ${id} ${kind} ${token} ${ticket}\n${killed === "!" ? "beat" : "end"} ${last} ${id}\n`;
    })
    .join("");
}

function rulesBroken(log: string, rules?: Rules): string[] {
  return violations(parseExclusionLog(log), rules).map(({ rule }) => rule);
}

test.each<{ name: string; log: string; rules?: Rules; broken: string[] }>([
  { name: "an empty log", log: "", broken: [] },
  {
    name: "one after the other",
    log: logOf("a#1 exclusive 10-20 1", "b#1 exclusive 21-30 2"),
    broken: [],
  },
  {
    name: "one within the other",
    log: logOf("a#1 exclusive 10-40 1", "b#1 exclusive 20-30 2"),
    broken: ["exclusion"],
  },
  {
    name: "the same instant",
    log: logOf("a#1 exclusive 10-20 1", "b#1 exclusive 20-30 2"),
    broken: ["exclusion"],
  },
  {
    name: "a long one over two others",
    log: logOf("a#1 exclusive 10-90 1", "b#1 exclusive 20-30 2", "c#1 exclusive 40-50 3"),
    broken: ["exclusion", "exclusion"],
  },
  {
    name: "lines out of order",
    log: logOf("b#1 exclusive 21-30 2", "a#1 exclusive 10-20 1"),
    broken: [],
  },
  {
    name: "the beats of one that was killed",
    log: logOf("a#1 exclusive 10-25 1 - !", "b#1 exclusive 20-30 2"),
    broken: ["exclusion"],
  },
  {
    name: "one that was killed in time",
    log: logOf("a#1 exclusive 10-19 1 - !", "b#1 exclusive 20-30 2"),
    broken: [],
  },
  {
    name: "readers together",
    log: logOf("a#1 read 10-30", "b#1 read 20-40", "c#1 write 41-50 3"),
    broken: [],
  },
  {
    name: "a writer among readers",
    log: logOf("a#1 read 10-30", "c#1 write 20-25 3"),
    broken: ["exclusion"],
  },
  {
    name: "a reader under a writer",
    log: logOf("c#1 write 10-30 3", "a#1 read 29-40"),
    broken: ["exclusion"],
  },
  {
    name: "permits up to the limit",
    log: logOf("a#1 permit 10-30", "b#1 permit 20-40", "c#1 permit 31-50"),
    rules: { limit: 2 },
    broken: [],
  },
  {
    name: "a permit too many",
    log: logOf("a#1 permit 10-30", "b#1 permit 20-40", "c#1 permit 30-50"),
    rules: { limit: 2 },
    broken: ["limit"],
  },
  {
    name: "a token that falls",
    log: logOf("a#1 exclusive 10-20 5", "b#1 exclusive 21-30 4"),
    broken: ["token"],
  },
  {
    name: "a token twice",
    log: logOf("a#1 write 10-20 5", "b#1 write 21-30 5"),
    broken: ["token"],
  },
  {
    name: "tokens with a stranger between them",
    log: logOf("a#1 exclusive 10-20 5", "x#1 exclusive 21-30", "b#1 exclusive 31-40 5"),
    broken: ["token"],
  },
  { name: "tokens of readers", log: logOf("a#1 read 10-20 5", "b#1 read 11-30 4"), broken: [] },
  {
    name: "a higher ticket first",
    log: logOf("a#1 exclusive 10-20 - 8", "b#1 exclusive 21-30 - 7"),
    rules: { isFair: true },
    broken: ["order"],
  },
  {
    name: "a higher ticket first where nobody promised fairness",
    log: logOf("a#1 exclusive 10-20 - 8", "b#1 exclusive 21-30 - 7"),
    broken: [],
  },
  {
    name: "readers in any order between writers",
    log: logOf(
      "w#1 write 10-20 - 1",
      "a#1 read 21-30 - 3",
      "b#1 read 22-30 - 2",
      "w#2 write 31-40 - 4",
    ),
    rules: { isFair: true },
    broken: [],
  },
  {
    name: "a reader that passes a writer",
    log: logOf("w#1 write 10-20 - 1", "a#1 read 21-30 - 3", "w#2 write 31-40 - 2"),
    rules: { isFair: true },
    broken: ["order"],
  },
  {
    name: "a reader that a later writer passes",
    log: logOf("w#1 write 10-20 - 5", "a#1 read 21-30 - 3"),
    rules: { isFair: true },
    broken: ["order"],
  },
])("$name", ({ log, rules, broken }) => {
  expect(rulesBroken(log, rules)).toEqual(broken);
});

test("names both intervals", () => {
  const [violation] = violations(
    parseExclusionLog(
      logOf("a#1 exclusive 1000000-4000000 1", "b#1 exclusive 2000000-3000000 2 - !"),
    ),
  );
  expect(violation?.text).toBe(
    "a#1 exclusive token 1 [1.000, 4.000] and b#1 exclusive token 2 [2.000, 3.000] (no end)",
  );
});

test("counts who was served, and who was not", () => {
  const intervals = parseExclusionLog(logOf("a#1 exclusive 10-20", "a#2 exclusive 21-30"));
  expect(Object.fromEntries(served(intervals, ["a", "b"]))).toEqual({ a: 2, b: 0 });
});

test.each([
  ["a cut line", "begin 10 a#1 exclusive - -\nend 20"],
  ["an unknown verb", "start 10 a#1 exclusive - -\n"],
  ["an unknown kind", "begin 10 a#1 shared - -\n"],
  ["no number", "begin x a#1 exclusive - -\n"],
  ["a second begin", "begin 10 a#1 exclusive - -\nbegin 11 a#1 exclusive - -\n"],
  ["an end without a begin", "end 10 a#1\n"],
  ["a beat after the end", "begin 10 a#1 exclusive - -\nend 11 a#1\nbeat 12 a#1\n"],
])("does not swallow %s", (_, log) => {
  expect(() => parseExclusionLog(log)).toThrow();
});
