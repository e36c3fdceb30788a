import { expect, test } from "vitest";
import { escapeJson, escapeName, escapeText } from "../../src/render/escape.ts";

test.each([
  { raw: "plain é 日", name: "plain é 日", text: "plain é 日" },
  { raw: "a\nb\tc", name: "a\\x0ab\\x09c", text: "a\nb\tc" },
  { raw: "a\r\nb\rc", name: "a\\x0d\\x0ab\\x0dc", text: "a\r\nb\\x0dc" },
  { raw: "\u001b]0;title\u0007", name: "\\x1b]0;title\\x07", text: "\\x1b]0;title\\x07" },
  { raw: "\u007f\u0080\u009b31m", name: "\\x7f\\x80\\x9b31m", text: "\\x7f\\x80\\x9b31m" },
  { raw: "\u202eevil\u2066\u200f", name: "\\u202eevil\\u2066\\u200f", text: "\\u202eevil\\u2066\\u200f" },
])("$name", ({ raw, name, text }) => {
  expect([escapeName(raw), escapeText(raw)]).toEqual([name, text]);
});

test("JSON stays the same JSON", () => {
  const value = { text: "\u001b\u009b\u202e\u2028é" };
  const json = escapeJson(JSON.stringify(value));
  expect(json).toBe('{"text":"\\u001b\\u009b\\u202e\\u2028é"}');
  expect(JSON.parse(json)).toEqual(value);
});
