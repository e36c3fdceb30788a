import { describe, expect, test } from "vitest";
import { plainLines } from "../../src/render/lock-lines.ts";
import { queueMember, report } from "../support/lock-reports.ts";

describe("a queue in a pipe", () => {
  test("the reason is the last column, and - where none is given", () => {
    const text = plainLines(
      report({ holders: [queueMember({ why: "release 42" })], waiters: [queueMember()] }),
    );
    const rows = text.split("\n").map((line) => line.split("\t"));
    expect(rows[0]?.slice(-2)).toEqual(["/deploy/_c_6b0e-lock-0000000003", "release 42"]);
    expect(rows[1]?.slice(-2)).toEqual(["/deploy/_c_6b0e-lock-0000000003", "-"]);
  });

  test("tabs, line ends and escape codes in a reason do not break the columns", () => {
    const text = plainLines(report({ holders: [queueMember({ why: "a\tb\nc\x1b[2J" })] }));
    expect(text.split("\n")).toHaveLength(2);
    expect(text.split("\t")).toHaveLength(12);
    expect(text.split("\t").at(-1)).toBe("a\\x09b\\x0ac\\x1b[2J\n");
  });
});
