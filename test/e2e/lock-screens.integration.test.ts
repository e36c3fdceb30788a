/** The recipe live, on real terminals of 80 columns: what docs/locks.md shows. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { LOCK, Scene } from "./lock-scene.ts";

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

const WHO = "\\S+@\\S+";

/**
 * A terminal of its own with `zksh COMMAND`; the program under the lock ends when its file is
 * there.
 */
async function start(scene: Scene, words: readonly string[], columns = 80) {
  const beat = scene.beat();
  const args = ["-s", scene.server, ...words, LOCK, "--", ...beat.command()];
  const terminal = await terminals.open({ args, columns, before: "trap : INT" });
  return { beat, terminal, end: () => beat.end() };
}

/** The screen in one line, so that it does not matter where lines were wrapped. */
async function says(terminal: Terminal, wanted: string, timeoutMs = 10_000): Promise<void> {
  await eventually(
    async () => expect((await terminal.screen()).replace(/\s+/g, " ")).toMatch(new RegExp(wanted)),
    {
      timeoutMs,
    },
  );
}

/** Without the spinner's line, which is repainted, and with ages and names made the same. */
async function finalScreen(terminal: Terminal): Promise<string[]> {
  const screen = await terminal.screen();
  expect(screen.split("\n").filter((line) => line.length > 80)).toEqual([]);
  return (
    screen
      .replace(/\n\[left with \d+\]$/, "")
      // Where a line is wrapped depends on how long the name of this host is.
      .replace(/\n {12}/g, " ")
      .replace(/\d+m?s\b/g, "Ns")
      .replace(/token \d+/g, "token N")
      .replace(/ pid \d+/g, "")
      .replace(/[\w.-]+@[\w.-]+/g, "WHO")
      .split("\n")
  );
}

test("lock: three waiters, from the first to the last", async (context) => {
  const scene = await Scene.at(context);
  const holder = await start(scene, ["lock", "--why", "release 42"]);
  await holder.beat.started();
  const waiters = [];
  for (let n = 1; n <= 3; n++) {
    waiters.push(await start(scene, ["lock", "-w", "60s"]));
    await scene.queue(n + 1);
  }
  const [first, second, third] = waiters as [typeof holder, typeof holder, typeof holder];
  await says(
    first.terminal,
    `held \\d+m?s by ${WHO} pid \\d+ python3 "release 42"; you are next \\(2 more behind you\\); gives up`,
  );
  await says(
    third.terminal,
    `waiting \\d+m?s for /l: held \\d+m?s by .* "release 42"; 3 ahead; gives up in \\d+s`,
  );
  holder.end();
  await holder.terminal.left();
  expect(await finalScreen(holder.terminal)).toEqual([
    "✔ acquired /l: lock-0000000000, nobody ahead, token N",
  ]);
  await first.beat.started();
  await says(third.terminal, "2 ahead; gives up", 2_500);
  first.end();
  await second.beat.started();
  await says(third.terminal, "you are next; gives up", 2_500);
  second.end();
  await third.beat.started();
  third.end();
  for (const { terminal } of waiters) expect(await terminal.left()).toMatchObject({ code: 7 });
  expect(await finalScreen(first.terminal)).toEqual([
    "  ticket    lock-0000000001 created (ephemeral, sequential)",
    expect.stringMatching(/^ {2}queue {5}1 ahead: WHO holds it( since Ns)?; you are next$/),
    "  watching  lock-0000000000, the one right before (WHO)",
    "  gone      lock-0000000000 (WHO, held Ns)",
    "✔ acquired /l after Ns, token N",
  ]);
  expect(await finalScreen(third.terminal)).toEqual([
    "  ticket    lock-0000000003 created (ephemeral, sequential)",
    expect.stringMatching(/^ {2}queue {5}3 ahead: WHO holds it( since Ns)?, WHO and WHO wait$/),
    "  watching  lock-0000000002, the one right before (WHO)",
    "  gone      lock-0000000000 (WHO, held Ns)",
    expect.stringMatching(/^ {2}gone {6}lock-0000000001 \(WHO(, held Ns)?\)$/),
    expect.stringMatching(/^ {2}gone {6}lock-0000000002 \(WHO(, held Ns)?\)$/),
    "✔ acquired /l after Ns, token N",
  ]);
});

test("rwlock: a writer behind two readers is next, and a reader behind it waits for it", async (context) => {
  const scene = await Scene.at(context);
  const readers = [await start(scene, ["rwlock", "read"]), await start(scene, ["rwlock", "read"])];
  for (const { beat } of readers) await beat.started();
  const writer = await start(scene, ["rwlock", "write"]);
  await scene.queue(3);
  const late = await start(scene, ["rwlock", "read"]);
  await says(
    writer.terminal,
    `2 ahead: ${WHO} pid \\d+ reads.*, ${WHO} pid \\d+ reads.*; you are next`,
  );
  await says(
    writer.terminal,
    `waiting \\d+m?s to write /l: held by readers ${WHO} pid \\d+ and ${WHO} pid \\d+; you are next`,
  );
  await says(late.terminal, `1 ahead: ${WHO} .*waits to write \\(${WHO} pid \\d+ reads`);
  await says(late.terminal, "watching __WRIT__0000000002, the nearest writer before");
  for (const { end } of readers) end();
  await writer.beat.started();
  await says(late.terminal, `held \\d+m?s by writer ${WHO} pid \\d+ python3; you are next`, 2_500);
  writer.end();
  await late.beat.started();
  late.end();
  await late.terminal.left();
  expect((await finalScreen(writer.terminal)).at(-1)).toBe(
    "✔ acquired /l to write after Ns, token N",
  );
  expect((await finalScreen(late.terminal)).at(-1)).toBe("✔ acquired /l to read after Ns, token N");
});

test("sem: two of two permits taken, both holders named, and the queue", async (context) => {
  const scene = await Scene.at(context);
  const sem = ["sem", "--limit", "2"];
  const holders = [await start(scene, sem)];
  await holders[0]?.beat.started();
  holders.push(await start(scene, sem));
  await holders[1]?.beat.started();
  const third = await start(scene, sem);
  await says(third.terminal, `2 of 2 taken by ${WHO} pid \\d+ and ${WHO} pid \\d+; you are next`);
  const fourth = await start(scene, sem);
  await says(fourth.terminal, `2 of 2 taken by ${WHO} pid \\d+ and ${WHO} pid \\d+; 1 ahead`);
  for (const { end } of [...holders, third, fourth]) end();
  for (const { terminal } of [...holders, third, fourth])
    expect(await terminal.left()).toMatchObject({ code: 7 });
  expect(await finalScreen(holders[1]?.terminal as Terminal)).toEqual([
    "✔ acquired a permit of /l: lease-0000000001, 2 of 2 taken, token N",
  ]);
});

test("elect: who leads, and the place in line", async (context) => {
  const scene = await Scene.at(context);
  const leader = await start(scene, ["elect"]);
  await leader.beat.started();
  const next = await start(scene, ["elect"]);
  await says(
    next.terminal,
    `waiting \\d+m?s to lead /l: led \\d+m?s by ${WHO} pid \\d+ python3; you are next`,
  );
  leader.end();
  await next.beat.started();
  next.end();
  await next.terminal.left();
  expect(await finalScreen(leader.terminal)).toEqual([
    "✔ leading /l: latch-0000000000, nobody ahead, token N",
  ]);
  expect((await finalScreen(next.terminal)).at(-1)).toBe("✔ leading /l after Ns, token N");
});

test("at 40 columns no line breaks in the middle of a word", async (context) => {
  const scene = await Scene.at(context);
  const holder = await start(scene, ["lock"]);
  await holder.beat.started();
  const waiter = await start(scene, ["lock", "-w", "60s"], 40);
  await says(waiter.terminal, "you are next; gives up in \\d+s");
  const screen = await waiter.terminal.screen();
  expect(screen.split("\n").filter((line) => line.length > 40)).toEqual([]);
  expect(screen).toContain(
    "  ticket    lock-0000000001 created\n            (ephemeral, sequential)\n",
  );
  holder.end();
  await waiter.beat.started();
  waiter.end();
  await waiter.terminal.left();
});

test.for([
  {
    words: ["lock"],
    operations: [
      "create -s -e /l/_c_",
      "ls /l",
      "get -w /l/_c_",
      "event NodeDeleted",
      "delete /l/_c_",
    ],
  },
  {
    words: ["rwlock", "write"],
    operations: ["create -s -e /l/_c_", "ls /l", "get -w /l/_c_", "delete /l/_c_"],
  },
  {
    words: ["rwlock", "read"],
    operations: ["ls /l", "get -w /l/_c_"],
    holder: ["rwlock", "write"],
  },
  {
    words: ["sem", "--limit", "1"],
    operations: [
      "create -s -e /l/leases/_c_",
      "ls /l/leases",
      "create -s -e /l/locks/_c_",
      "ls /l/locks",
      "ls -w /l/leases",
    ],
  },
  { words: ["elect"], operations: ["create -s -e /l/_c_", "ls /l", "get -w /l/_c_"] },
  {
    words: ["lock", "--recipe", "unique"],
    operations: ["create -e /l", "get /l", "get -w /l", "delete /l"],
  },
])(
  "$words --explain: numbered, each operation as one would type it",
  async ({ words, operations, holder }, context) => {
    const scene = await Scene.at(context);
    const first = await start(scene, holder ?? words);
    await first.beat.started();
    const explained = await start(scene, [...words, "--explain"]);
    await says(explained.terminal, "A watch \\(-w\\) makes the server tell us");
    first.end();
    await explained.beat.started();
    explained.end();
    await explained.terminal.left();
    const screen = await explained.terminal.screen();
    const numbered = screen
      .split("\n")
      .flatMap((line) => /^ ?(\d+) {2}(.*)/.exec(line)?.slice(1, 3) ?? []);
    expect(numbered.filter((_, index) => index % 2 === 0)).toEqual(
      numbered.filter((_, i) => i % 2 === 1).map((_, i) => String(i + 1)),
    );
    for (const operation of operations)
      expect(
        numbered.some((text) => text.startsWith(operation)),
        operation,
      ).toBe(true);
    expect(screen.split("\n").filter((line) => line.length > 80)).toEqual([]);
  },
);

test("at the prompt: several locks at once, --explain, what is held, and what quit releases", async (context) => {
  const scene = await Scene.at(context);
  const terminal = await terminals.open({ args: ["-s", scene.server], columns: 80 });
  await terminal.shows("connected to");
  await terminal.enter("lock /m/a /m/b");
  await terminal.shows(
    /✔ acquired \/m\/a: lock-0000000000, nobody ahead, token \d+\n✔ acquired \/m\/b: lock-0/,
  );
  await terminal.enter("rwlock write /m/c --explain");
  await terminal.shows("A writer must be alone");
  await terminal.enter("elect /m/d");
  await terminal.shows("✔ leading /m/d: latch-0000000000, nobody ahead");
  expect(await terminal.screen()).not.toMatch(/Locked/);
  await terminal.enter("lock");
  await terminal.shows(
    /PATH +MODE +SINCE +TOKEN +TIMES\n\/m\/a +exclusive .*\n\/m\/b +exclusive .*\n\/m\/c +write .*\n\/m\/d +leader/,
  );
  await terminal.type("unlock ");
  await terminal.press("Tab");
  await terminal.endsWith("unlock /m/");
  await terminal.press("Tab");
  await terminal.shows("/m/a  /m/b  /m/c  /m/d");
  await terminal.enter("c --explain");
  await terminal.shows(/delete \/m\/c\/_c_[0-9a-f]{4}…-__WRIT__0000000000\n {4}→ deleted/);
  await terminal.shows("Unlocked /m/c");
  await terminal.enter("quit");
  await terminal.shows("releasing /m/a, /m/b, /m/d");
  expect(await terminal.left()).toMatchObject({ code: 0 });
});

test("without a command it says how to release the lock, and Ctrl-D does", async (context) => {
  const scene = await Scene.at(context);
  const terminal = await terminals.open({ args: ["-s", scene.server, "lock", LOCK], columns: 80 });
  await terminal.shows(/^✔ holding \/l, token \d+; Ctrl-D releases it$/);
  await terminal.press("C-d");
  expect(await terminal.left()).toMatchObject({ code: 0 });
});
