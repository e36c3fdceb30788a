import { describe, expect, test } from "vitest";
import { commands } from "../../../src/commands/index.ts";
import { lex } from "../../../src/shell/parsing/lexer.ts";
import { readLine } from "../../../src/shell/parsing/line-words.ts";
import { parse } from "../../../src/shell/parsing/parser.ts";
import { Variables } from "../../../src/shell/variables.ts";

const variables = new Variables();
for (const [name, value] of Object.entries({
  n: "/q/x-0000000001",
  two: "two words",
  star: "*",
  flag: "--yes",
  dash: "-",
  file: "@/etc/passwd",
  pipe: "a | b; c",
  empty: "",
  all_9: "v",
}))
  variables.set(name, value);
variables.exitCode = 3;
variables.lastWord = "/last";

function read(text: string) {
  const [statement] = lex(text, { hasPipes: true }).statements;
  if (!statement) throw new Error("no statement");
  return readLine(statement, variables);
}

/** The words of a line with its variables replaced. */
function words(text: string): string[] {
  const { words, marks } = read(text);
  return words.map((word) => marks?.get(word)?.text ?? word);
}

async function args(text: string) {
  const { words, marks } = read(text);
  return (await parse(words, { commands, cwd: "/", marks })).args;
}

describe("variables in words", () => {
  test.each([
    ["get $n", ["get", "/q/x-0000000001"]],
    [`get \${n}`, ["get", "/q/x-0000000001"]],
    [`get /a/\${n}b$all_9/c`, ["get", "/a//q/x-0000000001bv/c"]],
    [`set /p "it is $two."`, ["set", "/p", "it is two words."]],
    ["set /p $two", ["set", "/p", "two words"]],
    ["set /p $empty", ["set", "/p", ""]],
    [`set /p '$n'`, ["set", "/p", "$n"]],
    [`set /p "\\$n"`, ["set", "/p", "$n"]],
    [`set /p {"k":"$n"}`, ["set", "/p", '{"k":"$n"}']],
    ["set /p $pipe", ["set", "/p", "a | b; c"]],
    ["set /p $?$_", ["set", "/p", "3/last"]],
    ["set /p cost:$5$", ["set", "/p", "cost:$5$"]],
    ["set /p $", ["set", "/p", "$"]],
    ["get -s $n", ["get", "-s", "/q/x-0000000001"]],
    ["find / --name=$star", ["find", "/", "--name=*"]],
    ["lock /x -- echo -$flag $flag", ["lock", "/x", "--", "echo", "---yes", "--yes"]],
  ])("are replaced in: %s", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test("a value is never an option, stdin, a file or a flag of the program", async () => {
    for (const [name, text] of [
      ["flag", "--yes"],
      ["dash", "-"],
      ["file", "@/etc/passwd"],
    ])
      expect(await args(`set /p $${name}`)).toMatchObject({ data: Buffer.from(text ?? "") });
  });

  test("a file that the line names by @ may have its name from a variable", async () => {
    expect((await args("set /p @$n")).data).toHaveProperty("read");
  });

  test.each([
    ["get $none", /the variable none has no value \(character 5 of the line\)/],
    [`set /p "x$none"`, /the variable none has no value \(character 10 of the line\)/],
    [`get \${none}`, /the variable none has no value/],
    [`get \${n`, /\$\{ without a name and \} at character 5/],
    [`get \${a-b}`, /\$\{ without a name/],
    ["get -$flag /a", /the name of an option cannot come from a variable: -\$flag/],
    ["get --$flag /a", /the name of an option/],
    ["$n /a", /a variable cannot be the command of a line/],
    ["--json $n /a", /a variable cannot be the command of a line/],
    ["x =", /there is no line after x =/],
    ["_ = pwd", /\$_ is set by zksh/],
  ])("%s is refused", (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe("NAME = LINE", () => {
  test.each([
    ["n = get /a", "n", ["get", "/a"]],
    ["_x9  =  ls /", "_x9", ["ls", "/"]],
    ["n = ls / | wc -l", "n", ["ls", "/"]],
    ["ls = get /a", "ls", ["get", "/a"]],
  ])("%s keeps a result", (text, name, expected) => {
    expect(read(text)).toMatchObject({ name, words: expected });
  });

  test.each(["set /p a=b", "create /x = y", "n=get /a", "'n' = get /a", "n '=' get /a", "9 = pwd"])(
    "%s is no assignment",
    (text) => {
      expect(read(text).name).toBeUndefined();
    },
  );
});
