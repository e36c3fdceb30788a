/** Locks on a real terminal: a program under one, and those of the shell. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { isRunning } from "../support/tracked-process.ts";
import { kill, LOCK, Scene } from "./lock-scene.ts";

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

const open = (scene: Scene, ...args: string[]) =>
  // The shell around it must live on to tell how it went.
  terminals.open({ args: ["-s", scene.server, ...args], columns: 80, before: "trap : INT" });

const PROMPT = /zksh \S+ \/ ›/;
const HELD = /zksh \S+ lock:\/l \/ ›/;

test("Ctrl-C sends one SIGINT to the program, and its exit code becomes ours", async (context) => {
  const scene = await Scene.at(context);
  const beat = scene.beat();
  const terminal = await open(scene, "lock", LOCK, "--", ...beat.command());
  await beat.started();
  // Two that come at once could be taken for one: ours is held back until the program has had its
  // own.
  kill(terminal.pid, "SIGSTOP");
  await terminal.press("C-c");
  await eventually(() => expect(beat.signals).toEqual(["SIGINT"]));
  kill(terminal.pid, "SIGCONT");
  // Had the first one been passed on, it would be here before this one.
  kill(terminal.pid, "SIGUSR1");
  await eventually(() => expect(beat.signals).toContain("SIGUSR1"));
  expect(beat.signals).toEqual(["SIGINT", "SIGUSR1"]);
  beat.end();
  expect(await terminal.left()).toMatchObject({ code: 7 });
});

test("Ctrl-Z says how long the lock will be held", async (context) => {
  const scene = await Scene.at(context);
  const beat = scene.beat();
  const terminal = await open(scene, "lock", LOCK, "--", ...beat.command());
  await beat.started();
  await terminal.press("C-z");
  await terminal.shows(/paused while holding \/l: the command is killed in \d+m?s/);
  kill(terminal.pid, "SIGCONT");
  beat.end();
  expect(await terminal.left()).toMatchObject({ code: 7 });
});

test("the program can ask on /dev/tty", async (context) => {
  const scene = await Scene.at(context);
  const ask = 'printf "name? "; read -r name < /dev/tty; echo "hello $name"';
  const terminal = await open(scene, "lock", LOCK, "--", "sh", "-c", ask);
  await terminal.endsWith("name?");
  await terminal.enter("ann");
  await terminal.shows("hello ann");
  expect(await terminal.left()).toMatchObject({ code: 0 });
});

test("a status line names the holder during the wait, then the lock, before the program writes; Ctrl-C ends the wait", async (context) => {
  const scene = await Scene.at(context);
  const held = await new Mutex(scene.session, LOCK, {
    holder: { who: "ann@web3", pid: 4711 },
  }).acquire();
  const [waiter, impatient] = [
    await open(scene, "lock", "-w", "1m", LOCK, "--", "echo", "served"),
    await open(scene, "lock", LOCK, "--", "echo", "never"),
  ];
  await waiter.shows(
    /waiting \d+m?s for \/l: held \d+m?s by ann@web3 pid 4711;[^⠀]*; gives\s+up\s+in\s+\d+s/,
  );
  await impatient.shows(/waiting \d+m?s for \/l: held .* by ann@web3/);
  await impatient.press("C-c");
  expect(await impatient.left()).toMatchObject({ code: 130 });
  await scene.queue(2);
  await held.release();
  expect(await waiter.left()).toMatchObject({ code: 0 });
  expect(await waiter.screen()).toMatch(
    /\n✔ acquired \/l after \d+m?s, token \d+\nserved\n\[left with 0\]$/,
  );
});

test("the shell counts locks, shows them in the prompt, and releases them by unlock and at the end", async (context) => {
  const scene = await Scene.at(context);
  const terminal = await open(scene);
  await terminal.endsWith(PROMPT);
  await terminal.enter(`lock ${LOCK}`);
  await terminal.endsWith(HELD);
  await scene.queue(1);
  await terminal.enter(`lock ${LOCK}`);
  await terminal.shows(/\/l was held already \(token \d+\), now 2 times/);
  expect(await scene.tickets()).toHaveLength(1);
  await terminal.enter(`unlock ${LOCK}`);
  await terminal.endsWith(HELD);
  expect(await scene.tickets()).toHaveLength(1);
  await terminal.enter(`unlock ${LOCK}`);
  await scene.queue(0);
  await terminal.enter(`unlock ${LOCK}`);
  await terminal.shows(`this shell does not hold ${LOCK}`);
  await terminal.enter(`lock ${LOCK}`);
  await scene.queue(1);
  const rival = await scene.rival();
  await terminal.enter("quit");
  expect(await terminal.left()).toMatchObject({ code: 0 });
  await rival.gotAt;
});

test("a signal that ends the shell ends the program under its lock first, and then the shell", async (context) => {
  const scene = await Scene.at(context);
  for (const end of ["SIGTERM", "SIGHUP", "the terminal is closed"] as const) {
    const terminal = await open(scene);
    await terminal.endsWith(PROMPT);
    await terminal.enter("create -e /mine");
    await terminal.shows("Created /mine");
    const beat = scene.beat();
    await terminal.enter(`lock ${LOCK} -- ${beat.command().join(" ")}`);
    await beat.started();
    const { pid } = terminal;
    if (end === "the terminal is closed") await terminal.close();
    else kill(pid, end);
    await eventually(() =>
      expect(beat.signals).toContain(end === "SIGTERM" ? "SIGTERM" : "SIGHUP"),
    );
    beat.end();
    if (end !== "the terminal is closed") {
      expect(await terminal.left()).toMatchObject({ code: end === "SIGTERM" ? 143 : 129 });
    }
    await eventually(() => expect(isRunning(pid)).toBe(false));
    expect(await scene.session.exists("/mine")).toBeUndefined();
    await scene.queue(0);
  }
});

test("a signal that ends a script ends the program under its lock first, also with --keep-going", async (context) => {
  const scene = await Scene.at(context);
  for (const options of [[], ["--keep-going"]]) {
    const beat = scene.beat();
    const zksh = scene.start([
      ...options,
      "-c",
      `lock ${LOCK} -- ${beat.command().join(" ")}; create /after`,
    ]);
    await beat.started();
    kill(zksh.pid, "SIGTERM");
    await eventually(() => expect(beat.signals).toContain("SIGTERM"));
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 143 });
    expect(await scene.session.exists("/after")).toBeUndefined();
  }
});

async function askFor(scene: Scene, node: string): Promise<void> {
  const { data } = await scene.session.getData(node);
  const asked = { ...JSON.parse(String(data)), revoke: { by: "bob@web4", reason: "urgent" } };
  await scene.session.setData(node, Buffer.from(JSON.stringify(asked)));
}

test("the shell releases a revoked lock when no line relies on it, unless an option forbids it", async (context) => {
  const scene = await Scene.at(context);
  const terminal = await open(scene);
  await terminal.endsWith(PROMPT);
  await terminal.enter(`lock ${LOCK}; lock ${LOCK}`);
  await terminal.endsWith(HELD);
  await askFor(scene, await scene.queue(1));
  await terminal.shows(`bob@web4 asked for ${LOCK} (urgent): released`);
  await scene.queue(0);
  await terminal.endsWith(PROMPT);
  // While a line runs.
  await terminal.enter("clear");
  await terminal.enter(`lock ${LOCK}`);
  await terminal.endsWith(HELD);
  await terminal.enter("watch /zookeeper");
  await terminal.shows("watch /zookeeper");
  await askFor(scene, await scene.queue(1));
  await terminal.shows(`asked for ${LOCK} (urgent): it is released at the end of this line`);
  expect(await scene.tickets()).toHaveLength(1);
  await terminal.press("C-c");
  await scene.queue(0);
  await terminal.endsWith(PROMPT);
  // Told to keep it.
  await terminal.enter(`lock --on-revoke ignore ${LOCK}`);
  await terminal.endsWith(HELD);
  await askFor(scene, await scene.queue(1));
  await terminal.shows(`bob@web4 asked for ${LOCK} (urgent): unlock ${LOCK} releases it`);
  expect(await scene.tickets()).toHaveLength(1);
  await terminal.enter("quit");
  await terminal.left();
});

test("a script whose lock is revoked releases it and stops with 121", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start([]);
  zksh.write(`lock ${LOCK}\n`);
  await askFor(scene, await scene.queue(1));
  await scene.queue(0);
  await eventually(() =>
    expect(zksh.stderr).toContain(`bob@web4 asked for ${LOCK} (urgent): released`),
  );
  zksh.write("create /after\n");
  expect(await zksh.result).toMatchObject({ code: 121 });
  expect(zksh.stderr).toContain(`${LOCK} was revoked by bob@web4: urgent`);
  expect(await scene.session.exists("/after")).toBeUndefined();
});

test("the shell reports a lost lock at the prompt", async (context) => {
  const scene = await Scene.at(context);
  const terminal = await open(scene, "-t", "4s");
  await terminal.endsWith(PROMPT);
  await terminal.enter(`lock ${LOCK}`);
  await scene.session.delete(await scene.queue(1));
  await terminal.shows(`lost ${LOCK}: another client deleted its znode`);
  await terminal.endsWith(PROMPT);
  // With its session.
  await terminal.enter(`lock ${LOCK}`);
  await terminal.endsWith(HELD);
  const rival = await scene.rival();
  kill(terminal.pid, "SIGSTOP");
  await rival.gotAt;
  kill(terminal.pid, "SIGCONT");
  await terminal.shows(`lost with it: locks ${LOCK}`);
  await terminal.enter("quit");
  await terminal.left();
});

test("the lines of a script run under its lock, which is released at the end", async (context) => {
  const scene = await Scene.at(context);
  const script = `lock ${LOCK}; lock ${LOCK}; ls ${LOCK}; unlock ${LOCK}; unlock ${LOCK}; ls ${LOCK}; lock ${LOCK}`;
  const { code, stdout } = await scene.run(["-c", script]);
  expect(code).toBe(0);
  expect(String(stdout).match(/_c_\S+-lock-\d+$/gm)?.length).toBeGreaterThan(0);
  await scene.queue(0);
});

test("a script whose lock is lost stops with 120", async (context) => {
  const scene = await Scene.at(context);
  const zksh = scene.start([]);
  zksh.write(`lock ${LOCK}\n`);
  await scene.session.delete(await scene.queue(1));
  await eventually(() => expect(zksh.stderr).toContain(`lost ${LOCK}`));
  zksh.write("create /after\n");
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(await scene.session.exists("/after")).toBeUndefined();
});

test("a script whose lock is lost during its last line ends with 120 too", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create("/w", null);
  const zksh = scene.start(["-c", `lock ${LOCK}; watch -n 1 /w`]);
  await eventually(() => expect(zksh.stdout).not.toBe(""));
  await scene.session.delete(await scene.queue(1));
  await eventually(() => expect(zksh.stderr).toContain(`lost ${LOCK}`));
  await scene.session.setData("/w", Buffer.from("x"));
  expect(await zksh.result).toMatchObject({ code: 120 });
});
