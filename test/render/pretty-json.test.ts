import { describe, expect, test } from "vitest";
import { jsonLine, jsonLines, paintJson } from "../../src/render/pretty-json.ts";
import { plainTheme, type Theme } from "../../src/render/theme.ts";
import { escapeText } from "../../src/text/escape.ts";

function prettyJson(text: string): string | undefined {
  const lines = jsonLines(text);
  return lines && Array.from(lines, (line) => line.text).join("\n");
}

test.each([
  { text: "{}", pretty: "{}" },
  { text: " [ ] ", pretty: "[]" },
  {
    text: '{"a":[1,{"b":null}],"c":""}',
    pretty: '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": ""\n}',
  },
  { text: '{"a" : 1.0,\n"b":1e999}', pretty: '{\n  "a": 1.0,\n  "b": 1e999\n}' },
  { text: '["a\\"b{,}:\\u00e9"]', pretty: '[\n  "a\\"b{,}:\\u00e9"\n]' },
  { text: "[12345678901234567890]", pretty: "[\n  12345678901234567890\n]" },
  { text: "5", pretty: undefined },
  { text: '"text"', pretty: undefined },
  { text: "{a:1}", pretty: undefined },
  { text: "[1,2", pretty: undefined },
])("$text", ({ text, pretty }) => {
  expect(prettyJson(text)).toBe(pretty);
});

test("what is nested deeper than 32 levels stays on one line", () => {
  const pretty = prettyJson(`${"[".repeat(9_000)}1,"a"${"]".repeat(9_000)}`) ?? "";
  expect(pretty.length).toBeLessThan(30_000);
  expect(pretty.split("\n")).toHaveLength(65);
  expect(pretty).toContain('[1, "a"]');
});

test.each([
  { text: '{"a" : 1,\n "b":[ ] }', line: '{"a": 1, "b": []}' },
  { text: '[{"a":{"b":[1,2]}},3]', line: '[{"a": {"b": [1, 2]}}, 3]' },
  { text: "plain text", line: undefined },
])("$text on one line", ({ text, line }) => {
  expect(jsonLine(text)).toBe(line);
});

describe("paintJson", () => {
  const theme: Theme = {
    ...plainTheme,
    key: (text) => `<k ${text}>`,
    string: (text) => `<s ${text}>`,
    number: (text) => `<n ${text}>`,
    literal: (text) => `<l ${text}>`,
  };

  test.each([
    { line: '  "a": "b",', painted: '  <k "a">: <s "b">,' },
    { line: '  "a": -1.5e+3,', painted: '  <k "a">: <n -1.5e+3>,' },
    { line: "  true,", painted: "  <l true>," },
    { line: "  null", painted: "  <l null>" },
    { line: '{"a": [1, false, {}]}', painted: '{<k "a">: [<n 1>, <l false>, {}]}' },
    { line: '"a\\"b": "c: \\\\"', painted: '<k "a\\"b">: <s "c: \\\\">' },
    { line: '"cut off in a str', painted: '<s "cut off in a str>' },
    { line: '"cut off in an escape\\', painted: '<s "cut off in an escape\\>' },
    { line: "", painted: "" },
  ])("$line", ({ line, painted }) => {
    expect(paintJson(line, theme)).toBe(painted);
  });

  test("what is escaped stays inside its string", () => {
    const text = JSON.stringify({ "\u202ekey": "a\u009b1m\u2028" });
    const painted = paintJson(escapeText(jsonLine(text) ?? ""), theme);
    expect(painted).toBe('{<k "\\u202ekey">: <s "a\\x9b1m\\u2028">}');
  });

  test.each([
    { name: "numbers", text: JSON.stringify(Array(200_000).fill(12345)) },
    { name: "one string", text: JSON.stringify(["\\".repeat(600_000)]) },
    {
      name: "keys",
      text: JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, "x"]))),
    },
  ])("paints a megabyte in linear time: $name", ({ text }) => {
    const started = process.cpuUsage();
    const lines = Array.from(jsonLines(text) ?? [], (line) => paintJson(line.text, plainTheme));
    expect(lines.join("\n")).toBe(
      Array.from(jsonLines(text) ?? [], (line) => line.text).join("\n"),
    );
    // CPU time: a busy machine must not fail it.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
  });
});
