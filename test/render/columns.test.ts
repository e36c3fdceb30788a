import { describe, expect, test } from "vitest";
import { columns } from "../../src/render/columns.ts";

const cells = (...texts: string[]) => texts.map((text) => ({ text }));

describe("columns", () => {
  test.each([
    { name: "nothing", given: cells(), width: 80, text: "" },
    { name: "one line where it fits", given: cells("a", "b", "c"), width: 7, text: "a  b  c\n" },
    {
      name: "two lines where one is too long",
      given: cells("a", "b", "c"),
      width: 6,
      text: "a  c\nb\n",
    },
    {
      name: "each column as wide as it must be",
      given: cells("long", "b", "c", "d"),
      width: 10,
      text: "long  c\nb     d\n",
    },
    {
      name: "one column when the width is too small for two",
      given: cells("long", "name"),
      width: 3,
      text: "long\nname\n",
    },
    {
      name: "wide characters",
      given: cells("日本", "b", "c", "d"),
      width: 8,
      text: "日本  c\nb     d\n",
    },
    {
      name: "emoji",
      given: cells("🚀", "b", "👨‍👩‍👧‍👦", "d"),
      width: 8,
      text: "🚀  👨‍👩‍👧‍👦\nb   d\n",
    },
  ])("$name", ({ given, width, text }) => {
    expect(columns(given, width)).toBe(text);
  });

  test("colours take no room", () => {
    const given = [{ text: "aa", colored: "<aa>" }, { text: "b" }, { text: "c" }];
    expect(columns(given, 6)).toBe("<aa>  c\nb\n");
  });
});
