import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { findCommand } from "../src/commands/command.ts";
import { commands } from "../src/commands/index.ts";
import { longName } from "../src/commands/usage.ts";
import { globalOptions } from "../src/global-options.ts";

const root = join(import.meta.dirname, "..");
const src = join(root, "src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
  .map((name) => ({ name, source: readFileSync(join(src, name), "utf8") }));

/** What each layer may import besides itself. Everybody may import what is in `COMMON`. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  main: ["config", "shell", "commands", "render", "io", "session", "session/zookeeper", "embedded"],
  index: ["recipes/locks", "session", "session/zookeeper", "embedded"],
  config: ["session", "render"],
  shell: ["config", "commands", "recipes/locks", "render", "io", "session"],
  commands: ["commands/under-lock", "recipes", "recipes/locks", "session"],
  "commands/under-lock": ["commands", "recipes/locks", "session"],
  recipes: ["session"],
  "recipes/locks": ["recipes", "session"],
  render: ["recipes/locks", "session"],
  io: [],
  session: [],
  "session/zookeeper": ["session", "wire"],
  embedded: ["wire"],
  wire: [],
};
const COMMON = ["errors", "escape", "shorten", "size", "result", "results", "duration", "timer", "child"];
/** Files at the top that are part of a layer. */
const PART_OF: Readonly<Record<string, string>> = {
  "client-properties": "config",
  "global-options": "config",
  "java-properties": "config",
  services: "main",
  settings: "config",
  warnings: "config",
};

const PACKAGES: Readonly<Record<string, (file: string) => boolean>> = {
  commander: (file) => file === "shell/parser.ts",
  chalk: (file) => file.startsWith("render/"),
  inquirer: (file) => file.startsWith("io/"),
  ora: (file) => file.startsWith("io/"),
  "node-zookeeper-client": (file) => file.startsWith("session/zookeeper/"),
};

/** Files have the command's name in kebab-case: `getAcl` is in get-acl.ts. */
function fileName(command: string): string {
  return command.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function layerOf(file: string): string {
  const folder = dirname(file);
  if (folder !== ".") return folder;
  const name = file.replace(/\.ts$/, "");
  return PART_OF[name] ?? name;
}

function importsOf(source: string): string[] {
  return [...source.matchAll(/(?:\bfrom|\bimport\(|^import)\s*"([^"]+)"/gm)].map(([, path = ""]) => path);
}

describe("imports", () => {
  test("are found at all", () => {
    expect(importsOf('import { a } from "./a.ts";\nimport "b";\nawait import("c");\nexport * from "d";')).toEqual([
      "./a.ts",
      "b",
      "c",
      "d",
    ]);
    expect(files.length).toBeGreaterThan(40);
  });

  test.each(files)("of $name point downward", ({ name, source }) => {
    const own = layerOf(name);
    const allowed = COMMON.includes(own)
      ? COMMON.concat("session", "recipes/locks")
      : [own, ...COMMON, ...(LAYERS[own] ?? [])];
    const targets = importsOf(source)
      .filter((path) => path.startsWith("."))
      .map((path) => layerOf(relative(src, join(src, dirname(name), path))));
    expect(targets.filter((target) => !allowed.includes(target))).toEqual([]);
  });

  test.each(files)("of $name leave packages to their one importer", ({ name, source }) => {
    const packages = importsOf(source)
      .filter((path) => !path.startsWith(".") && !path.startsWith("node:"))
      .map((path) => path.split("/")[0] ?? path);
    expect(packages.filter((used) => !PACKAGES[used]?.(name))).toEqual([]);
  });
});

describe("source", () => {
  test.each(files)("$name keeps no state of its own", ({ source }) => {
    expect(source.match(/^(export )?(let|var) .*/gm) ?? []).toEqual([]);
  });

  test.each(files)("$name leaves the process to main and io", ({ name, source }) => {
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    // A program of its own.
    if (name === "io/watchdog.ts") return;
    if (name !== "io/process-io.ts" && name !== "io/standard-outputs.ts")
      expect(code.match(/process\.(std\w+|env)\b/g) ?? []).toEqual([]);
    if (!["main.ts", "services.ts", "io/signals.ts"].includes(name))
      expect(code.match(/process\.(exit\w*|argv|on|once)\b/g) ?? []).toEqual([]);
  });

  // The registry is one line a command, whatever the formatter makes of it.
  test.each(files.filter(({ name }) => name.startsWith("commands/") && name !== "commands/index.ts"))(
    "$name has at most 150 lines",
    ({ name, source }) => {
      const limit = commands.some((entry) => `commands/${fileName(entry.name)}.ts` === name) ? 100 : 150;
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

  test.each(commands)("$name has a summary, examples and a test", async ({ name, summary, load }) => {
    const { examples } = await load();
    expect(summary).toMatch(/^[a-z].*[^.]$/);
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter((example) => example.split(" ")[0] !== name)).toEqual([]);
    const tests = [name, fileName(name)].map((file) => join(root, `test/commands/${file}.test.ts`));
    expect(tests.some((file) => existsSync(file))).toBe(true);
  });

  test.each(commands)("$name leaves global options alone", async ({ load }) => {
    const own = Object.keys((await load()).options).map(longName);
    const globals = globalOptions.filter((option) => !("long" in option)).map(({ name }) => `--${name}`);
    expect(own.filter((option) => globals.includes(option as (typeof globals)[number]))).toEqual([]);
  });
});
