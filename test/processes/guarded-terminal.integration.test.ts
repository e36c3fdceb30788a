import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import {
  environment,
  guardingCommand,
  kill,
  killLeftovers,
  leftovers,
  wordsIn,
} from "./guarding.ts";

const env = { ZKSH_TEST_MARK: environment.ZKSH_TEST_MARK };
const directory = temporaryDirectory("guarded-terminal");
let terminals: Terminals;
let file = "";
let count = 0;

beforeAll(async () => {
  terminals = await startTerminals();
});

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

afterAll(async () => {
  await terminals.stop();
  removeDirectory(directory);
});

/** Guards a shell script in a terminal; what the guard says is in `FILE.log`. */
function command(script: string) {
  return guardingCommand({ group: "auto", argv: ["sh", "-c", script], log: `${file}.log` });
}

/** Writes the name of each signal it gets, and goes on until SIGTERM. */
function recorder(): string {
  const traps = ["INT", "QUIT", "USR1", "WINCH"].map(
    (name) => `trap 'echo ${name} >> ${file}' ${name}`,
  );
  return `${traps.join("; ")}; trap 'exit 5' TERM; echo ready > ${file}; while :; do sleep 0.05; done`;
}

function said(): { modes?: string; signal?: string; pid?: number; hasOwnGroup?: boolean }[] {
  return wordsIn(`${file}.log`).map((line) => JSON.parse(line));
}

async function started(): Promise<{ pid: number; guard: number }> {
  const pid = await eventually(() => said().find((line) => line.pid)?.pid ?? false);
  return { pid, guard: await eventually(() => findProcess(pid)?.parent ?? false) };
}

test.each([
  { key: "C-c", name: "INT" },
  { key: "C-\\", name: "QUIT" },
])("$key tells the program once, and us", async ({ key, name }) => {
  // The shell around us must live on to tell how it went.
  const terminal = await terminals.open({
    command: command(recorder()),
    env,
    before: "trap : INT QUIT",
  });
  await eventually(() => expect(wordsIn(file)).toEqual(["ready"]));
  await eventually(() => expect(said()[1]).toMatchObject({ hasOwnGroup: false }));
  await terminal.press(key);
  await eventually(() => expect(wordsIn(file)).toEqual(["ready", name]));
  await eventually(() => expect(said().at(-1)).toEqual({ signal: `SIG${name}` }));
  // Had the first one been passed on, it would be here before this one.
  kill(terminal.pid, "SIGUSR1");
  await eventually(() => expect(wordsIn(file)).toContain("USR1"));
  expect(wordsIn(file)).toEqual(["ready", name, "USR1"]);
  kill(terminal.pid, "SIGTERM");
  await terminal.left();
});

test("the program can read from the terminal it shares", async () => {
  const terminal = await terminals.open({
    command: command(`read -r word < /dev/tty; echo "got $word"`),
    env,
  });
  await eventually(() => expect(said()).toHaveLength(2));
  await terminal.enter("something");
  await terminal.shows("got something");
  await terminal.left();
});

test.each([
  { how: "was killed", script: "stty raw -echo; kill -9 $$" },
  {
    how: "was killed in the foreground's place",
    script: "set -m; (stty raw -echo; kill -9 $$); :",
  },
])("a terminal is as it was after a program that $how", async ({ script }) => {
  const terminal = await terminals.open({ command: command(script), env });
  await terminal.left();
  const [before, after] = said().flatMap(({ modes }) => modes ?? []);
  expect(before).toMatch(/^[0-9a-f:]+$/);
  expect(after).toBe(before);
});

test("Ctrl-Z stops the program and us, fg lets both go on", async () => {
  const terminal = await terminals.open({ command: ["sh", "-i"], env: { ...env, PS1: "ready> " } });
  await terminal.endsWith("ready>");
  await terminal.enter(command(recorder()).map(quote).join(" "));
  await eventually(() => expect(wordsIn(file)).toEqual(["ready"]));
  const { pid, guard } = await started();
  const states = () => [guard, pid].map((one) => findProcess(one)?.state);
  await terminal.press("C-z");
  // A shell that was just starting a program is blocked by it instead.
  await eventually(() =>
    expect(states()).toEqual(["stopped", expect.stringMatching(/stopped|blocked/)]),
  );
  await terminal.endsWith("ready>");
  expect(said().at(-1)).toEqual({ signal: "SIGTSTP" });
  await terminal.enter("fg");
  await eventually(() => expect(states()).toEqual(["running", "running"]));
  kill(guard, "SIGTERM");
  await eventually(() => expect(findProcess(guard)).toBeUndefined());
  await terminal.enter("exit");
  await terminal.left();
});

test("Ctrl-Z does not stop us when the program goes on", async () => {
  const terminal = await terminals.open({ command: ["sh", "-i"], env: { ...env, PS1: "ready> " } });
  await terminal.endsWith("ready>");
  await terminal.enter(command(`trap '' TSTP; ${recorder()}`).map(quote).join(" "));
  await eventually(() => expect(wordsIn(file)).toEqual(["ready"]));
  const { guard } = await started();
  await terminal.press("C-z");
  await eventually(() => expect(said().at(-1)).toEqual({ signal: "SIGTSTP" }));
  // Longer than any program is waited for.
  await sleep(1_200);
  kill(guard, "SIGTERM");
  await eventually(() => expect(findProcess(guard)).toBeUndefined());
  await terminal.enter("exit");
  await terminal.left();
});

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
