import { describe, expect, test } from "vitest";
import { lex, piecesOf } from "../../../src/shell/parsing/lexer.ts";
import { quoteWord } from "../../../src/text/quote-word.ts";

const words = (text: string) =>
  lex(text).statements.map((statement) => statement.words.map((word) => word.text));

describe("lex", () => {
  test.each([
    ["ls /", [["ls", "/"]]],
    ["  ls\t/  ", [["ls", "/"]]],
    ["set /p 'two  words'", [["set", "/p", "two  words"]]],
    [`set /p "it said \\"x\\""`, [["set", "/p", 'it said "x"']]],
    [`set /p 'back\\slash'`, [["set", "/p", "back\\slash"]]],
    [`set /p "tab\\tline\\nnul\\0"`, [["set", "/p", "tab\tline\nnul\0"]]],
    [`set /p pre"mid dle"post`, [["set", "/p", "premid dlepost"]]],
    [`set /p 'a'"b"c`, [["set", "/p", "abc"]]],
    [`set /p ""`, [["set", "/p", ""]]],
    [`set /p {"k":1}`, [["set", "/p", '{"k":1}']]],
    [`set /p ["a","b"]`, [["set", "/p", '["a","b"]']]],
    [`set /p {k:"v"}`, [["set", "/p", "{k:v}"]]],
    [
      "create /a x; get /a",
      [
        ["create", "/a", "x"],
        ["get", "/a"],
      ],
    ],
    [
      "get /a;get /b",
      [
        ["get", "/a"],
        ["get", "/b"],
      ],
    ],
    [
      "ls /\n\n# a comment\nget /a # and another\n",
      [
        ["ls", "/"],
        ["get", "/a"],
      ],
    ],
    ["set /p a#b", [["set", "/p", "a#b"]]],
    ["set /p '# ; not special'", [["set", "/p", "# ; not special"]]],
    ["set /p 'one\ntwo'", [["set", "/p", "one\ntwo"]]],
    [
      "reconfig -add 4=zk4:2888:3888;2181; config",
      [["reconfig", "-add", "4=zk4:2888:3888;2181"], ["config"]],
    ],
    [";;\n;", []],
    ["", []],
  ])("splits %j", (text, expected) => {
    expect(words(text)).toEqual(expected);
    expect(lex(text).unclosed).toBeUndefined();
  });

  test("tells where a quote was left open", () => {
    expect(lex(`ls /\nset /p "open`)).toMatchObject({
      unclosed: { quote: '"', line: 2, column: 8 },
    });
    expect(lex(`set /p 'it"s`)).toMatchObject({ unclosed: { quote: "'", line: 1, column: 8 } });
  });

  test("keeps the source, the line and the place of each word", () => {
    const [, second] = lex("ls /\n  get  '/a b' ; pwd").statements;
    expect(second).toMatchObject({ source: "get  '/a b'", line: 2 });
    expect(second?.words[1]).toEqual({
      text: "/a b",
      start: 12,
      end: 18,
      pieces: [{ text: "/a b", kind: "literal" }],
    });
  });

  test("reads a plain line as it reads any other", () => {
    const characters = [..."ab/-#;|$'\"\\ \t\r\n{}\u00a0\u2028"];
    let seed = 1;
    for (let round = 0; round < 20_000; round++) {
      let line = "";
      for (let length = round % 9; length > 0; length--) {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
        line += characters[(seed >> 8) % characters.length];
      }
      // Behind a blank nothing is plain.
      const { statements, unclosed } = lex(` ${line}`, { hasPipes: true });
      const moved = statements.map((statement) => ({
        ...statement,
        words: statement.words.map((word) => ({
          ...word,
          start: word.start - 1,
          end: word.end - 1,
        })),
      }));
      const found = lex(line, { hasPipes: true });
      expect([line, found.statements, found.unclosed?.line]).toEqual([line, moved, unclosed?.line]);
    }
  });

  test.each([
    ["get /a", [undefined, undefined]],
    [`get '$a'*"$b"`, [undefined, "literal $a, plain *, double $b"]],
    [`set "a\\$b\\"c"`, [undefined, 'double a, literal $, double b, literal ", double c']],
    [`set ""`, [undefined, "double "]],
    [`set {"a":"$b*"}`, [undefined, 'literal {"a":"$b*"}']],
    [`set {a:"$b*"}`, [undefined, "plain {a:, double $b*, plain }"]],
  ])("tells what the pieces of %s were written in", (line, expected) => {
    const found = lex(line).statements[0]?.words.map((word) =>
      word.pieces?.map(({ kind, text }) => `${kind} ${text}`).join(", "),
    );
    expect(found).toEqual(expected);
    for (const word of lex(line).statements[0]?.words ?? [])
      expect(
        piecesOf(word)
          .map(({ text }) => text)
          .join(""),
      ).toBe(word.text);
  });

  test("takes a | that begins a word for a pipe, and the rest for a shell command", () => {
    const lines: [string, ...[words: string, pipe?: string, source?: string][]][] = [
      ["ls / | head -1", ["ls /", "head -1"]],
      ["ls / |head -1 ; pwd", ["ls /", "head -1", "ls / |head -1"], ["pwd"]],
      ["ls '/a' | sort | uniq -c # why", ["ls /a", "sort | uniq -c", "ls '/a' | sort | uniq -c"]],
      ["ls /|head", ["ls /|head"]],
      ["set /a x| y|z", ["set /a x| y|z"]],
      ["set /a '|' \"| b\"", ["set /a | | b"]],
      ["| head", ["| head"]],
      ["ls / |", ["ls /", ""]],
      ["ls / | sed 's;a;b;'; pwd", ["ls /", "sed 's;a;b;'"], ["pwd"]],
      ['ls / | awk "{print \\"a;\\"}"; pwd', ["ls /", 'awk "{print \\"a;\\"}"'], ["pwd"]],
      ["ls / | sed s/\\'/\\;/ ; pwd", ["ls /", "sed s/\\'/\\;/"], ["pwd"]],
      ["ls / | (head; wc); pwd", ["ls /", "(head; wc)"], ["pwd"]],
      ["ls / | echo a#b c#\npwd", ["ls /", "echo a#b c#"], ["pwd"]],
      ["ls / | (a\npwd", ["ls /", "(a"], ["pwd"]],
      ["ls / | cat 'a\nb'\npwd", ["ls /", "cat 'a\nb'"], ["pwd"]],
    ];
    for (const [line, ...expected] of lines) {
      const { statements, unclosed } = lex(line, { hasPipes: true });
      expect(unclosed, line).toBeUndefined();
      const found = statements.map(({ words, pipe, source }, index) => {
        const told = [words.map(({ text }) => text).join(" "), pipe, source];
        return told.slice(0, expected[index]?.length);
      });
      expect(found, line).toEqual(expected);
      expect(statements[0]?.pipe, line).toBe(expected[0]?.[1]);
    }
  });

  test("tells of a quote that is left open behind a pipe", () => {
    expect(lex("ls /\nls / | sed 's/a", { hasPipes: true }).unclosed).toEqual({
      quote: "'",
      line: 2,
      column: 12,
    });
    expect(lex('ls / | sed "a\\"', { hasPipes: true }).unclosed).toEqual({
      quote: '"',
      line: 1,
      column: 12,
    });
  });

  test("knows no pipes where there are none", () => {
    const [statement] = lex("set /a | b").statements;
    expect(statement?.words.map(({ text }) => text)).toEqual(["set", "/a", "|", "b"]);
    expect(statement?.pipe).toBeUndefined();
  });

  test("counts lines from the one it is told", () => {
    const { statements, unclosed } = lex("get /a\n\nget '/b'\nset /c 'x", { firstLine: 10 });
    expect([...statements.map(({ line }) => line), unclosed?.line]).toEqual([10, 12, 13, 13]);
  });

  test("reads a long script in linear time", () => {
    const text = "get /a/b/c 'some data'\n".repeat(20_000);
    expect(lex(text).statements).toHaveLength(20_000);
  });
});

describe("quoteWord", () => {
  test.each([
    "/plain",
    "",
    "two words",
    "it's",
    'say "x"',
    "both ' and \"",
    "a;b",
    "#c",
    "back\\slash",
    "new\nline\ttab",
    "/it's $(id) `id`",
  ])("%j reads back as it is", (word) => {
    expect(words(quoteWord(word))).toEqual([[word]]);
  });

  test("leaves alone what needs no quotes", () => {
    expect(quoteWord("/a/b-1_ü")).toBe("/a/b-1_ü");
  });

  test.each([
    ["/$(id)", "'/$(id)'"],
    ["/a&b", "'/a&b'"],
    ["/it's `id` $x", '"/it\'s \\`id\\` \\$x"'],
  ])("%s stays one word in a Unix shell too", (word, quoted) => {
    expect(quoteWord(word)).toBe(quoted);
  });
});
