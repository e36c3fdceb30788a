/**
 * What a neighbour writes into names and tickets never reaches a terminal, or a line of text, as
 * control characters.
 */
import { PassThrough, Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import type { Io } from "../../src/io/io.ts";
import { main } from "../../src/main.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { eventually } from "../support/eventually.ts";
import { startFakeServer } from "../support/fake-server.ts";
import { openFor } from "../support/open-session.ts";
import { memoryIo } from "./memory-io.ts";
import { runReal } from "./run-real.ts";

const TICKET = "_c_00000000-0000-0000-0000-000000000000-lock-0000000000";
const OSC_52 = "\u001b]52;c;cm0gLXJmIH4=\u0007";
// The control characters that a name may have are none; these it may have.
const INVISIBLE = "\u200b\u061c\u202e";

let server: Awaited<ReturnType<typeof startEmbeddedServer>>;
let session: Session;

beforeAll(async () => {
  server = await startEmbeddedServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  session = openFor(server.address);
  for (const path of ["/l", "/tree"]) {
    for (const name of await session.getChildren(path).catch(() => []))
      await session.delete(`${path}/${name}`);
    await session.create(path, null).catch(() => {});
  }
});

/** Runs a command on a terminal until it asks, answers no, and gives what the terminal was sent. */
async function asked(argv: readonly string[], question: string): Promise<string> {
  let shown = "";
  const stdin = new PassThrough();
  const stream = new Writable({
    write(chunk, _encoding, done) {
      shown += chunk;
      done();
    },
  });
  Object.assign(stream, { isTTY: true, columns: 200 });
  const stderr = { stream, isTTY: true, columns: 200, colorLevel: 0 } as const;
  const io: Io = { ...memoryIo({ tty: true, stdin }), stderr };
  const ended = main({ programName: "zksh", argv: ["-s", server.address, ...argv] }, io, {
    openSession: async (options) => openSession(options),
    onSignal: () => () => {},
  });
  await eventually(() => expect(shown).toContain(question));
  stdin.write("n\r");
  expect(await ended).toBe(9);
  return shown;
}

/** Escape sequences of inquirer's own, such as cursor movements and colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN = /\u001b\[[0-9;?]*[A-Za-z]/g;

function expectHarmless(shown: string): void {
  expect(shown.replace(OWN, "")).not.toMatch(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u061c\u202e]/,
  );
}

describe("a question", () => {
  test("of revoke --force escapes a hostile record", async () => {
    const record = { v: 1, tool: "z", who: `ann${OSC_52}`, pid: 1 };
    await session.create(`/l/${TICKET}`, Buffer.from(JSON.stringify(record)));
    const shown = await asked(["revoke", "--force", "/l"], "Take /l away from ann");
    expect(shown).toContain("ann\\x1b]52;c;cm0gLXJmIH4=\\x07");
    expectHarmless(shown);
  });

  test.each([
    { argv: ["deleteall", "/tree"], question: "Delete /tree" },
    { argv: ["setAcl", "-R", "/tree", "world:anyone:r"], question: "Set the ACL of /tree" },
  ])("of $argv.0 about hostile names", async ({ argv, question }) => {
    await session.create(`/tree/a${INVISIBLE}`, null);
    const shown = await asked(argv, question);
    expect(shown).toContain("a\\u200b\\u061c\\u202e");
    expectHarmless(shown);
  });

  test("names no child in full that is longer than a line", async () => {
    await session.create(`/tree/${"x".repeat(5_000)}`, null);
    expect((await asked(["deleteall", "/tree"], "Delete /tree")).length).toBeLessThan(2_000);
  });
});

test("elect --leader in a pipe escapes a hostile record", async () => {
  const record = { v: 1, tool: "z", who: `eve${OSC_52}\nroot`, pid: 1 };
  await session.create(
    "/l/_c_00000000-0000-0000-0000-000000000000-latch-0000000000",
    Buffer.from(JSON.stringify(record)),
  );
  const { stdout } = await runReal(server.address, ["elect", "--leader", "/l"]);
  expect(stdout).toBe("eve\\x1b]52;c;cm0gLXJmIH4=\\x07\\x0aroot pid 1\n");
});

test("the status file of a lock escapes names, because it may be a terminal", async () => {
  const record = { v: 1, tool: "z", who: "ann\u009b2J\u202e\u200b", pid: 1 };
  await session.create(`/l/${TICKET}`, Buffer.from(JSON.stringify(record)));
  let file = "";
  const memory = memoryIo();
  const write = async (_path: string, data: string) => {
    file = data;
  };
  const io: Io = { ...memory, files: { ...memory.files, write } };
  const argv = ["-s", server.address, "lock", "-w", "2s", "--status-file", "f", "/l", "--", "true"];
  await main({ programName: "zksh", argv }, io, {
    openSession: async (options) => openSession(options),
    onSignal: () => () => {},
  });
  expect(file).toContain("ann\\u009b2J\\u202e\\u200b pid 1");
  expectHarmless(file);
});

test("a trace of --debug escapes paths", async () => {
  const fake = await startFakeServer({
    onRequest: ({ opcode }, reply) => (opcode === 8 ? reply.error(-101) : false),
  });
  try {
    const { stderr } = await runReal(fake.address, ["--debug", "ls", `/a${INVISIBLE}`]);
    expect(stderr).toContain("/a\\u200b\\u061c\\u202e");
    expectHarmless(stderr);
  } finally {
    await fake.close();
  }
});

test("ls in a pipe escapes names", async () => {
  const fake = await startFakeServer({
    onRequest: ({ opcode }, reply) =>
      opcode === 8 ? reply.ok(listing([`a${OSC_52}\nb`, "c"])) : false,
  });
  try {
    const { stdout } = await runReal(fake.address, ["ls", "/"]);
    expect(stdout).toBe("a\\x1b]52;c;cm0gLXJmIH4=\\x07\\x0ab\nc\n");
  } finally {
    await fake.close();
  }
});

function listing(names: readonly string[]): Buffer {
  const int = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  return Buffer.concat([
    int(names.length),
    ...names.flatMap((name) => [int(Buffer.byteLength(name)), Buffer.from(name)]),
  ]);
}
