import { describe, expect, test } from "vitest";
import type { ScriptText } from "../../../src/shell/parsing/script-text.ts";
import { readZkcliStatements, zkcliWords } from "../../../src/shell/parsing/zkcli-lexer.ts";

function texts(line: string): string[] {
  return zkcliWords(line).map((word) => word.text);
}

describe("zkcliWords", () => {
  test.each([
    ["get /p", ["get", "/p"]],
    ["  get\t/p  ", ["get", "/p"]],
    ['set /p "two  words"', ["set", "/p", "two  words"]],
    [`set /p 'it said "x"'`, ["set", "/p", 'it said "x"']],
    ['set /p {"k":1}', ["set", "/p", '{"k":1}']],
    ['set /p {"k": 1}', ["set", "/p", '{"k":', "1}"]],
    ['set /p "{\\"k\\":1}"', ["set", "/p", "{\\", 'k\\":1}"']],
    ['set /p pre"mid dle"post', ["set", "/p", 'pre"mid', 'dle"post']],
    ['set /p "x"y', ["set", "/p", "x", "y"]],
    ['set /p "open ended', ["set", "/p", "open", "ended"]],
    ['set /p ""', ["set", "/p", ""]],
    ["set /p it's", ["set", "/p", "it's"]],
    ["set /p 'a'b'c'", ["set", "/p", "a", "b'c'"]],
    ["set /p a;b #c", ["set", "/p", "a;b", "#c"]],
    ["set /p \\n", ["set", "/p", "\\n"]],
    ["set /p a\u00a0b", ["set", "/p", "a\u00a0b"]],
    ["   ", [" "]],
    ["", []],
    ['"', []],
  ])("%j → %j", (line, words) => {
    expect(texts(line)).toEqual(words);
  });

  test("says where the words stand, quotes included", () => {
    expect(zkcliWords('  set "/a b"')).toEqual([
      { text: "set", start: 2, end: 5 },
      { text: "/a b", start: 6, end: 12 },
    ]);
  });
});

async function statements(
  text: ScriptText,
): Promise<{ line: number; source: string; words: string[] }[]> {
  const found = [];
  for await (const group of readZkcliStatements(text)) {
    for (const { line, source, words } of group)
      found.push({ line, source, words: words.map((word) => word.text) });
  }
  return found;
}

describe("readZkcliStatements", () => {
  test("gives a statement a line, without the lines that have no word", async () => {
    expect(await statements(['get /a\n\n# b\r\n"\nls /'])).toEqual([
      { line: 1, source: "get /a", words: ["get", "/a"] },
      { line: 3, source: "# b", words: ["#", "b"] },
      { line: 5, source: "ls /", words: ["ls", "/"] },
    ]);
  });

  test("does not care where the text is cut", async () => {
    const bytes = Buffer.from("get /é\r\nls /\rstat /\n");
    const whole = await statements([bytes]);
    expect(whole.map(({ source }) => source)).toEqual(["get /é", "ls /", "stat /"]);
    expect(await statements([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  });
});
