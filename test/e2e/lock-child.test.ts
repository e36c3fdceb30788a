/** What a program under a lock gets, and what comes of it: no faults here. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LockExitCode } from "../../src/errors.ts";
import { monotonicMs } from "../../src/io/monotonic-clock.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { eventsOf, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;

describe("the exit code", () => {
  it.for([
    { code: 0, how: "true", program: ["true"] },
    { code: 3, how: "its own code", program: ["sh", "-c", "exit 3"] },
    { code: 75, how: "its own code, though we have a meaning for it", program: ["sh", "-c", "exit 75"] },
    { code: 137, how: "killed by signal 9", program: ["sh", "-c", "kill -9 $$"] },
    { code: 143, how: "killed by signal 15", program: ["sh", "-c", "kill $$"] },
  ])("$code of the program: $how", async ({ code, program }, context) => {
    const scene = await Scene.at(context);
    const { stdout, ...ran } = await scene.run(["lock", LOCK, "--", ...program]);
    expect({ ...ran, stdout: String(stdout) }).toMatchObject({ code, signal: null, stderr: "", stdout: "" });
  });

  it.for([
    { code: 125, how: "a bad option", words: ["--bogus", LOCK, "--", "true"], says: "unknown option '--bogus'" },
    { code: 125, how: "no path", words: ["--", "true"], says: "no path given" },
    { code: 125, how: "a bad path", words: ["/l//a", "--", "true"], says: "empty" },
    { code: 125, how: "the root", words: ["/", "--", "true"], says: "/ cannot be locked" },
    { code: 125, how: "a command without its --", words: [LOCK, "true"], says: "stands behind --" },
    { code: 125, how: "a bad choice", words: ["--on-lost", "cry", LOCK, "--", "true"], says: "bad choice 'cry'" },
    { code: 125, how: "an exit code out of range", words: ["-E", "600", LOCK, "--", "true"], says: "exit code '600'" },
    { code: 125, how: "a bad duration", words: ["-w", "soon", LOCK, "--", "true"], says: "bad duration 'soon'" },
    {
      code: 125,
      how: "a grace of half the session timeout",
      words: ["--session-timeout", "4s", "--grace", "2s", LOCK, "--", "true"],
      says: "a grace of 2000 ms is too long for a session timeout of 4000 ms",
    },
    { code: 126, how: "not executable", words: [LOCK, "--", "/etc/passwd"], says: "not executable: /etc/passwd" },
    { code: 126, how: "a directory", words: [LOCK, "--", "/etc"], says: "not executable: /etc" },
    { code: 127, how: "not found", words: [LOCK, "--", "no-such-program"], says: "no such program: no-such-program" },
  ])("$code before anything is queued: $how", async ({ code, words, says }, context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["lock", ...words]);
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(says) });
    // The path would have been made.
    expect(await scene.session.getChildren("/")).toEqual([]);
  });

  it("125: the same lock around us, and --reentrant runs under it", async (context) => {
    const scene = await Scene.at(context);
    const inner = (...words: string[]) => `node "$ZKSH" -s ${scene.server} lock ${words.join(" ")} ${LOCK} --`;
    const tell = "echo $ZK_LOCK_TOKEN";
    const script = `${tell}; ${inner()} echo never; echo $?; ${inner("--reentrant")} sh -c '${tell}'; echo $?`;
    const env = { ZKSH: `${import.meta.dirname}/../../bin/zksh.js` };
    const { stdout, stderr } = await scene.run(["lock", LOCK, "--", "sh", "-c", script], { env });
    const [token, ...rest] = String(stdout).split("\n");
    expect(rest).toEqual(["125", token, "0", ""]);
    expect(stderr).toContain(`${LOCK} is held by a command around this one`);
    // One ticket was made, and no second.
    expect((await scene.session.exists(LOCK))?.cversion).toBe(2);
  });
});

describe("streams", () => {
  it("are the program's own, to the byte", async (context) => {
    const scene = await Scene.at(context);
    const input = randomBytes(1_000_000);
    const { code, stdout, stderr } = await scene.run(["lock", LOCK, "--", "cat"], { input });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.equals(input)).toBe(true);
  });

  it("have nothing of ours on stderr either when all is well, even after a wait", async (context) => {
    const scene = await Scene.at(context);
    const { beat, zksh } = await scene.holding();
    const waiter = scene.run(["lock", LOCK, "--", "sh", "-c", "echo own >&2"]);
    await scene.queue(2);
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
    expect(await waiter).toMatchObject({ code: 0, stderr: "own\n" });
  });

  it("-v: every step of the recipe, in order", async (context) => {
    const scene = await Scene.at(context);
    const { beat, zksh } = await scene.holding(["--why", "release 42"]);
    const waiter = scene.start(["-v", "lock", "-w", "1m", LOCK, "--", "true"]);
    await scene.queue(2);
    await eventually(() => expect(waiter.stderr).toContain("waiting for"));
    beat.end();
    await zksh.result;
    const { stderr } = await waiter.result;
    const steps = [
      "queued as /l/_c_.*-lock-0000000001",
      `position 1 of 1; waiting for /l: held \\S+ by \\S+@\\S+ pid ${zksh.pid} python3 \\("release 42"\\); you are next; gives up in \\S+`,
      "gone: _c_.*-lock-0000000000",
      "acquired /l after \\S+, token \\d+",
      "started process \\d+",
      "ended with code 0",
      "released /l",
    ];
    // Since when it is held is told when it is known: the same place may be named twice.
    const lines = stderr
      .split("\n")
      .filter((line, index, all) => !/^position/.test(line) || !/^position/.test(all[index + 1] ?? ""));
    expect(lines.join("\n")).toMatch(new RegExp(`^${steps.join("\n")}\n$`));
  });

  it("--json: one event a line, in order, and stdout is still the program's", async (context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["--json", "lock", LOCK, "--", "echo", "out"]);
    expect(String(ran.stdout)).toBe("out\n");
    const events = eventsOf(ran);
    expect(events.map(({ event }) => event)).toEqual(["queued", "acquired", "started", "child_exit", "released"]);
    expect(events).toMatchObject([
      { path: LOCK, node: expect.stringMatching(/^\/l\/_c_.*-lock-0000000000$/) },
      { path: LOCK, token: expect.stringMatching(/^\d+$/), waitedMs: expect.any(Number) },
      { pid: expect.any(Number) },
      { end: { code: 0 } },
      { how: "delete" },
    ]);
    for (const { at } of events) expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });
});

it("the environment names the lock, and the innermost wins", async (context) => {
  const scene = await Scene.at(context);
  const env = { ZK_LOCK_HELD: "/outer\t17", ZK_LOCK_TOKEN: "17" };
  const zksh = scene.start(["lock", LOCK, "--", "sh", "-c", "env | grep -A1 ^ZK_; read line"], { env });
  const node = await scene.queue(1);
  const stat = await scene.session.exists(node);
  const token = String(stat?.czxid);
  await eventually(() => expect(zksh.stdout).toContain("WAITED"));
  zksh.endInput();
  const lines = String((await zksh.result).stdout).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      `ZK_LOCK_PATH=${LOCK}`,
      `ZK_LOCK_NODE=${node}`,
      `ZK_LOCK_TOKEN=${token}`,
      `ZK_LOCK_SEQUENCER=exclusive:0x${stat?.czxid.toString(16)}:${node}`,
      "ZK_LOCK_MODE=exclusive",
      `ZK_LOCK_SESSION=0x${stat?.ephemeralOwner.toString(16)}`,
      "ZK_LOCK_TIMEOUT_MS=30000",
      expect.stringMatching(/^ZK_LOCK_WAITED_MS=\d+$/),
      "ZK_LOCK_HELD=/outer\t17",
      `${LOCK}\t${token}`,
    ]),
  );
});

it("the ticket names the program, never its arguments", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start(["lock", "--why", "backup", LOCK, "--", "sh", "-c", "read line; # secret"]);
  const { data } = await scene.session.getData(await scene.queue(1));
  expect(JSON.parse(String(data))).toMatchObject({ cmd: "sh", why: "backup", pid: zksh.pid, mode: "exclusive" });
  expect(String(data)).not.toContain("secret");
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 1 });
});

describe("signals", () => {
  it("reach the program, whose end is ours", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding();
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGINT", "SIGTERM"] as const) {
      zksh.kill(signal);
      await eventually(() => expect(beat.signals.at(-1)).toBe(signal));
    }
    expect(await zksh.result).toMatchObject({ code: 0, signal: null, stderr: "" });
    expect(beat.signals).toEqual(["SIGHUP", "SIGUSR1", "SIGINT", "SIGTERM"]);
  });

  it("twice in a row start the grace of a program that does not listen", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding(["--grace", "300ms"], { words: ["stubborn"] });
    zksh.kill("SIGTERM");
    await eventually(() => expect(beat.signals).toEqual(["SIGTERM"]));
    await beat.goesOn();
    zksh.kill("SIGTERM");
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([137, expect.stringContaining("sent KILL")]);
    expect(beat.lastAt - beat.at("SIGTERM")).toBeGreaterThan(250);
  });

  it("between the lock and the program's start: there is no start", async (context) => {
    const scene = await Scene.at(context);
    const [beat, slow] = [scene.beat(), scene.slowStart()];
    const zksh = scene.start(["lock", LOCK, "--", ...beat.command()], { env: slow.env });
    await slow.reached();
    zksh.kill("SIGTERM");
    slow.goOn();
    expect(await zksh.result).toMatchObject({ code: 143, signal: null });
    expect(beat.hasRun).toBe(false);
  });
});

describe("the end", () => {
  it("comes in order: all processes, then the ticket, then the session", async (context) => {
    const scene = await Scene.at(context);
    const { proxy, server } = await scene.network();
    const requests: { at: number; type: number }[] = [];
    proxy.onBytes = (direction, chunk) => {
      // Frames come one a chunk or several; a frame is its length, its number, its type.
      for (let from = 0; direction === "to-server" && from + 12 <= chunk.length; from += 4 + chunk.readInt32BE(from)) {
        requests.push({ at: monotonicMs(), type: chunk.readInt32BE(from + 8) });
      }
    };
    const beat = scene.beat();
    const zksh = scene.start(["lock", LOCK, "--", "sh", "-c", '"$@" & exit 4', "sh", ...beat.command()], { server });
    await beat.started(zksh);
    await eventually(() => expect(zksh.stderr).toContain(`holding ${LOCK} until what process`));
    expect(await scene.tickets()).toHaveLength(1);
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 4 });
    const [DELETE, CLOSE] = [2, -11];
    const ends = requests.filter(({ type }) => type === DELETE || type === CLOSE);
    expect(ends.map(({ type }) => type)).toEqual([DELETE, CLOSE]);
    expect(ends[0]?.at).toBeGreaterThan(beat.lastAt);
  });

  it("waits for --min-hold", async (context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["--json", "lock", "--min-hold", "800ms", LOCK, "--", "true"]);
    const at = (name: string) => Date.parse(String(eventsOf(ran).find(({ event }) => event === name)?.at));
    expect(at("child_exit") - at("acquired")).toBeLessThan(700);
    expect(at("released") - at("acquired")).toBeGreaterThanOrEqual(790);
  });

  it.for([
    {
      how: "ours",
      data: (old: string) => JSON.stringify({ ...JSON.parse(old), revoke: { by: "ann", reason: "now" } }),
    },
    { how: "Curator's", data: () => "__REVOKE__" },
    { how: "the textbook's", data: () => "unlock" },
  ])("121 when asked to give way in the words that are $how, with all it has started", async ({ data }, context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK, "--", "sh", "-c", "sleep 100; :"]);
    const node = await scene.queue(1);
    // The shell and its sleep, zksh, the watchdog.
    await eventually(() => expect(scene.processes()).toHaveLength(4));
    const rival = await scene.rival();
    const { data: old } = await scene.session.getData(node);
    await scene.session.setData(node, Buffer.from(data(String(old))));
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([121, expect.stringMatching(/asks for \/l.*\n.*sent TERM .* the lock is wanted/)]);
    await rival.gotAt;
  });

  it("--on-revoke ignore: goes on", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding(["--on-revoke", "ignore"]);
    await scene.session.setData(await scene.queue(1), Buffer.from("__REVOKE__"));
    await eventually(() => expect(zksh.stderr).toContain(`asks for ${LOCK}`));
    await beat.goesOn();
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 7 });
    expect(beat.signals).toEqual([]);
  });

  it("120 when somebody deletes the ticket, even if the program ends with 0", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding();
    await scene.session.delete(await scene.queue(1));
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([120, expect.stringContaining(`lost ${LOCK}: somebody deleted its znode`)]);
    expect(beat.signals).toEqual(["SIGTERM"]);
  });
});

describe("--status-file", () => {
  const TOKEN = expect.stringMatching(/^\d+$/);
  const rows: { outcome: string; code: number; words?: string[]; program?: string[]; more?: object }[] = [
    { outcome: "child", code: 3, program: ["sh", "-c", "exit 3"], more: { token: TOKEN } },
    { outcome: "child", code: 137, program: ["sh", "-c", "kill -9 $$"], more: { signal: "SIGKILL", token: TOKEN } },
    { outcome: "exec", code: 127, program: ["no-such-program"] },
    { outcome: "exec", code: 126, program: ["/etc/passwd"] },
    { outcome: "usage", code: 125, words: ["--session-timeout", "4s", "--grace", "3s"] },
  ];
  it.for(rows)("$outcome $code", async ({ outcome, code, words = [], program = ["true"], more }, context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    expect(await scene.run(["lock", "--status-file", file, ...words, LOCK, "--", ...program])).toMatchObject({ code });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ outcome, code, path: LOCK, ...more });
  });

  it("held 0, busy 75, timeout 124, interrupted 143", async (context) => {
    const scene = await Scene.at(context);
    const status = () => {
      const file = scene.file();
      return { words: ["--status-file", file], read: () => JSON.parse(readFileSync(file, "utf8")) };
    };
    const [held, busy, timeout, interrupted] = [status(), status(), status(), status()];
    const holder = scene.start(["lock", ...held.words, LOCK]);
    await scene.queue(1);
    await scene.run(["lock", ...busy.words, "-n", LOCK, "--", "true"]);
    expect(busy.read()).toEqual({ outcome: "busy", code: 75, path: LOCK });
    await scene.run(["lock", ...timeout.words, "-w", "1s", LOCK, "--", "true"]);
    expect(timeout.read()).toEqual({ outcome: "timeout", code: 124, path: LOCK });
    const waiter = scene.start(["lock", ...interrupted.words, LOCK, "--", "true"]);
    await scene.queue(2);
    waiter.kill("SIGTERM");
    await waiter.result;
    expect(interrupted.read()).toEqual({ outcome: "interrupted", code: 143, path: LOCK });
    holder.endInput();
    await holder.result;
    expect(held.read()).toMatchObject({ outcome: "held", code: 0, path: LOCK });
  });

  it.for([
    { outcome: "lost", code: 120, spoil: (scene: Scene, node: string) => scene.session.delete(node) },
    {
      outcome: "revoked",
      code: 121,
      spoil: (scene: Scene, node: string) => scene.session.setData(node, Buffer.from("unlock")),
    },
  ])("$outcome $code", async ({ outcome, code, spoil }, context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    // Not that of the program, which is 0.
    const { zksh } = await scene.holding(["--status-file", file]);
    await spoil(scene, await scene.queue(1));
    expect(await zksh.result).toMatchObject({ code });
    const written = JSON.parse(readFileSync(file, "utf8"));
    expect(written).toEqual({ outcome, code, path: LOCK, token: TOKEN });
  });

  it("unavailable 123", async (context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    const server = `127.0.0.1:${await freePort()}`;
    const words = ["--connect-timeout", "300ms", "lock", "--status-file", file, LOCK, "--", "true"];
    expect(await scene.run(words, { server })).toMatchObject({ code: 123 });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ outcome: "unavailable", code: 123, path: LOCK });
  });
});

describe("without a program", () => {
  it("the lock is held until stdin ends, and a shell can take in what it is", async (context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK], { env: { ZK_LOCK_HELD: "/it's\t1" } });
    const node = await scene.queue(1);
    const rival = await scene.rival();
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    zksh.endInput();
    const { code, stdout } = await zksh.result;
    expect(code).toBe(0);
    await rival.gotAt;
    const echo = 'eval "$(cat)"; printf "%s|%s|%s" "$ZK_LOCK_NODE" "$ZK_LOCK_TOKEN" "$ZK_LOCK_HELD"';
    const evaluated = execFileSync("sh", ["-c", echo], { input: stdout, encoding: "utf8" });
    expect(evaluated).toMatch(new RegExp(`^${node}\\|(\\d+)\\|/it's\t1\n/l\t\\1$`));
  });

  it.for([
    { code: 120, how: "lost", spoil: (scene: Scene, node: string) => scene.session.delete(node) },
    {
      code: 121,
      how: "wanted",
      spoil: (scene: Scene, node: string) => scene.session.setData(node, Buffer.from("unlock")),
    },
  ])("$code when it is $how", async ({ code, spoil }, context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK]);
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    await spoil(scene, await scene.queue(1));
    expect(await zksh.result).toMatchObject({ code });
  });

  it("128+S when a signal ends it, and the lock is given back", async (context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK]);
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    const rival = await scene.rival();
    zksh.kill("SIGTERM");
    expect(await zksh.result).toMatchObject({ code: 143, signal: null });
    await rival.gotAt;
  });
});

it("rwlock: readers together, a writer alone, with the same codes", async (context) => {
  const scene = await Scene.at(context);
  const side = (words: string[]) => {
    const beat = scene.beat();
    return { beat, zksh: scene.start(["-v", "rwlock", ...words, LOCK, "--", ...beat.command()]) };
  };
  const readers = [side(["read"]), side(["read"])];
  for (const { beat, zksh } of readers) await beat.started(zksh);
  expect(await scene.run(["rwlock", "write", "-n", LOCK, "--", "true"])).toMatchObject({ code: 75 });
  const writer = side(["write"]);
  await scene.queue(3);
  // Behind a writer that waits.
  const late = scene.run(["rwlock", "read", LOCK, "--", "sh", "-c", "echo $ZK_LOCK_MODE"]);
  await scene.queue(4);
  expect(writer.beat.hasRun).toBe(false);
  for (const { beat } of readers) beat.end();
  await writer.beat.started(writer.zksh);
  const lastRead = Math.max(...readers.map(({ beat }) => beat.lastAt));
  expect(writer.beat.lines[0]?.at).toBeGreaterThan(lastRead);
  for (const { zksh } of readers) expect(await zksh.result).toMatchObject({ code: 7 });
  const [, ticket = ""] = await eventually(async () => {
    const names = await scene.tickets();
    expect(names).toHaveLength(2);
    return [0, names[0]] as const;
  });
  await scene.session.delete(`${LOCK}/${ticket}`);
  expect(await writer.zksh.result).toMatchObject({ code: 120 });
  const { stdout } = await late;
  expect(String(stdout)).toBe("read\n");
});

test("every code of the second table has a test", () => {
  const files = ["lock-child", "lock-waiting", "lock-lost"].map((name) =>
    readFileSync(`${import.meta.dirname}/${name}.test.ts`, "utf8"),
  );
  const missing = Object.values(LockExitCode).filter((code) => !files.join().includes(`code: ${code}`));
  expect(missing).toEqual([]);
});
