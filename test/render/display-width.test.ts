import { expect, test } from "vitest";
import { characters, displayWidth } from "../../src/render/display-width.ts";

test.each([
  { name: "ASCII", text: "abc", width: 3 },
  { name: "a letter with an accent", text: "é", width: 1 },
  { name: "a letter and a combining accent", text: "e\u0301", width: 1 },
  { name: "a letter in an enclosing circle", text: "a\u20dd", width: 1 },
  { name: "Chinese", text: "日本", width: 4 },
  { name: "Chinese beyond the basic plane", text: "𠮷野", width: 4 },
  { name: "Korean", text: "한글", width: 4 },
  { name: "Korean in its parts", text: "\u1112\u1161\u11ab", width: 2 },
  { name: "fullwidth Latin", text: "ＡＢ", width: 4 },
  { name: "halfwidth Katakana", text: "ｱﾞ", width: 2 },
  { name: "Devanagari with a vowel above", text: "कि", width: 2 },
  { name: "an emoji", text: "🚀", width: 2 },
  { name: "an emoji with a skin tone", text: "👍🏽", width: 2 },
  { name: "a family joined to one emoji", text: "👨‍👩‍👧‍👦", width: 2 },
  { name: "a heart as text", text: "❤", width: 1 },
  { name: "a heart as a picture", text: "❤\ufe0f", width: 2 },
  { name: "a rainbow flag", text: "🏳️‍🌈", width: 2 },
  { name: "a flag", text: "🇯🇵", width: 2 },
  { name: "two flags", text: "🇯🇵🇫🇷", width: 4 },
  { name: "half a flag", text: "🇯", width: 1 },
  { name: "a keycap", text: "1\ufe0f\u20e3", width: 2 },
  { name: "nothing but a mark", text: "\u0301", width: 0 },
])("the width of $name", ({ text, width }) => {
  expect(displayWidth(text)).toBe(width);
});

test("characters are as a person sees them", () => {
  const texts = Array.from(characters("ae\u0301日👨‍👩‍👧‍👦🇯🇵🇫🇷1\ufe0f\u20e3x"), ({ text }) => text);
  expect(texts).toEqual(["a", "e\u0301", "日", "👨‍👩‍👧‍👦", "🇯🇵", "🇫🇷", "1\ufe0f\u20e3", "x"]);
});

test.each(["日", "e\u0301", "\u0301", "👨\u200d", "🇯", "1\u20e3"])(
  "a long text of %j takes linear time",
  (text) => {
    const started = process.cpuUsage();
    displayWidth(text.repeat(100_000));
    // CPU time: a busy machine must not fail it.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
  },
);
