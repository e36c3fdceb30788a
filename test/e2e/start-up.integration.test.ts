/** What the program loads before it answers, and how it keeps compiled code between runs. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const HOOK = join(import.meta.dirname, "fixtures/what-is-loaded.cjs");

/**
 * Node's modules that take half a millisecond to twelve each, and that a plain `get` does not use.
 */
const COSTLY = [
  "child_process",
  "crypto",
  "dns",
  "dns/promises",
  "fs/promises",
  "http",
  "inspector",
  "perf_hooks",
  "readline",
  "readline/promises",
  "tls",
  "worker_threads",
];

interface Loaded {
  readonly builtins: readonly string[];
  /** Names of files in dist/, other than main.cjs where that comes from the cache. */
  readonly files: readonly string[];
  readonly isFromCache: boolean;
}

let server: string;
let home: string;

beforeEach(async () => {
  server = await freshChroot();
  home = temporaryDirectory("home");
});

interface RunOptions {
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function loadedBy(
  words: readonly string[],
  { program, env }: RunOptions = {},
): Promise<Loaded> {
  const report = join(temporaryDirectory("loaded"), "loaded.json");
  const { code, stderr } = await runZksh(["-s", server, ...words], {
    env: {
      HOME: home,
      NODE_OPTIONS: `--require ${JSON.stringify(HOOK)}`,
      WHAT_IS_LOADED: report,
      ...env,
    },
    ...(program !== undefined && { program }),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(readFileSync(report, "utf8"));
}

const packagesOf = ({ files }: Loaded) => files.filter((name) => name !== "main.cjs");

describe("a plain get in a pipe", () => {
  test("loads no package for terminals and not commander", async () => {
    expect(packagesOf(await loadedBy(["get", "/"]))).toEqual([]);
  });

  test("loads none of Node's costly modules", async () => {
    const { builtins } = await loadedBy(["get", "/"]);
    expect(builtins).toContain("net");
    expect(builtins.filter((name) => COSTLY.includes(name))).toEqual([]);
  });
});

describe("other one-shots", () => {
  test.each(["ls /", "ls -R /", "create /a b", "set / b", "stat /", "exists /"])(
    "%s loads no package",
    async (line) => {
      const loaded = await loadedBy(line.split(" "));
      expect(packagesOf(loaded)).toEqual([]);
      expect(loaded.builtins.filter((name) => COSTLY.includes(name))).toEqual([]);
    },
  );

  test.each(["--json get /", "help get", "version", "sync /", "lock /a -- true"])(
    "%s loads no package for terminals",
    async (line) => {
      const terminal = ["chalk.cjs", "inquirer.cjs", "ora.cjs"];
      const packages = packagesOf(await loadedBy(line.split(" ")));
      expect(packages.filter((name) => terminal.includes(name))).toEqual([]);
    },
  );

  test("colour loads chalk and nothing else", async () => {
    expect(packagesOf(await loadedBy(["--color", "always", "get", "/"]))).toEqual(["chalk.cjs"]);
  });
});

describe("compiled code", () => {
  const folder = () => join(home, ".cache/zksh");
  const key = `${process.version}-${process.arch}-`;

  /** The file that keeps the code of main.cjs: Node's own cache is a folder. */
  function cacheFiles(where = folder()): string[] {
    const entries = readdirSync(where, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(where, name));
  }

  async function isTaken(options?: RunOptions): Promise<boolean> {
    return (await loadedBy(["ls", "/"], options)).isFromCache;
  }

  /** A cache as the first run makes it. */
  async function filledCache(): Promise<string> {
    expect(await isTaken()).toBe(false);
    const [file = ""] = cacheFiles();
    return file;
  }

  test("is stored by the first run and taken by the next", async () => {
    await filledCache();
    expect(await isTaken()).toBe(true);
    expect(cacheFiles()).toHaveLength(1);
  });

  test("is kept by Node's version, architecture and the content of the program", async () => {
    expect(await filledCache()).toContain(join(folder(), key));
    const copy = copyOfProgram();
    appendFileSync(join(copy, "dist/main.cjs"), "//");
    expect(await isTaken({ program: join(copy, "bin/zksh.js") })).toBe(false);
    expect(cacheFiles()).toHaveLength(2);
    expect(await isTaken()).toBe(true);
  });

  test("belongs to one user alone", async () => {
    const file = await filledCache();
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is stored in XDG_CACHE_HOME where that is set", async () => {
    const XDG_CACHE_HOME = temporaryDirectory("cache");
    await isTaken({ env: { XDG_CACHE_HOME } });
    expect(cacheFiles(join(XDG_CACHE_HOME, "zksh"))).toHaveLength(1);
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([0.01, 0.2, 0.5, 0.7, 0.99])(
    "that is damaged at %f of its length is replaced",
    async (place) => {
      const file = await filledCache();
      const bytes = readFileSync(file);
      const at = Math.floor(place * bytes.length);
      writeFileSync(file, bytes.fill(0xa5, at, at + 64));
      expect(await isTaken()).toBe(false);
      expect(await isTaken()).toBe(true);
    },
  );

  test.each([
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["zeros", (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ["something else", () => Buffer.from("something else")],
  ])("that is %s is replaced", async (_, change) => {
    const file = await filledCache();
    writeFileSync(file, change(readFileSync(file)));
    expect(await isTaken()).toBe(false);
    expect(await isTaken()).toBe(true);
  });

  test.each([
    ["other users may write to", () => chmodSync(folder(), 0o777)],
    ["other users may read", () => chmodSync(folder(), 0o755)],
  ])("in a folder that %s is ignored", async (_, change) => {
    await filledCache();
    change();
    expect(await isTaken()).toBe(false);
  });

  // Only root can give a folder away.
  test.runIf(process.getuid?.() === 0)("in a folder of another user is ignored", async () => {
    await filledCache();
    chownSync(folder(), 65_534, 65_534);
    expect(await isTaken()).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)("is not stored in the home of another user", async () => {
    chownSync(home, 65_534, 65_534);
    expect(await isTaken()).toBe(false);
    expect(readdirSync(home)).toEqual([]);
  });

  test("behind a link is ignored", async () => {
    const elsewhere = temporaryDirectory("elsewhere");
    mkdirSync(join(home, ".cache"));
    symlinkSync(elsewhere, folder());
    expect(await isTaken()).toBe(false);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.each([
    ["there is no home", { HOME: "" }],
    ["the home does not exist", { HOME: "/does/not/exist" }],
    ["the home is not a folder", { HOME: "/dev/null" }],
    ["Node's caches are switched off", { NODE_DISABLE_COMPILE_CACHE: "1" }],
  ])("is not stored where %s", async (_, env) => {
    expect(await isTaken({ env })).toBe(false);
    expect(readdirSync(home)).toEqual([]);
  });

  test("for other flags of V8 is not taken", async () => {
    await filledCache();
    const NODE_OPTIONS = `--require ${JSON.stringify(HOOK)} --interpreted-frames-native-stack`;
    expect(await isTaken({ env: { NODE_OPTIONS } })).toBe(false);
  });
});

function copyOfProgram(): string {
  const copy = temporaryDirectory("copy");
  for (const name of ["package.json", "bin", "dist"])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  return copy;
}

test("a link to the program works, and its name counts", async () => {
  const link = join(home, "zkCli.sh");
  symlinkSync(join(ROOT, "bin/zksh.js"), link);
  const { stdout } = await runZksh(["-server", server, "ls", "/"], { program: link });
  expect(stdout.toString()).toBe("[]\n");
});

describe("the package", () => {
  test("has nothing but code, declarations and texts", () => {
    const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(packed);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "bin/zksh.js",
        "bin/compile-cache.js",
        "dist/main.cjs",
        "dist/index.js",
      ]),
    );
    expect(
      paths.filter((path) => !/(\.c?js|\.d\.ts|\.md|LICENSE|package\.json)$/.test(path)),
    ).toEqual([]);
  });

  test("does not tell where it was built", () => {
    const files = readdirSync(join(ROOT, "dist"), { recursive: true, encoding: "utf8" });
    const telling = files
      .map((name) => join(ROOT, "dist", name))
      .filter((file) => statSync(file).isFile() && readFileSync(file).includes(ROOT));
    expect(telling).toEqual([]);
  });

  test("is not needed any more when the program runs", async () => {
    const copy = copyOfProgram();
    const { code, stdout } = await runZksh(
      ["-s", server, "lock", "/a", "--", "sh", "-c", `mv ${copy}/dist ${copy}/old`],
      {
        program: join(copy, "bin/zksh.js"),
      },
    );
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "" });
  });
});
