import { describe, expect, test } from "vitest";
import { commands } from "../../../src/commands/index.ts";
import { parse } from "../../../src/shell/parsing/parser.ts";

function parseLine(line: string) {
  return parse(line.split(" "), { commands, cwd: "/", dialect: "zkcli" });
}

describe("options", () => {
  test.each([
    ["set -v 5 /p x"],
    ["set -v5 /p x"],
    ["set -v=5 /p x"],
    ["set /p -v 5 x"],
    ["set /p x -v 5"],
    ["set --version 5 /p x"],
    ["set --version=5 /p x"],
    ["set -v 5 -v 6 /p x"],
    ["set -v 5 -- /p x"],
  ])("%s has version 5", async (line) => {
    const { args, options } = await parseLine(line);
    expect([args.path, args.data, options.version]).toEqual(["/p", Buffer.from("x"), 5]);
  });

  test.each([
    ["create -s -e /p", { sequential: true, ephemeral: true }],
    ["create -es /p", { sequential: true, ephemeral: true }],
    ["create -et5 /p", { ephemeral: true, ttl: 5 }],
    ["create /p", { sequential: false, ephemeral: false, ttl: undefined }],
  ])("are read from: %s", async (line, options) => {
    expect((await parseLine(line)).options).toMatchObject(options);
  });

  test.each([
    ["get -z /p", "UnrecognizedOptionException: Unrecognized option: -z"],
    ["get -sz /p", "UnrecognizedOptionException: Unrecognized option: -sz"],
    ["get -s=1 /p", "UnrecognizedOptionException: Unrecognized option: -s=1"],
    ["get --nope /p", "UnrecognizedOptionException: Unrecognized option: --nope"],
    ["set /p -5", "UnrecognizedOptionException: Unrecognized option: -5"],
    ["set /p x -v", "MissingArgumentException: Missing argument for option: v"],
    ["set -v -s /p x", "MissingArgumentException: Missing argument for option: v"],
    [
      "delquota -n -b /p",
      "AlreadySelectedException: The option 'b' was specified but an option from this group has already been selected: 'n'",
    ],
    [
      "setquota /p",
      "MissingOptionException: Missing required option: " +
        "[-n num soft quota, -b bytes soft quota, -N num hard quota, -B bytes hard quota]",
    ],
  ])("%s is refused in Commons CLI's words", async (line, text) => {
    await expect(parseLine(line)).rejects.toMatchObject({
      message: `org.apache.commons.cli.${text}`,
    });
  });

  test("an option's value may look like a negative number or an unknown option", async () => {
    expect((await parseLine("delete -v -1 /p")).options.version).toBe(-1);
    await expect(parseLine("delete -v -x /p")).rejects.toThrow("bad version '-x'");
  });

  test("commands that zkCli gives no options take such words as they are", async () => {
    expect((await parseLine("printwatches -z")).args.onOrOff).toBe("-z");
  });
});

describe("words", () => {
  test.each(["get", "get -s", "set /p", "ls", "addWatch /a /b", "version x", "setquota -n 5"])(
    "too few or too many are refused: %s",
    async (line) => {
      await expect(parseLine(line)).rejects.toMatchObject({
        reason: "missing-argument",
        name: "UsageError",
      });
    },
  );

  test.each(["set /p two words", "set /p two words 5"])("%s: the rest is ignored", async (line) => {
    expect((await parseLine(line)).args).toEqual({
      path: "/p",
      data: Buffer.from("two"),
      version: undefined,
    });
  });

  test("a number behind the data is a version", async () => {
    expect((await parseLine("set /p x 5 more")).args.version).toBe(5);
  });

  test.each(["-", "@file", "@@x"])("data is text: %s", async (data) => {
    expect((await parseLine(`set /p ${data}`)).args.data).toEqual(Buffer.from(data));
  });

  test("paths are absolute, until a cd", async () => {
    await expect(parseLine("get p")).rejects.toThrow("Path must start with / character");
    const { args } = await parse(["get", "p"], { commands, cwd: "/w", dialect: "zkcli" });
    expect(args.path).toEqual(["/w/p"]);
  });

  test("an unknown command is a usage error", async () => {
    await expect(parseLine("Get /p")).rejects.toMatchObject({
      reason: "unknown-command",
      name: "UsageError",
    });
  });
});
