/** What a program under a lock gets, and what comes of it: no faults here. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LockExitCode } from "../../src/exit-codes.ts";
import { eventually } from "../support/eventually.ts";
import { eventsOf, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;

describe("the exit code", () => {
  it.for([
    { code: 0, how: "true", program: ["true"] },
    { code: 3, how: "its own code", program: ["sh", "-c", "exit 3"] },
    {
      code: 75,
      how: "its own code, though we have a meaning for it",
      program: ["sh", "-c", "exit 75"],
    },
    { code: 137, how: "killed by signal 9", program: ["sh", "-c", "kill -9 $$"] },
    { code: 143, how: "killed by signal 15", program: ["sh", "-c", "kill $$"] },
  ])("$code of the program: $how", async ({ code, program }, context) => {
    const scene = await Scene.at(context);
    const { stdout, ...ran } = await scene.run(["lock", LOCK, "--", ...program]);
    expect({ ...ran, stdout: String(stdout) }).toMatchObject({
      code,
      signal: null,
      stderr: "",
      stdout: "",
    });
  });

  it.for([
    {
      code: 125,
      how: "a bad option",
      words: ["--bogus", LOCK, "--", "true"],
      says: "unknown option '--bogus'",
    },
    { code: 125, how: "no path", words: ["--", "true"], says: "no path given" },
    { code: 125, how: "a bad path", words: ["/l//a", "--", "true"], says: "cannot contain //" },
    { code: 125, how: "the root", words: ["/", "--", "true"], says: "/ cannot be locked" },
    {
      code: 125,
      how: "a command without its --",
      words: [LOCK, "true"],
      says: "put the command after --",
    },
    {
      code: 125,
      how: "a bad choice",
      words: ["--on-lost", "cry", LOCK, "--", "true"],
      says: "bad value 'cry'",
    },
    {
      code: 125,
      how: "an exit code out of range",
      words: ["-E", "600", LOCK, "--", "true"],
      says: "exit code '600'",
    },
    {
      code: 125,
      how: "a bad duration",
      words: ["-w", "soon", LOCK, "--", "true"],
      says: "bad duration 'soon'",
    },
    {
      code: 125,
      how: "a grace of half the session timeout",
      words: ["--session-timeout", "4s", "--grace", "2s", LOCK, "--", "true"],
      says: "--grace 2s is too long for a session timeout of 4s",
    },
    {
      code: 126,
      how: "not executable",
      words: [LOCK, "--", "/etc/passwd"],
      says: "not executable: /etc/passwd",
    },
    { code: 126, how: "a directory", words: [LOCK, "--", "/etc"], says: "not executable: /etc" },
    {
      code: 127,
      how: "not found",
      words: [LOCK, "--", "no-such-program"],
      says: "no such program: no-such-program",
    },
  ])("$code before anything is queued: $how", async ({ code, words, says }, context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["lock", ...words]);
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(says) });
    // The path would have been made.
    expect(await scene.session.getChildren("/")).toEqual([]);
  });

  it("a lock inside the same lock exits with 125, and with --reentrant it runs under the outer one", async (context) => {
    const scene = await Scene.at(context);
    const inner = (...words: string[]) =>
      `node "$ZKSH" -s ${scene.server} lock ${words.join(" ")} ${LOCK} --`;
    const tell = "echo $ZK_LOCK_TOKEN";
    const script = `${tell}; ${inner()} echo never; echo $?; ${inner("--reentrant")} sh -c '${tell}'; echo $?`;
    const env = { ZKSH: `${import.meta.dirname}/../../bin/zksh.js` };
    const { stdout, stderr } = await scene.run(["lock", LOCK, "--", "sh", "-c", script], { env });
    const [token, ...rest] = String(stdout).split("\n");
    expect(rest).toEqual(["125", token, "0", ""]);
    expect(stderr).toContain(`the command you are running in already holds ${LOCK}`);
    // One ticket was made, and no second.
    expect((await scene.session.exists(LOCK))?.cversion).toBe(2);
  });
});

describe("streams", () => {
  it("stdout and stderr of the program pass through unchanged, byte for byte", async (context) => {
    const scene = await Scene.at(context);
    const input = randomBytes(1_000_000);
    const { code, stdout, stderr } = await scene.run(["lock", LOCK, "--", "cat"], { input });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.equals(input)).toBe(true);
  });

  it("zksh writes nothing to stderr if the lock was taken without trouble, also after a wait", async (context) => {
    const scene = await Scene.at(context);
    const { beat, zksh } = await scene.holding();
    const waiter = scene.run(["lock", LOCK, "--", "sh", "-c", "echo own >&2"]);
    await scene.queue(2);
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
    expect(await waiter).toMatchObject({ code: 0, stderr: "own\n" });
  });

  it("-v writes every step of the recipe, in order", async (context) => {
    const scene = await Scene.at(context);
    const { beat, zksh } = await scene.holding(["--why", "release 42"]);
    const waiter = scene.start(["-v", "lock", "-w", "1m", LOCK, "--", "true"]);
    await scene.queue(2);
    await eventually(() => expect(waiter.stderr).toContain("watching"));
    beat.end();
    await zksh.result;
    const { stderr } = await waiter.result;
    const steps = [
      " {2}ticket {4}lock-0000000001 created \\(ephemeral, sequential\\)",
      " {2}queue {5}1 ahead: \\S+@\\S+ holds it( since \\S+)?; you are next",
      " {2}watching {2}lock-0000000000, the one right before \\(\\S+@\\S+\\)",
      " {2}gone {6}lock-0000000000 \\(\\S+@\\S+(, held \\S+)?\\)",
      "acquired /l after \\S+, token \\d+",
      "started process \\d+",
      "ended with code 0",
      "released /l",
    ];
    // Since when it is held is told when it is known: the queue is then told again, behind what is
    // watched.
    const lines = stderr
      .split("\n")
      .filter(
        (line, index, all) => !line.startsWith("  queue") || all[index - 1]?.startsWith("  ticket"),
      );
    expect(lines.join("\n")).toMatch(new RegExp(`^${steps.join("\n")}\n$`));
  });

  it("--json: one event a line, in order, and stdout is still the program's", async (context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["--json", "lock", LOCK, "--", "echo", "out"]);
    expect(String(ran.stdout)).toBe("out\n");
    const events = eventsOf(ran);
    expect(events.map(({ event }) => event)).toEqual([
      "queued",
      "acquired",
      "started",
      "child_exit",
      "released",
    ]);
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
  const zksh = scene.start(["lock", LOCK, "--", "sh", "-c", "env | grep -A1 ^ZK_; read line"], {
    env,
  });
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
      [LOCK, token, "exclusive", node, `0x${stat?.ephemeralOwner.toString(16)}`].join("\t"),
    ]),
  );
});

it("the ticket names the program, never its arguments", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start([
    "lock",
    "--why",
    "backup",
    LOCK,
    "--",
    "sh",
    "-c",
    "read line; # secret",
  ]);
  const { data } = await scene.session.getData(await scene.queue(1));
  expect(JSON.parse(String(data))).toMatchObject({
    cmd: "sh",
    why: "backup",
    pid: zksh.pid,
    mode: "exclusive",
  });
  expect(String(data)).not.toContain("secret");
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 1 });
});

it.for([
  { words: ["lock"], below: LOCK },
  { words: ["sem", "--limit", "1"], below: `${LOCK}/leases` },
])(
  "$words: the ticket soon tells since when it holds, and not since when it tells",
  async ({ words, below }, context) => {
    const scene = await Scene.at(context);
    const beat = scene.beat();
    const zksh = scene.start(["--json", ...words, LOCK, "--", ...beat.command()]);
    await beat.started(zksh);
    const [name] = await scene.session.getChildren(below);
    const acquired = await eventually(async () => {
      const { data } = await scene.session.getData(`${below}/${name}`);
      return JSON.parse(String(data)).acquired ?? false;
    });
    beat.end();
    const event = eventsOf(await zksh.result).find((one) => one.event === "acquired");
    expect(Math.abs(Date.parse(acquired) - Date.parse(String(event?.at)))).toBeLessThan(500);
  },
);

describe("signals", () => {
  it("signals to zksh reach the program, and its exit code becomes ours", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding();
    for (const signal of ["SIGHUP", "SIGUSR1", "SIGINT", "SIGTERM"] as const) {
      zksh.kill(signal);
      await eventually(() => expect(beat.signals.at(-1)).toBe(signal));
    }
    expect(await zksh.result).toMatchObject({ code: 0, signal: null, stderr: "" });
    expect(beat.signals).toEqual(["SIGHUP", "SIGUSR1", "SIGINT", "SIGTERM"]);
  });

  it("a second signal starts the grace of a program that ignores the first one", async (context) => {
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

  it("a signal between the lock and the start prevents the start", async (context) => {
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

test("every code of the second table has a test", () => {
  const files = ["lock-child", "lock-end", "lock-waiting", "lock-lost"].map((name) =>
    readFileSync(`${import.meta.dirname}/${name}.integration.test.ts`, "utf8"),
  );
  const missing = Object.values(LockExitCode).filter(
    (code) => !files.join().includes(`code: ${code}`),
  );
  expect(missing).toEqual([]);
});
