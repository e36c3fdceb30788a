import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Io, Output } from "../../../src/io/io.ts";
import type { ChildEnd, ShellChild } from "../../../src/processes/child-requests.ts";
import { PagedScreen } from "../../../src/shell/sinks/paged-screen.ts";
import { memoryIo } from "../../commands/memory-io.ts";
import { deferred, eventually } from "../../support/eventually.ts";

const ROWS = 5;

/** A terminal of five lines, and a pager that keeps what it gets. */
function screen({ hasPager = true } = {}) {
  const io = memoryIo({ tty: true, columns: 10 });
  const stdout: Output = Object.assign(io.stdout, { rows: ROWS });
  const world: Io = Object.create(io, { stdout: { value: stdout } });
  const paged: Buffer[] = [];
  const ended = deferred<ChildEnd>();
  const seen = { quits: 0, starts: 0 };
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      paged.push(chunk);
      done();
    },
  });
  stdin.on("finish", () => ended.resolve({ code: 0 }));
  const child: ShellChild = { stdin, ended: ended.promise, stop() {} };
  const under = new PagedScreen({
    io: world,
    async start() {
      seen.starts += 1;
      return hasPager ? child : undefined;
    },
    onQuit() {
      seen.quits += 1;
    },
  });
  const write = (text: string, to: "stdout" | "stderr" = "stdout") =>
    world.writer.write(under[to], text);
  return {
    under,
    write,
    seen,
    quit: () => ended.resolve({ code: 0 }),
    shown: () => io.written.stdout.toString(),
    said: () => io.written.stderr,
    paged: () => Buffer.concat(paged).toString(),
  };
}

describe("the paged screen", () => {
  test("shows short results on the terminal, without a pager", async () => {
    const { under, write, shown, seen } = screen();
    await write("1\n2\n3\n4\n");
    expect(shown()).toBe("");
    await under.finish();
    expect({ shown: shown(), ...seen }).toEqual({ shown: "1\n2\n3\n4\n", starts: 0, quits: 0 });
  });

  test.each(["1\n2\n3\n4\n5\n", `1\n${"wide ".repeat(8)}\n`])(
    "gives all of %j to the pager",
    async (text) => {
      const { under, write, shown, paged } = screen();
      await write(text.slice(0, 3));
      await write(text.slice(3));
      await write("more\n");
      await under.finish();
      expect({ shown: shown(), paged: paged() }).toEqual({ shown: "", paged: `${text}more\n` });
    },
  );

  test("shows slow results soon, and takes them back when the pager starts", async () => {
    const { under, write, shown, paged } = screen();
    await write("1\n2\n");
    await eventually(() => expect(shown()).toBe("1\n2\n"));
    await write("3\n");
    expect(shown()).toBe("1\n2\n3\n");
    await write("4\n5\n");
    await under.finish();
    expect(shown()).toBe("1\n2\n3\n\x1b[3A\r\x1b[J");
    expect(paged()).toBe("1\n2\n3\n4\n5\n");
  });

  test("shows everything where there is no pager", async () => {
    const { under, write, shown } = screen({ hasPager: false });
    await write("1\n2\n3\n4\n5\n6\n");
    await write("7\n");
    await under.finish();
    expect(shown()).toBe("1\n2\n3\n4\n5\n6\n7\n");
  });

  test("tells that the pager was left, and keeps messages until then", async () => {
    const { under, write, said, seen, quit } = screen();
    await write("1\n2\n3\n4\n5\n6\n");
    await write("a message\n", "stderr");
    expect(said()).toBe("");
    quit();
    await eventually(() => seen.quits === 1);
    await under.finish();
    expect(said()).toBe("a message\n");
  });
});
