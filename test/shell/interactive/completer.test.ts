import { describe, expect, test } from "vitest";
import { commands } from "../../../src/commands/index.ts";
import type { CachedChildren } from "../../../src/shell/interactive/children-cache.ts";
import { complete, MAX_SHOWN } from "../../../src/shell/interactive/completer.ts";
import { lex } from "../../../src/shell/parsing/lexer.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const tree: Readonly<Record<string, CachedChildren>> = {
  "/": { names: ["apple", "apricot", "Berry", "one", "zookeeper"] },
  "/apple": { names: ["two ways", "two words", "it's"] },
  "/one": { names: ["only"] },
  "/evil": {
    names: ["osc\u001b]52;c;x\u0007\n'", 'zero\u200b"', "back\\slash", "tag\u{e0041}", "😀", "😁"],
  },
  "/one/only": { names: [] },
  "/dashes": { names: ["--yes"] },
  "/many": { names: Array.from({ length: 300_000 }, (_, i) => `node-${i}`) },
  "/huge": { tooMany: 312_763 },
};

const at = (text: string, cwd = "/") =>
  complete(text, { commands, cwd, list: async (parent) => tree[parent] ?? {} });

describe("complete", () => {
  test.each([
    ["a command", "exis", "exists "],
    ["an alias, among others", "exi", "exi"],
    ["an alias alone", "exit", "exit "],
    ["a command after another", "ls /; prin", "ls /; printwatches "],
    ["an option", "create --seq", "create --sequential "],
    ["a path", "ls /o", "ls /one"],
    ["a path that is complete, to what is below", "ls /one", "ls /one/"],
    ["a path that has nothing below", "ls /one/only", "ls /one/only"],
    ["as far as it is clear", "get /a", "get /ap"],
    ["letters of another size", "get /b", "get /Berry"],
    ["the middle of a name", "get /keep", "get /zookeeper"],
    ["a name that needs quotes", "get /apple/t", "get '/apple/two w'"],
    ["inside a quote", "get '/apple/two wo", "get '/apple/two words'"],
    ["after a closed quote", "get '/apple/two wo'r", "get '/apple/two words'"],
    ["a quote in a name", "get /apple/i", 'get "/apple/it\'s"'],
    ["two slashes as one", "ls //one//", "ls /one/only"],
    ["the argument of help", "help exis", "help exists"],
    ["a word out of a few", "wait-for /one ex", "wait-for /one exists"],
    ["one behind an option's value", "wait-for -w 5s /one g", "wait-for -w 5s /one gone"],
    ["a permission", "can ad", "can admin"],
    ["a four-letter word", "word mn", "word mntr"],
    ["an option's value out of a few", "get --view pro", "get --view protobuf"],
    ["nothing for an option's value", "set -v /o", "set -v /o"],
    ["nothing for data", "set /one appl", "set /one appl"],
    ["nothing in a comment", "ls / # /o", "ls / # /o"],
    ["a line whose result is kept", "n = get /o", "n = get /one"],
    ["the command of such a line", "n = exis", "n = exists "],
    ["a line behind one that is piped", "ls / | cat; get /o", "ls / | cat; get /one"],
    ["nothing in a command of the system shell", "ls / | get /o", "ls / | get /o"],
    ["nothing behind a glob", "ls /*/on", "ls /*/on"],
    ["nothing for an unknown command", "nope /o", "nope /o"],
    ["nothing where nobody answers", "ls /gone/x", "ls /gone/x"],
  ])("completes %s", async (_name, text, wanted) => {
    expect((await at(text)).text).toBe(wanted);
  });

  test("completes the names of the settings file, beside those of commands", async () => {
    const sources = { commands, aliases: ["treeall", "lsx"], cwd: "/", list: async () => ({}) };
    expect((await complete("treea", sources)).text).toBe("treeall ");
    expect((await complete("ls", sources)).shown).toContain("lsx");
  });

  test.each([
    ["ls /evil/osc", "osc\u001b]52;c;x\u0007\n'"],
    ["ls /evil/zero", 'zero\u200b"'],
    ["ls /evil/back", "back\\slash"],
    ["ls /evil/tag", "tag\u{e0041}"],
  ])(
    "%s puts a name into the line that is safe to show and read back as it is",
    async (text, name) => {
      const { text: line } = await at(text);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(lex(line).statements[0]?.words[1]?.text).toBe(`/evil/${name}`);
    },
  );

  test("a name that looks like an option stays a path", async () => {
    expect((await at("deleteall ", "/dashes")).text).toBe("deleteall ./--yes");
    expect((await at("deleteall ./", "/dashes")).text).toBe("deleteall ./--yes");
    expect((await at("deleteall --y", "/dashes")).text).toBe("deleteall --yes ");
  });

  test("never puts half a character into the line", async () => {
    const list = async () => ({ names: ["😀", "😁"] });
    expect((await complete("ls /", { commands, cwd: "/", list })).text).toBe("ls /");
  });

  test.each([
    ["ls o", "/", "ls one"],
    ["ls ../o", "/apple", "ls ../one"],
    ["ls on", "/one", "ls only"],
    ["ls ", "/one", "ls only"],
  ])("a relative path: %s in %s", async (text, cwd, wanted) => {
    expect((await at(text, cwd)).text).toBe(wanted);
  });

  test("shows what there is, names only", async () => {
    expect(await at("get /ap")).toEqual({ text: "get /ap", shown: ["apple", "apricot"] });
  });

  test("shows 200 of 300,000, soon", async () => {
    const startedAt = cpuMs();
    const { text, shown, note } = await at("get /many/node-1");
    expect([text, shown.length, note]).toEqual([
      "get /many/node-1",
      MAX_SHOWN,
      "… 110,911 more, type on to see fewer",
    ]);
    expect(cpuMs() - startedAt).toBeLessThan(5_000);
  });

  test("asks before it loads very many", async () => {
    expect(await at("ls /huge/")).toEqual({
      text: "ls /huge/",
      shown: [],
      note: "312,763 children: TAB again lists them",
    });
  });
});
