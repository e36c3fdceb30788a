import { describe, expect, test } from "vitest";
import { isoTime, statLines, statTable } from "../../src/render/stat.ts";
import { plainTheme } from "../../src/render/theme.ts";
import type { Stat } from "../../src/session/session.ts";

const AT = Date.UTC(2026, 10, 16, 4, 42, 11);
const ids = { czxid: 0x2n, mzxid: 0x3n, pzxid: 0x2n, ephemeralOwner: 0x1000a5f0000n };
const stat: Stat = {
  ...ids,
  version: 1,
  cversion: 0,
  aversion: 0,
  dataLength: 5,
  numChildren: 0,
  ctime: 0,
  mtime: AT,
};

/** The value of a line of the table. */
function shown(label: string, of: Partial<Stat>, now = AT): string | undefined {
  const line = statTable({ ...stat, ...of }, now, plainTheme)
    .split("\n")
    .find((text) => text.startsWith(label));
  return line?.replace(/^\w+ += /, "");
}

describe("statTable", () => {
  test("aligns the eleven values, and has what they come to beside them", () => {
    process.env.TZ = "UTC";
    const theme = { ...plainTheme, faint: (text: string) => `<${text}>` };
    expect(statTable({ ...stat, dataLength: 20_480 }, AT + 60_000, theme)).toBe(`\
<cZxid          => 0x2
<ctime          => never set
<mZxid          => 0x3
<mtime          => 2026-11-16 04:42:11 +00:00< (1m00s ago)>
<pZxid          => 0x2
<cversion       => 0
<dataVersion    => 1
<aclVersion     => 0
<ephemeralOwner => 0x1000a5f0000
<dataLength     => 20480< (20 KB)>
<numChildren    => 0
`);
  });

  test("has the labels and raw values of zkCli's lines", () => {
    const pairs = (text: string) =>
      text
        .replace(/ += /g, " = ")
        .replace(/ \(.*\)$/gm, "")
        .replace(/time = .*/g, "time");
    expect(pairs(statTable(stat, AT, plainTheme))).toBe(pairs(statLines(stat, isoTime)));
  });

  test.each([
    { ago: 0, text: "0s ago" },
    { ago: 59_999, text: "59s ago" },
    { ago: 60_000, text: "1m00s ago" },
    { ago: 3_600_000, text: "1h00m ago" },
    { ago: 86_400_000, text: "1d0h ago" },
    { ago: 3 * 86_400_000, text: "3d0h ago" },
    { ago: -1000, text: "in the future" },
  ])("$text", ({ ago, text }) => {
    process.env.TZ = "UTC";
    expect(shown("mtime", {}, AT + ago)).toBe(`2026-11-16 04:42:11 +00:00 (${text})`);
  });

  test.each([
    { zone: "Asia/Kolkata", text: "2026-11-16 10:12:11 +05:30 (0s ago)" },
    { zone: "America/New_York", text: "2026-11-15 23:42:11 -05:00 (0s ago)" },
  ])("in $zone", ({ zone, text }) => {
    process.env.TZ = zone;
    expect(shown("mtime", {})).toBe(text);
  });

  test("a time that is no date is a number", () => {
    expect([isoTime(9e15), shown("mtime", { mtime: 9e15 })]).toEqual([
      "9000000000000000",
      "9000000000000000",
    ]);
  });
});
