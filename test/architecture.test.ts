import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { findCommand } from "../src/commands/command.ts";
import { commands } from "../src/commands/index.ts";
import { longName } from "../src/commands/usage.ts";
import { globalOptions } from "../src/config/global-options.ts";

const root = join(import.meta.dirname, "..");
const src = join(root, "src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
  .map((name) => ({ name, source: readFileSync(join(src, name), "utf8") }));

/** What each room may import besides itself. Every room may import what is in `COMMON`. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  main: [
    "config",
    "shell",
    "commands",
    "render",
    "io",
    "processes",
    "session",
    "session/zookeeper",
    "embedded",
  ],
  index: ["recipes", "session", "session/zookeeper", "embedded"],
  config: ["session", "render"],
  shell: ["config", "commands", "recipes", "render", "io", "session"],
  commands: ["recipes", "session"],
  recipes: ["session"],
  render: ["recipes", "session"],
  io: ["processes"],
  processes: [],
  session: [],
  "session/zookeeper": ["session", "wire"],
  embedded: ["wire"],
  wire: [],
};
/** Rooms without knowledge of the rest; results name types of the session and of recipes. */
const COMMON = ["errors", "exit-codes", "text", "async", "results"];
/** Files of types alone, which all may import: what commands ask of processes and files. */
const TYPES_FOR_ALL = ["processes/child-requests.ts", "io/files.ts"];
/** Files at the top that are part of a room. */
const PART_OF: Readonly<Record<string, string>> = { services: "main", program: "main" };

/** Programs of their own, never imported. */
const PROGRAMS = ["processes/watchdog.ts", "session/zookeeper/sasl/gssapi/gssapi-program.ts"];

const PACKAGES: Readonly<Record<string, (file: string) => boolean>> = {
  commander: (file) => file === "shell/parsing/parser.ts",
  chalk: (file) => file.startsWith("render/"),
  "get-east-asian-width": (file) => file === "render/display-width.ts",
  inquirer: (file) => file.startsWith("io/"),
  ora: (file) => file.startsWith("io/"),
  koffi: (file) => file === "session/zookeeper/sasl/gssapi/gss-calls.ts",
  "node-zookeeper-client": (file) => file === "session/zookeeper/node-zookeeper-client-adapter.ts",
};

/** Files have the command's name in kebab-case: `getAcl` is in get-acl.ts. */
function fileName(command: string): string {
  return command.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The first folder of a path is the room; what happens in its own folders is its own business. */
function roomOf(file: string): string {
  if (file.startsWith("session/zookeeper/")) return "session/zookeeper";
  const [room = ""] = file.replace(/\.ts$/, "").split("/");
  return PART_OF[room] ?? room;
}

/** The lines that declare something that can change at module level. */
function stateOf(source: string): string[] {
  const declared = source.match(/^(export )?(let|var|const) [\s\S]*?;$/gm) ?? [];
  return declared.filter((statement) => {
    if (!/^(export )?const /.test(statement)) return true;
    const [, type = "", value = ""] = /^[^=:]*(:[^=]*)?=(?!>)\s*([\s\S]*)$/.exec(statement) ?? [];
    const isReadonly = /^:\s*[Rr]eadonly/.test(type) || /as const\b/.test(statement);
    return /^(new |\[|\{\})/.test(value) && !isReadonly;
  });
}

function importsOf(source: string): string[] {
  return [...source.matchAll(/(?:\bfrom|\bimport\(|^import)\s*"([^"]+)"/gm)].map(
    ([, path = ""]) => path,
  );
}

describe("imports", () => {
  test("are found at all", () => {
    expect(
      importsOf('import { a } from "./a.ts";\nimport "b";\nawait import("c");\nexport * from "d";'),
    ).toEqual(["./a.ts", "b", "c", "d"]);
    expect(files.length).toBeGreaterThan(40);
  });

  test.each(files)("of $name point downward", ({ name, source }) => {
    const own = roomOf(name);
    const allowed = COMMON.includes(own)
      ? COMMON.concat("session", "recipes", "processes")
      : [own, ...COMMON, ...(ROOMS[own] ?? [])];
    const targets = importsOf(source)
      .filter((path) => path.startsWith("."))
      .map((path) => relative(src, join(src, dirname(name), path)))
      .filter((target) => !TYPES_FOR_ALL.includes(target))
      .map(roomOf);
    expect(targets.filter((target) => !allowed.includes(target))).toEqual([]);
  });

  test.each(files)("of $name leave packages to their one importer", ({ name, source }) => {
    const packages = importsOf(source)
      .filter((path) => !path.startsWith(".") && !path.startsWith("node:"))
      .map((path) => path.split("/")[0] ?? path);
    expect(packages.filter((used) => !PACKAGES[used]?.(name))).toEqual([]);
  });
});

describe("the library", () => {
  const loaded = new Set<string>();
  const load = (name: string) => {
    const file = files.find((each) => each.name === name);
    if (file === undefined || loaded.has(name)) return;
    loaded.add(name);
    for (const path of importsOf(file.source))
      if (path.startsWith(".")) load(relative(src, join(src, dirname(name), path)));
  };
  load("index.ts");
  const library = files.filter(({ name }) => loaded.has(name));

  test("is found at all", () => {
    expect(library.length).toBeGreaterThan(80);
  });

  test("names no environment variable and no exit code of the command line", () => {
    const naming = library.filter(({ source }) => /ZKSH_|exit[- ]?code/i.test(source));
    expect(naming.map(({ name }) => name)).toEqual([]);
  });

  test("names no option of the command line", () => {
    const naming = library.filter(({ source }) => / --[a-z]/.test(source));
    expect(naming.map(({ name }) => name)).toEqual([]);
  });
});

describe("source", () => {
  // A Map, an array or an object of a class at module level is state too, unless its type is
  // readonly.
  test.each(files)("$name keeps no state of its own", ({ name, source }) => {
    if (PROGRAMS.includes(name)) return;
    expect(stateOf(source)).toEqual([]);
  });

  test("state at module level is found", () => {
    const state = [
      "let count = 0;",
      "export const seen = new Map<string, number>();",
      "const list: string[] = [];",
      "const cache = {};",
      'const names = ["a"];',
      "const registry = new Registry();",
    ];
    const constants = [
      "const names: readonly string[] = [1];",
      "const codes: ReadonlySet<number> = new Set([1]);",
      "const all = [1, 2] as const;",
      "const table: Readonly<Record<string, number>> = { a: 1 };",
      "  const inside = new Map();",
    ];
    expect(stateOf([...state, ...constants].join("\n"))).toEqual(state);
  });

  test.each(files)("$name leaves the process to main and io", ({ name, source }) => {
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    if (PROGRAMS.includes(name)) return;
    if (name !== "io/process-io.ts" && name !== "io/standard-outputs.ts")
      expect(code.match(/process\.(std\w+|env)\b/g) ?? []).toEqual([]);
    if (!["main.ts", "services.ts", "processes/signals.ts"].includes(name))
      expect(code.match(/process\.(exit\w*|argv|on|once)\b/g) ?? []).toEqual([]);
  });

  test.each(files.filter(({ name }) => name.startsWith("commands/")))(
    "$name fits a head",
    ({ name, source }) => {
      const limit = commands.some((entry) => `commands/${fileName(entry.name)}.ts` === name)
        ? 135
        : 180;
      expect(source.split("\n").length - 1).toBeLessThanOrEqual(limit);
    },
  );
});

describe("commands", () => {
  test("have names and aliases of their own", () => {
    const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names).toEqual([...new Set(names)]);
    expect(names.map((name) => findCommand(commands, name)?.name)).not.toContain(undefined);
  });

  test.each(commands)(
    "$name has a summary, examples and a test",
    async ({ name, summary, load }) => {
      const { examples } = await load();
      expect(summary).toMatch(/^[a-z].*[^.]$/);
      expect(examples.length).toBeGreaterThan(0);
      expect(examples.filter((example) => example.split(" ")[0] !== name)).toEqual([]);
      const tests = ["", ".embedded", ".integration"].map((needs) =>
        join(root, `test/commands/${fileName(name)}${needs}.test.ts`),
      );
      expect(tests.some((file) => existsSync(file))).toBe(true);
    },
  );

  test.each(commands)("$name leaves global options alone", async ({ load }) => {
    const own = Object.keys((await load()).options).map(longName);
    const globals = globalOptions
      .filter((option) => !("long" in option))
      .map(({ name }) => `--${name}`);
    expect(own.filter((option) => globals.includes(option as (typeof globals)[number]))).toEqual(
      [],
    );
  });
});

describe("tests", () => {
  /** What a test file may import, directly or through helpers, by what its name says it needs. */
  const REAL = ["zookeeper-server", "shared-server", "java", "terminal", "certificates"];
  const LOCAL = ["fake-server", "fault-proxy", "zksh-process", "free-port", "four-letter-word"];
  const real = REAL.map((name) => join(root, `test/support/${name}.ts`));
  const local = LOCAL.map((name) => join(root, `test/support/${name}.ts`)).concat(
    join(src, "embedded/server.ts"),
  );

  /** The file and what it loads: helpers with what they load in turn, source files alone. */
  function loadedBy(file: string, seen: Set<string> = new Set()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    if (!file.startsWith(join(root, "test")) || !existsSync(file)) return seen;
    const source = readFileSync(file, "utf8").replace(/^import type .*$/gm, "");
    for (const path of importsOf(source))
      if (path.startsWith(".")) loadedBy(join(dirname(file), path), seen);
    return seen;
  }

  const testFiles = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".test.ts") && !name.startsWith("defects/"),
  );

  test.each(testFiles)("%s loads only what its name allows", (name) => {
    const needs = /\.(embedded|integration|contract)\.test\.ts$/.exec(name)?.[1];
    const forbidden = needs === undefined ? [...real, ...local] : needs === "embedded" ? real : [];
    const loaded = loadedBy(join(root, "test", name));
    expect(forbidden.filter((file) => loaded.has(file))).toEqual([]);
  });
});
