import { expect, test } from "vitest";
import {
  escapeControls,
  escapeJson,
  escapeName,
  escapeText,
  escapeTextControls,
} from "../../src/text/escape.ts";
import { cpuMs } from "../support/cpu-time.ts";

test.each([
  { raw: "plain é 日", name: "plain é 日", text: "plain é 日" },
  { raw: "a\nb\tc", name: "a\\x0ab\\x09c", text: "a\nb\tc" },
  { raw: "a\r\nb\rc", name: "a\\x0d\\x0ab\\x0dc", text: "a\r\nb\\x0dc" },
  { raw: "\u001b]0;title\u0007", name: "\\x1b]0;title\\x07", text: "\\x1b]0;title\\x07" },
  { raw: "\u007f\u0080\u009b31m", name: "\\x7f\\x80\\x9b31m", text: "\\x7f\\x80\\x9b31m" },
  {
    raw: "\u202eevil\u2066\u200f",
    name: "\\u202eevil\\u2066\\u200f",
    text: "\\u202eevil\\u2066\\u200f",
  },
  {
    raw: "a\u061cb\u200bc\u2060d\ufeff",
    name: "a\\u061cb\\u200bc\\u2060d\\ufeff",
    text: "a\\u061cb\\u200bc\\u2060d\\ufeff",
  },
  // A soft hyphen, a Hangul filler, a language tag.
  { raw: "\u00ad\u3164\u{e0041}", name: "\\xad\\u3164\\u{e0041}", text: "\\xad\\u3164\\u{e0041}" },
])("$name", ({ raw, name, text }) => {
  expect([escapeName(raw), escapeText(raw)]).toEqual([name, text]);
});

test.each(["👩🏽\u200d💻", "❤\ufe0f", "1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈", "né à Ħ\u0301"])(
  "%s is shown as it is",
  (text) => {
    expect(escapeName(text)).toBe(text);
  },
);

test.each([
  ["eight on one letter stay", `a${"\u0301".repeat(8)}`, `a${"\u0301".repeat(8)}`],
  ["more are escaped", `a${"\u0336".repeat(10)}b`, `a${"\u0336".repeat(8)}\\u0336\\u0336b`],
  ["a mark cannot change the text before it", "\u0338a/\u0338b", "\\u0338a/\\u0338b"],
  ["Thai, Hindi and Vietnamese stay", "ที่นี่ हिन्दी tie\u0302\u0301ng", "ที่นี่ हिन्दी tie\u0302\u0301ng"],
])("combining marks: %s", (_what, raw, shown) => {
  expect([escapeName(raw), escapeText(raw)]).toEqual([shown, shown]);
});

test("a name with another space does not look like the name with the usual one", () => {
  expect(escapeName("a\u00a0b\u2003c\u202fd\u2800 全\u3000角")).toBe(
    "a\\xa0b\\u2003c\\u202fd\\u2800 全\u3000角",
  );
  expect(escapeText("Bonjour\u00a0!")).toBe("Bonjour\u00a0!");
});

test("a megabyte of combining marks is escaped in less than 2 seconds", () => {
  const startedAt = cpuMs();
  escapeJson(`"a${"\u0301".repeat(500_000)}"`);
  expect(cpuMs() - startedAt).toBeLessThan(2_000);
});

test.each([
  ["between letters", "conf\u200dig", "conf\\u200dig"],
  ["behind an emoji and before a letter", "👩\u200dx", "👩\\u200dx"],
  ["a variation selector behind a letter", "a\ufe0f", "a\\ufe0f"],
])("a joiner hides nothing: %s", (_where, raw, shown) => {
  expect(escapeName(raw)).toBe(shown);
});

test("in a pipe a name keeps all but its control characters", () => {
  expect(escapeControls("a\u200bb\u202e👩🏽\u200d💻")).toBe("a\u200bb\u202e👩🏽\u200d💻");
  expect(escapeControls("a\nb\u001b[2J\u009b\u007f")).toBe("a\\x0ab\\x1b[2J\\x9b\\x7f");
  expect(escapeTextControls("a\tb\r\nc\u001b")).toBe("a\tb\r\nc\\x1b");
});

test("JSON stays the same JSON", () => {
  const value = { text: "\u001b\u009b\u202e\u2028é\u{e0041}\u200b👩🏽\u200d💻" };
  const json = escapeJson(JSON.stringify(value));
  expect(json).toBe('{"text":"\\u001b\\u009b\\u202e\\u2028é\\udb40\\udc41\\u200b👩🏽\u200d💻"}');
  expect(JSON.parse(json)).toEqual(value);
});
