/** What people are shown of something long, and that programs get all of it. */
import { describe, expect, test } from "vitest";
import { jsonRenderer } from "../../src/render/json.ts";
import type { View } from "../../src/render/renderer.ts";
import { textRenderer } from "../../src/render/text.ts";
import { plainTheme } from "../../src/render/theme.ts";
import { wrapText } from "../../src/render/wrap-text.ts";
import type { DataResult } from "../../src/results/znodes.ts";
import type { Stat } from "../../src/session/session.ts";
import { run } from "../commands/run.ts";
import { StubSession } from "../commands/stub-session.ts";

process.env.TZ = "UTC";

const view: View = { isTTY: true, columns: 80, theme: plainTheme, isQuiet: false, now: () => 0 };
const ids = { czxid: 1n, mzxid: 1n, pzxid: 1n, ephemeralOwner: 0n };
const counters = { version: 3, cversion: 0, aversion: 0, dataLength: 1, numChildren: 0 };
const stat: Stat = { ...ids, ...counters, ctime: 0, mtime: 0 };

function get(
  data: string | Buffer,
  more: Partial<DataResult> = {},
  shown: Partial<View> = {},
): string {
  const result: DataResult = {
    kind: "data",
    path: "/a",
    data: Buffer.from(data),
    stat,
    withStat: false,
    encoding: "auto",
    ...more,
  };
  return String(textRenderer({ ...view, ...shown }).result(result).out);
}

const rows = (text: string) =>
  text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), -1);

describe("get on a terminal", () => {
  test("of 18 KB of nested brackets is a few rows", () => {
    const brackets = `${"[".repeat(9_000)}${"]".repeat(9_000)}`;
    expect(get(brackets).length).toBeLessThan(20_000);
    expect(rows(get(brackets))).toBeLessThanOrEqual(202);
    expect(get(brackets, { isWhole: true }).length).toBeLessThan(30_000);
  });

  test("of 700 KB of binary data is 200 lines, and says how much more there is", () => {
    const binary = Buffer.alloc(700 * 1024, 0xff);
    const lines = get(binary).trimEnd().split("\n");
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe("… 697 KB more; pipe it, or use --all");
    expect(get(binary, { isWhole: true }).split("\n")).toHaveLength(44_801);
  });

  test.each([
    { name: "one line", data: "x".repeat(700 * 1024), left: "684 KB" },
    { name: "short lines", data: "abc\n".repeat(100_000), left: "390 KB" },
    { name: "two bytes a character", data: "é".repeat(350 * 1024), left: "669 KB" },
    { name: "JSON", data: JSON.stringify(Array(100_000).fill(12345)), left: "585 KB" },
    { name: "a string of JSON", data: JSON.stringify(["y".repeat(300_000)]), left: "277 KB" },
    { name: "base64", data: "x".repeat(700 * 1024), left: "688 KB", encoding: "base64" as const },
    { name: "hex", data: "x".repeat(700 * 1024), left: "697 KB", encoding: "hex" as const },
    { name: "combining marks", data: "\u0301".repeat(300_000), left: "581 KB" },
    { name: "escaped characters", data: "\u200b".repeat(300_000), left: "871 KB" },
  ])("of a long text is 200 rows: $name", ({ data, left, ...more }) => {
    const text = get(data, more);
    expect(rows(text)).toBeLessThanOrEqual(201);
    expect(rows(text)).toBeGreaterThan(190);
    expect(text.trimEnd().split("\n").at(-1)).toBe(`… ${left} more; pipe it, or use --all`);
  });

  test("of what fits is whole, its stat behind it", () => {
    expect(get("a\nb")).toBe("a\nb\n");
    expect(get("abc\n".repeat(200))).toBe("abc\n".repeat(200));
    const cut = get("abc\n".repeat(201), { withStat: true });
    expect(cut).toMatch(/\n… 4 bytes more; pipe it, or use --all\ncZxid/);
  });

  test("of half a megabyte on a terminal of any width is no more than 64 KB", () => {
    expect(get("x".repeat(500_000), {}, { columns: 5_000 }).length).toBeLessThan(66_000);
    expect(get("x".repeat(500_000), {}, { columns: 1 }).split("\n")[0]).toHaveLength(200);
  });
});

test("get in a pipe and as JSON is never cut", () => {
  const data = "abc\n".repeat(100_000);
  expect(get(data, {}, { isTTY: false })).toBe(data);
  expect(get(data, { encoding: "hex" }, { isTTY: false }).split("\n")).toHaveLength(25_001);
  const result = {
    kind: "data",
    path: "/a",
    data: Buffer.from(data),
    withStat: false,
    encoding: "auto",
  } as const;
  const { out } = jsonRenderer().result({ ...result, stat });
  expect(JSON.parse(String(out)).data).toBe(data);
});

describe("watch", () => {
  const watched = (more: object, shown: Partial<View> = {}) =>
    String(
      textRenderer({ ...view, ...shown }).result({
        kind: "watched",
        path: "/a",
        at: 0,
        ...more,
      } as Parameters<ReturnType<typeof textRenderer>["result"]>[0]).out,
    );
  const long = { event: "changed", data: Buffer.from("é".repeat(250_000)), stat };

  test("prints the beginning of half a megabyte on a terminal, and all of it elsewhere", () => {
    const line = watched(long);
    expect(line).toMatch(
      /^00:00:00 changed \/a \(version 3\): é{500} … 487 KB more; --all shows them\n$/,
    );
    expect(watched({ ...long, isWhole: true })).toContain("é".repeat(250_000));
    expect(watched(long, { isTTY: false })).toContain("é".repeat(250_000));
  });

  test("prints JSON on one line on a terminal, and as it is elsewhere", () => {
    const pretty = { event: "changed", data: Buffer.from('{\n  "a": 1\n}\n'), stat };
    expect(watched(pretty)).toBe('00:00:00 changed /a (version 3): {"a": 1}\n');
    expect(watched(pretty, { isTTY: false })).toBe(
      'changed /a (version 3): {\\x0a  "a": 1\\x0a}\\x0a\t1970-01-01T00:00:00.000Z\n',
    );
    const many = {
      event: "changed",
      data: Buffer.from(JSON.stringify(Array(100_000).fill(1))),
      stat,
    };
    expect(watched(many)).toMatch(
      /^00:00:00 changed \/a \(version 3\): \[1, 1, .{900,1000} … 292 KB more; --all shows them\n$/,
    );
  });

  test("names the first of many children on a terminal, and all of them elsewhere", () => {
    const children = {
      event: "children",
      added: Array.from({ length: 100_000 }, (_, i) => `n${i}`),
      removed: [],
    };
    expect(watched(children)).toMatch(
      /^00:00:00 children \/a: \+n0 \+n1 .{500,1000} … 99\d{3} more; --all shows them\n$/,
    );
    expect(watched(children, { isTTY: false }).length).toBeGreaterThan(600_000);
    const huge = { event: "children", added: ["x".repeat(900_000)], removed: [] };
    expect(watched(huge).length).toBeLessThan(1_100);
  });
});

test("ls of 130,000 children, one of them with a long name", async () => {
  const names = [...Array.from({ length: 130_000 }, (_, i) => String(i)), "x".repeat(300)];
  const session = new StubSession();
  session.getChildren = async () => names;
  const { exit, stdout } = await run(["ls", "/"], { session, tty: true });
  expect(exit).toBe(0);
  expect(stdout.trimEnd().split("\n").join(" ").split(/\s+/)).toHaveLength(130_001);
});

test("a megabyte without a blank is wrapped in linear time", () => {
  const lines = wrapText("日".repeat(300_000), 80);
  expect(lines).toHaveLength(7_500);
  expect(lines[0]).toBe("日".repeat(40));
});

test("no line begins with the joiner of an emoji, where it cannot be seen", () => {
  const [first = "", second = ""] = wrapText(`${"x".repeat(9)}👩‍💻👩‍💻`, 10);
  expect([first, second]).toEqual([`${"x".repeat(9)}`, "👩‍💻👩‍💻"]);
  expect(wrapText("é".repeat(11).normalize("NFD"), 10)).toEqual(
    ["é".repeat(10), "é"].map((line) => line.normalize("NFD")),
  );
});
