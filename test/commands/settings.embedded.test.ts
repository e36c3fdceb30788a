import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

type Server = Awaited<ReturnType<typeof startEmbeddedServer>>;
let one: Server;
let two: Server;
let home: string;

beforeAll(async () => {
  one = await startEmbeddedServer({ host: "127.0.0.1", port: 0 });
  two = await startEmbeddedServer({ host: "127.0.0.1", port: 0 });
});

afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
});

beforeEach(() => {
  home = temporaryDirectory("settings");
  return () => removeDirectory(home);
});

const fileName = () => join(home, ".config/zksh/config.json");

function store(settings: object | string, mode = 0o600): void {
  mkdirSync(join(home, ".config/zksh"), { recursive: true });
  const text = typeof settings === "string" ? settings : JSON.stringify(settings);
  writeFileSync(fileName(), text, { mode });
  chmodSync(fileName(), mode);
}

async function zksh(
  args: readonly string[],
  more: { input?: string; env?: Record<string, string> } = {},
) {
  const { env = {}, ...options } = more;
  const { code, stdout, stderr } = await runZksh(args, { ...options, env: { HOME: home, ...env } });
  return { code, stdout: stdout.toString(), stderr };
}

const servers = () => ({ one: { server: one.address }, two: { server: two.address } });

describe("the settings file", () => {
  test("that is broken ends zksh with line and column, and --no-config starts without it", async () => {
    store('{\n  "profiles": {\n    "p": { "server" "x" }\n  }\n}');
    const broken = await zksh(["-s", one.address, "ls", "/"]);
    expect(broken).toMatchObject({
      code: 2,
      stderr: `error: ${fileName()}:3:21: expected ":", found "\\""\n  --no-config starts zksh without the settings file\n`,
    });
    expect((await zksh(["-s", one.address, "--no-config", "exists", "/"])).code).toBe(0);
    expect((await zksh(["-s", one.address, "exists", "/", "--no-config"])).code).toBe(0);
    expect(
      (await zksh(["-s", one.address, "exists", "/"], { env: { ZKSH_NO_CONFIG: "1" } })).code,
    ).toBe(0);
    const script = await zksh(["-s", one.address, "--no-config"], { input: "exists /\n" });
    expect(script.code).toBe(0);
    const json = await zksh(["--json", "ls", "/"]);
    expect(JSON.parse(json.stderr).error.message).toContain(":3:21:");
  });

  test("that others may write, or read where it has a secret, is warned of", async () => {
    store({ profiles: servers() }, 0o622);
    expect((await zksh(["@one", "exists", "/"])).stderr).toBe(
      `warning: other users can change the settings file ${fileName()}: run chmod 600 ${fileName()}\n`,
    );
    store({ profiles: servers() }, 0o644);
    expect((await zksh(["@one", "exists", "/"])).stderr).toBe("");
    store({ profiles: { ...servers(), s: { sasl: "digest:bob:secret" } } }, 0o644);
    expect((await zksh(["@one", "exists", "/"])).stderr).toContain("other users can read");
    store({ profiles: { ...servers(), s: { sasl: "digest:bob:secret" } } });
    const listed = await zksh(["--profile", "s", "settings"]);
    expect(listed.stdout).toContain("sasl\tdigest:bob:***\n");
    expect(listed.stdout + listed.stderr).not.toContain("secret");
  });
});

describe("a settings file that is not ours", () => {
  const OTHER_USER = 65_534;
  const refused = async (why: string) => {
    expect(await zksh(["-s", one.address, "exists", "/"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`cannot read the settings file: ${why}`),
    });
    expect((await zksh(["--no-config", "-s", one.address, "exists", "/"])).code).toBe(0);
  };

  test("is refused, and so are its directory and a link of another user", async () => {
    store({ profiles: servers() });
    chownSync(fileName(), OTHER_USER, OTHER_USER);
    await refused(`${fileName()} belongs to another user`);
    store({ profiles: servers() });
    chownSync(fileName(), process.geteuid?.() ?? 0, 0);
    chownSync(dirname(fileName()), OTHER_USER, OTHER_USER);
    await refused(`${dirname(fileName())} belongs to another user`);
    chownSync(dirname(fileName()), process.geteuid?.() ?? 0, 0);
    renameSync(fileName(), join(home, "settings"));
    symlinkSync(join(home, "settings"), fileName());
    expect((await zksh(["@one", "exists", "/"])).code).toBe(0);
    lchownSync(fileName(), OTHER_USER, OTHER_USER);
    await refused(`${fileName()} belongs to another user`);
  });

  test("is refused where it is no plain file", async () => {
    mkdirSync(fileName(), { recursive: true });
    await refused(`EISDIR: ${fileName()} is a directory`);
  });

  test("is taken for none where the home is a file", async () => {
    const env = { HOME: "/dev/null" };
    expect((await zksh(["-s", one.address, "exists", "/"], { env })).code).toBe(0);
  });
});

describe("profiles", () => {
  test("are named by @NAME, --profile and ZKSH_PROFILE", async () => {
    store({ profiles: servers() });
    await zksh(["@one", "create", "/which", "first"]);
    await zksh(["@two", "create", "/which", "second"]);
    expect((await zksh(["@one", "get", "/which"])).stdout).toBe("first");
    expect((await zksh(["--profile", "two", "get", "/which"])).stdout).toBe("second");
    expect((await zksh(["get", "/which"], { env: { ZKSH_PROFILE: "two" } })).stdout).toBe("second");
    expect((await zksh(["@one", "-c", "get /which"])).stdout).toBe("first");
    expect(
      (await zksh(["@one"], { input: "get /which\nconnect @two\nget /which\n" })).stdout,
    ).toContain("first");
    expect(await zksh(["@oen", "get", "/which"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown profile oen"),
    });
    expect((await zksh(["@prod", "ls", "/"])).stderr).toBe(
      `error: unknown profile prod: ${fileName()} does not have it\n` +
        `  write it to ${fileName()}: {"profiles":{"prod":{"server":"HOST:2181"}}}\n`,
    );
    expect((await zksh(["--no-config", "@one", "ls", "/"])).stderr).toContain(
      "unknown profile one: --no-config or ZKSH_NO_CONFIG leaves the settings file out",
    );
  });

  test("hold for the program, not for one line, which is told what to type", async () => {
    store({ profiles: servers() });
    const line = await zksh(["@one", "-c", "@two ls /"]);
    expect(line.code).toBe(2);
    expect(line.stderr).toContain("@two (--profile) applies to the whole program, not to one line");
    expect(line.stderr).toContain("connect @NAME");
  });

  test("are places for cp, diff and mv", async () => {
    store({ profiles: servers() });
    await zksh(["@one", "create", "-p", "/place/a", "x"]);
    const copied = await zksh(["@one", "cp", "-r", "/place", "@two:/place"]);
    expect(copied.code).toBe(0);
    expect((await zksh(["@two", "get", "/place/a"])).stdout).toBe("x");
    expect((await zksh(["@one", "diff", "/place", "@two:/place"])).code).toBe(0);
    await zksh(["@two", "set", "/place/a", "y"]);
    expect((await zksh(["@one", "diff", "/place", "@two:/place"])).code).toBe(1);
    expect((await zksh(["@two", "--yes", "mv", "@one:/place", "/moved"])).code).toBe(0);
    expect((await zksh(["@one", "exists", "/place"])).code).toBe(1);
    expect((await zksh(["@one", "cp", "/x", "@nowhere:/y"])).code).toBe(2);
    expect((await zksh(["@one", "cp", "/x", "@two"])).code).toBe(3);
  });

  test("reach a zksh under a lock, with their rules", async () => {
    store({ profiles: { p: { server: one.address, protect: ["/kept"] } } });
    const inner = await zksh([
      "@p",
      "lock",
      "/l",
      "--",
      process.execPath,
      join(import.meta.dirname, "../../bin/zksh.js"),
      "create",
      "/kept",
      "x",
    ]);
    expect(inner).toMatchObject({
      code: 9,
      stderr: expect.stringContaining("profile p protects /kept"),
    });
  });
});

describe("a profile that is read-only", () => {
  const profiles = () => ({
    ro: { server: one.address, readOnly: true },
    rw: { server: two.address },
  });

  test("refuses writes and locks, and --write allows them", async () => {
    store({ profiles: profiles() });
    expect(await zksh(["@ro", "create", "/ro", "x"])).toMatchObject({
      code: 9,
      stderr: "error: create is refused: profile ro is read-only\n  --write allows it\n",
    });
    expect((await zksh(["@ro", "lock", "/l", "--", "true"])).code).toBe(125);
    expect((await zksh(["@ro", "--write", "create", "/ro", "x"])).code).toBe(0);
    expect((await zksh(["@ro", "-c", "set --write /ro y; set /ro z"])).code).toBe(9);
    expect((await zksh(["@ro", "get", "/ro"])).stdout).toBe("y");
  });

  test("is read-only as a place, and after connect", async () => {
    store({ profiles: profiles() });
    await zksh(["@rw", "create", "/src", "x"]);
    expect(await zksh(["@rw", "cp", "/src", "@ro:/copied"])).toMatchObject({ code: 9 });
    expect((await zksh(["@rw", "--write", "cp", "/src", "@ro:/copied"])).code).toBe(0);
    expect((await zksh(["@rw", "cp", "@ro:/copied", "/back"])).code).toBe(0);
    expect((await zksh(["@rw", "-c", "connect @ro; create /never"])).code).toBe(9);
  });
});

describe("a profile that protects paths", () => {
  beforeEach(async () => {
    store({ profiles: { p: { server: one.address, protect: ["/safe/**", "/key"] } } });
    await zksh([
      "@p",
      "--write",
      "-c",
      "create --if-missing /safe; create --if-missing -p /safe/a/b x; create --if-missing /open; create --if-missing /key",
    ]);
  });

  test.each([
    "create /safe/new",
    "set /safe/a y",
    "delete /safe/a/b",
    "setAcl /key world:anyone:r",
    "deleteall --yes /safe",
    "deleteall --yes /safe/a",
    "mv --yes /safe /away",
    "mv --yes /open /safe/open",
    "cp -r /open /safe/open",
    "setAcl -R --yes /safe world:anyone:r",
    "txn 'create /txn1' 'set /safe/a y'",
    "fence guard /key 1",
  ])("refuses %s, and nothing is changed", async (line) => {
    const before = (await zksh(["@p", "export", "/"])).stdout;
    const refused = await zksh(["@p", "-c", line]);
    expect(refused).toMatchObject({
      code: 9,
      stderr: expect.stringMatching(/profile p protects \/(safe\/\*\*|key)\n {2}--write allows it/),
    });
    const without = (text: string) => text.split("\n").slice(1);
    expect(without((await zksh(["@p", "export", "/"])).stdout)).toEqual(without(before));
  });

  test("allows what is not protected, and everything with --write", async () => {
    expect((await zksh(["@p", "set", "/open", "y"])).code).toBe(0);
    expect((await zksh(["@p", "set", "/safe", "the znode itself"])).code).toBe(0);
    expect((await zksh(["@p", "set", "--write", "/safe/a", "y"])).code).toBe(0);
  });

  test("lets locks have their tickets below protected paths", async () => {
    expect((await zksh(["@p", "lock", "/safe/a/lock", "--", "true"])).code).toBe(0);
  });
});

describe("a profile with confirm", () => {
  test("deletes nothing without a terminal, unless --yes is given", async () => {
    store({ profiles: { p: { server: one.address, confirm: true } } });
    await zksh(["@p", "create", "-p", "/sure/a", "x"]);
    for (const line of ["deleteall /sure", "delete /sure/*", "deleteall --write /sure"])
      expect(await zksh(["@p", "-c", line]), line).toMatchObject({
        code: 9,
        stderr: expect.stringContaining("needs confirmation, and there is no terminal"),
      });
    expect((await zksh(["@p", "get", "/sure/a"])).stdout).toBe("x");
    expect((await zksh(["@p", "deleteall", "--yes", "/sure"])).code).toBe(0);
  });
});

describe("aliases", () => {
  beforeEach(() => {
    const aliases = {
      ll: "ls -R",
      j: "--json ls",
      ls: "deleteall /",
      loop: "loop",
      two: "ls /; ls /",
      who: "addauth digest",
    };
    store({ profiles: servers(), aliases });
  });

  test("stand for the beginning of a line: one-shot, -c and scripts", async () => {
    await zksh(["@one", "create", "-p", "/al/b"]);
    const listed = "/al\n/al/b\n";
    expect((await zksh(["-q", "@one", "ll", "/al"])).stdout).toBe(listed);
    expect((await zksh(["-q", "@one", "-c", "ll /al"])).stdout).toBe(listed);
    expect((await zksh(["-q", "@one"], { input: "ll /al\nx = ll /al\n" })).stdout).toBe(listed);
    expect(JSON.parse((await zksh(["-q", "@one", "j", "/al"])).stdout)).toMatchObject({
      children: ["b"],
    });
  });

  test("never shadow a command, call themselves, run two lines or hide a password", async () => {
    const shadow = await zksh(["@one", "ls", "/al"]);
    expect(shadow).toMatchObject({ code: 0, stdout: "b\n" });
    expect(shadow.stderr).toContain(
      "the alias ls of the settings file is not used: ls is a command",
    );
    const overview = (await zksh(["-q", "help"])).stdout;
    expect(overview).toMatch(/^Your aliases +ll {2}j {2}loop {2}two {2}who$/m);
    expect((await zksh(["-q", "--no-config", "help"])).stdout).not.toContain("aliases");
    expect(await zksh(["-q", "@one", "loop"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command 'loop'"),
    });
    expect(await zksh(["-q", "@one", "two"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("aliases.two"),
    });
    expect(await zksh(["-q", "@one", "who", "a:b"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("addauth cannot have an alias"),
    });
  });
});

describe("settings", () => {
  test("prints each setting, and with --show-origin its origin", async () => {
    store({
      timeout: "20s",
      profiles: { p: { server: one.address, label: "P", protect: ["/a"] } },
    });
    const { stdout } = await zksh(["@p", "settings", "--show-origin", "--connect-timeout", "3s"], {
      env: { ZKSH_MAX_REPLY: "1m" },
    });
    expect(
      stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => line.split("\t")),
    ).toEqual([
      ["profile", "p", "option --profile"],
      ["server", one.address, "profile p"],
      ["timeout", "20s", "the settings file"],
      ["connect-timeout", "3s", "option --connect-timeout"],
      ["max-reply", "1m", "environment ZKSH_MAX_REPLY"],
      ["read-only", "false", "default"],
      ["output", "text", "default"],
      ["color", "auto", "default"],
      ["label", "P", "profile p"],
      ["protect", "/a", "profile p"],
      ["pager", "less -FRX", "default"],
    ]);
    const json = JSON.parse((await zksh(["@p", "settings", "--json"])).stdout);
    expect(json.settings.server).toEqual({ value: one.address, origin: "profile p" });
    expect(json.file).toBe(fileName());
  });
});
