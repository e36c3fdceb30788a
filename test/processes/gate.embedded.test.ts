/** A command begins when its guard is armed, as if nothing stood before it. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GuardRequest } from "../../src/processes/child-requests.ts";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { environment, GuardingProcess, killLeftovers, leftovers } from "./guarding.ts";
import { startGuarded } from "./start-guarded.ts";

const directory = temporaryDirectory("gate");
let file = "";
let count = 0;

beforeEach(() => {
  file = join(directory, String(++count));
});

afterEach(async () => {
  try {
    await eventually(() => expect(leftovers()).toEqual([]), {
      message: "something was left",
      timeoutMs: 5_000,
    });
  } finally {
    killLeftovers();
  }
});

afterAll(() => removeDirectory(directory));

/** True for the shell that waits at the gate until the watchdog is armed. */
function isGate(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes("zksh-gate");
  } catch {
    return false;
  }
}

/** Runs a program to its end; its exit code. */
async function run(
  argv: GuardRequest["argv"],
  env: Record<string, string | undefined> = environment,
) {
  const guarded = await startGuarded({ argv, env: {}, group: "own", onSignal: () => {} }, env);
  try {
    const end = await guarded.ended;
    await guarded.gone();
    return end;
  } finally {
    await guarded.dispose();
  }
}

function program(text: string, name = "program"): string {
  const path = `${file}-${name}`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** What a process got, without a shell that would change it. */
const REPORT = `#!/usr/bin/python3 -IS
import json, os, sys
env = {os.fsdecode(k): os.fsdecode(v) for k, v in os.environb.items()}
fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
out = os.environ["OUT"]
json.dump({"argv": sys.argv[1:], "env": env, "fds": fds}, open(out, "w"))
`;

interface Report {
  readonly argv: string[];
  readonly env: Record<string, string>;
  readonly fds: number[];
}

async function report(
  args: readonly string[],
  env: Record<string, string>,
  name?: string,
): Promise<Report> {
  const out = `${file}-out`;
  expect(await run([program(REPORT, name), ...args], { ...env, OUT: out })).toEqual({ code: 0 });
  return JSON.parse(readFileSync(out, "utf8"));
}

describe("a command behind the gate", () => {
  test("gets its words as they are", async () => {
    const words = [
      "",
      " ",
      "a b",
      "$HOME",
      "`id`",
      "'",
      '"',
      "\\",
      "-n",
      "--",
      "new\nline",
      "tab\t",
      "*",
      "A=b",
      "é",
    ];
    expect((await report(words, environment as Record<string, string>)).argv).toEqual(words);
  });

  const PATH = process.env.PATH ?? "";
  test.each([
    { what: "nothing but a path", env: { PATH } },
    {
      what: "names that no shell knows",
      env: { PATH, "a.b": "1", "BASH_FUNC_f%%": "() { :; }", "9x": "y", "-": "z" },
    },
    {
      what: "names that shells change",
      env: {
        PATH,
        PWD: "/no where",
        OLDPWD: "/x",
        SHLVL: "7",
        _: "me",
        IFS: "x",
        OPTIND: "9",
        PPID: "1",
        PS1: "p",
      },
    },
    {
      what: "names that shells do as they say",
      env: {
        PATH,
        SHELLOPTS: "xtrace",
        BASH_ENV: "/nope",
        ENV: "/nope",
        LC_ALL: "xx_YY",
        LINENO: "3",
        UID: "77",
      },
    },
    {
      what: "values of all kinds",
      env: { PATH, A: "", B: "two\nlines\n", C: "$(id)'\"\\", D: " é ", ZKSH_GATE_0: "g" },
    },
  ])("gets the environment as it is: $what", async ({ env }) => {
    const { ZKSH_GUARD, OUT, ...found } = (await report([], env)).env;
    // Python adds it to what it found.
    if (!("LC_CTYPE" in env)) delete found.LC_CTYPE;
    expect(found).toEqual(env);
    expect(ZKSH_GUARD).toMatch(/^[0-9a-f-]+$/);
    expect(OUT).toContain(file);
  });

  test("has the descriptors that it has without a gate", async () => {
    const { fds } = await report([], environment as Record<string, string>);
    const out = `${file}-plain`;
    execFileSync(program(REPORT), { stdio: "inherit", env: { ...environment, OUT: out } });
    expect(fds).toEqual(JSON.parse(readFileSync(out, "utf8")).fds);
  });

  test.each(["-x", "a=b", "-a=b", "with space", "quote'"])("may be called %s", async (name) => {
    expect((await report(["word"], environment as Record<string, string>, name)).argv).toEqual([
      "word",
    ]);
    const folder = join(directory, `bin${count}`);
    execFileSync("mkdir", [folder]);
    writeFileSync(join(folder, name), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
    expect(await run([name], { ...environment, PATH: `${folder}:${PATH}` })).toEqual({ code: 9 });
  });

  test("may be a script that does not say what runs it", async () => {
    expect(await run([program(`echo "$1" > ${file}; exit 4\n`), "word"])).toEqual({ code: 4 });
    expect(readFileSync(file, "utf8")).toBe("word\n");
  });

  test.each([
    { what: "an interpreter that is missing", text: "#!/no/such/interpreter\n", code: 127 },
    { what: "an interpreter that may not be run", text: "#!/etc/passwd\n", code: 126 },
  ])("has the code of a shell when it cannot be run after all: $what", async ({ text, code }) => {
    expect(await run([program(text)])).toEqual({ code });
  });

  test.each(["own", "share"] as const)("has the same process as the gate (%s)", async (group) => {
    const request = { argv: ["sleep", "300"], env: {}, group, onSignal: () => {} } as const;
    const guarded = await startGuarded(request, environment);
    await eventually(() =>
      expect(readFileSync(`/proc/${guarded.pid}/cmdline`, "latin1")).toBe("sleep\x00300\x00"),
    );
    expect(findProcess(guarded.pid)?.parent).toBe(process.pid);
    guarded.signal("SIGKILL");
    await guarded.gone();
    await guarded.dispose();
  });
});

describe("nothing has run", () => {
  const argv = () => ["sh", "-c", `echo ran > ${file}; sleep 300`] as const;

  test("when the last check fails, and another start may follow", async () => {
    let checks = 0;
    const mayStart = () => {
      if (++checks === 2) throw new Error("not now");
    };
    const request = { argv: argv(), env: {}, group: "own", onSignal: () => {}, mayStart } as const;
    expect(await rejection(startGuarded(request, environment))).toMatchObject({
      message: "not now",
    });
    await eventually(() => expect(leftovers()).toEqual([]));
    expect(existsSync(file)).toBe(false);
  });

  test("when zksh is killed at the gate", async () => {
    const guard = new GuardingProcess({ group: "own", argv: argv(), atGate: "SIGKILL" });
    await eventually(() => guard.process.signalCode === "SIGKILL");
    await eventually(() => expect(leftovers()).toEqual([]));
    expect(existsSync(file)).toBe(false);
  });

  test.each(["own", "share"] as const)(
    "when zksh is frozen at the gate until the time is over (%s)",
    async (group) => {
      const guard = new GuardingProcess({
        group,
        argv: argv(),
        atGate: "SIGSTOP",
        permit: [200, 600],
      });
      await eventually(() => findProcess(guard.pid)?.state === "stopped");
      await eventually(() => expect(leftovers().filter(isGate)).toEqual([]));
      guard.kill("SIGCONT");
      expect(await guard.ended()).toHaveProperty("killedBy");
      expect(existsSync(file)).toBe(false);
    },
  );

  test("when the shell at the gate was killed", async () => {
    let checks = 0;
    const mayStart = () => {
      if (++checks < 2) return;
      const gate = leftovers().find(isGate);
      process.kill(gate ?? Number.NaN, "SIGKILL");
    };
    const request = { argv: argv(), env: {}, group: "own", onSignal: () => {}, mayStart } as const;
    const guarded = await startGuarded(request, environment);
    expect(await guarded.ended).toEqual({ killedBy: "SIGKILL" });
    await guarded.dispose();
    expect(existsSync(file)).toBe(false);
  });
});
