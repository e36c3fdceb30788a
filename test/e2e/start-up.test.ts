/** What the program loads before it answers: every package, file and kilobyte is time, at each of a thousand starts. */
import { cpSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const HOOK = join(import.meta.dirname, "fixtures/what-is-loaded.cjs");

/**
 * The code that a plain `get` reads, in bytes: the file main.cjs. The test fails when it has grown by more than a fifth. To raise
 * the figure, find out what came in (the inputs of dist/main.cjs in dist/meta.json) and whether every one-shot needs it.
 */
const PLAIN_GET_BYTES = 223_000;

/** Node's modules that cost a millisecond or so each, and that a plain `get` in a pipe has no use for. */
const COSTLY = [
  "assert",
  "child_process",
  "crypto",
  "dns",
  "dns/promises",
  "fs/promises",
  "http",
  "inspector",
  "module",
  "os",
  "perf_hooks",
  "readline",
  "readline/promises",
  "timers/promises",
  "tls",
  "tty",
  "worker_threads",
  "zlib",
];

interface Loaded {
  readonly builtins: readonly string[];
  /** Paths, those of compiled code included. */
  readonly files: readonly string[];
  /** By name: whether V8 took what the build had compiled. */
  readonly compiled: Readonly<Record<string, boolean>>;
}

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

let server: string;

beforeEach(async () => {
  server = await freshChroot();
});

async function loadedBy(...words: string[]) {
  const report = join(temporaryDirectory("loaded"), "loaded.json");
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(HOOK)}`, WHAT_IS_LOADED: report };
  const { code, stderr } = await runZksh(["-s", server, ...words], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const loaded: Loaded = JSON.parse(readFileSync(report, "utf8"));
  const files = loaded.files.filter((file) => !file.endsWith(".cache"));
  return { ...loaded, files, names: files.map((file) => basename(file)), packages: packagesOf(files) };
}

/** The packages whose code is in these files. */
function packagesOf(files: readonly string[]): string[] {
  const { outputs }: Metafile = JSON.parse(readFileSync(join(ROOT, "dist/meta.json"), "utf8"));
  const inputs = files.flatMap((file) => Object.keys(outputs[`dist/${basename(file)}`]?.inputs ?? { [file]: {} }));
  const names = inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

describe("a plain get in a pipe", () => {
  test("loads one file, and no package that it does without", async () => {
    const { names, packages } = await loadedBy("get", "/");
    expect(names).toEqual(["main.cjs"]);
    expect(packages).toEqual(["node-zookeeper-client"]);
  });

  test("loads none of node's costly modules", async () => {
    const { builtins } = await loadedBy("get", "/");
    expect(builtins).toContain("net");
    expect(builtins.filter((name) => COSTLY.includes(name))).toEqual([]);
  });

  test("reads hardly more code than it did", async () => {
    const { files } = await loadedBy("get", "/");
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThan(1.2 * PLAIN_GET_BYTES);
  });

  test("has nothing to compile", async () => {
    const { compiled, names } = await loadedBy("get", "/");
    expect(compiled).toEqual(Object.fromEntries(names.map((name) => [name, true])));
  });
});

describe("other one-shots", () => {
  test.each(["ls /", "ls -R /", "create /a b", "set / b", "stat /", "exists /"])("%s: the same file", async (line) => {
    const { names } = await loadedBy(...line.split(" "));
    expect(names).toEqual(["main.cjs"]);
  });

  test.each(["--json get /", "help get", "version", "sync /", "lock /a -- true"])(
    "%s: no package for terminals",
    async (line) => {
      const { names, packages } = await loadedBy(...line.split(" "));
      expect(names).toEqual(["main.cjs", "rest.cjs"]);
      expect(packages).toEqual(["commander", "node-zookeeper-client"]);
    },
  );

  test("load a package when they need it, and only that", async () => {
    const { names, packages } = await loadedBy("--color", "always", "get", "/");
    expect(names).toEqual(["main.cjs", "chalk.cjs"]);
    expect(packages).toContain("chalk");
  });
});

describe("what the build has compiled", () => {
  let copy: string;
  const program = () => join(copy, "bin/zksh.js");
  const cache = () => join(copy, "dist/main.cjs.cache");

  beforeAll(() => {
    copy = temporaryDirectory("copy");
    cpSync(join(ROOT, "package.json"), join(copy, "package.json"));
    cpSync(join(ROOT, "bin"), join(copy, "bin"), { recursive: true });
  });

  beforeEach(() => {
    rmSync(join(copy, "dist"), { recursive: true, force: true });
    cpSync(join(ROOT, "dist"), join(copy, "dist"), { recursive: true });
  });

  async function works(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { code, stdout, stderr } = await runZksh(["-s", server, "ls", "/"], { program: program(), env });
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  }

  function damage(change: (bytes: Buffer) => Buffer): void {
    const bytes = readFileSync(cache());
    writeFileSync(cache(), change(bytes));
  }

  test("does not tell where it was built", async () => {
    expect(readFileSync(cache()).includes(ROOT)).toBe(false);
    const { stderr } = await runZksh(["-s", server, "--debug", "get", "/nope"], { program: program() });
    expect(stderr).toMatch(/ at .*\(zksh\/dist\/main\.cjs:\d+:\d+\)/);
    expect(stderr).not.toContain(ROOT);
  });

  test("may be missing", async () => {
    rmSync(cache());
    await works();
  });

  test.each([0.05, 0.2, 0.3, 0.45, 0.7])("may be damaged at %f of its length", async (place) => {
    damage((bytes) => {
      const at = Math.floor(place * bytes.length);
      return bytes.fill(0xa5, at, at + 64);
    });
    await works();
  });

  test.each([
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["zeros", (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ["something else", () => Buffer.from("something elsesomething else")],
  ])("may be %s", async (_, change) => {
    damage(change);
    await works();
  });

  test("may be of another node, or for other flags", async () => {
    await works({ NODE_OPTIONS: "--stack-trace-limit=20 --max-old-space-size=100" });
    await works({ NODE_OPTIONS: "--enable-source-maps" });
    await works({ NODE_OPTIONS: "--interpreted-frames-native-stack" });
  });

  test("is found through a link, whose name still counts", async () => {
    const link = join(copy, "zkCli.sh");
    symlinkSync(program(), link);
    const { stdout } = await runZksh(["-server", server, "ls", "/"], { program: link });
    expect(stdout.toString()).toBe("[]\n");
  });
});
