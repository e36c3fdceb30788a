import { describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { runReal } from "../../../commands/run-real.ts";
import { startFakeServer } from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";

async function embedded(): Promise<string> {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  return server.address;
}

describe("a limit for requests", () => {
  test("refuses a longer one before it is sent, and the session goes on with the others", async () => {
    const session = openFor(await embedded(), { maxRequestBytes: 1_000 });
    const [short, long, next] = await Promise.allSettled([
      session.create("/a", Buffer.alloc(800)),
      session.create("/b", Buffer.alloc(1_000)),
      session.create("/c", null),
    ]);
    expect([short.status, next.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(long).toMatchObject({
      reason: {
        reason: "request-too-large",
        name: "UsageError",
        message: expect.stringContaining("servers accept only 1000"),
      },
    });
    expect(await session.exists("/b")).toBeUndefined();
  });

  test("is exact: a request as long as the limit leaves", async () => {
    const session = openFor(await embedded());
    // xid, opcode; the path with its length; the data's length; the ACL; the mode.
    const bytes = 8 + 6 + 4 + 1_000 + (4 + 4 + 4 + 5 + 4 + 6) + 4;
    const limited = openFor(await embedded(), { maxRequestBytes: bytes });
    await session.create("/a", null);
    expect(await limited.create("/a", Buffer.alloc(1_000))).toBe("/a");
    expect(await rejection(limited.create("/b", Buffer.alloc(1_001)))).toMatchObject({
      reason: "request-too-large",
    });
  });
});

describe("--max-request", () => {
  test("data larger than servers take is refused with exit code 2 and the limit", async () => {
    const address = await embedded();
    const stdin = Buffer.alloc(1_048_576, "x");
    const sentence =
      "error: the request for /a has 1048625 bytes, but servers accept only 1048575 (jute.maxbuffer)\n" +
      "  if jute.maxbuffer of the servers is larger, raise the limit with --max-request SIZE\n";
    expect(await runReal(address, ["create", "/a", "-"], { stdin })).toEqual({
      exit: 2,
      stdout: "",
      stderr: sentence,
    });
    const fits = Buffer.alloc(1_048_000, "x");
    expect(await runReal(address, ["create", "/a", "-"], { stdin: fits })).toMatchObject({
      exit: 0,
    });
    expect(await runReal(address, ["set", "/a", "-"], { stdin })).toMatchObject({ exit: 2 });
  });

  test("raises the limit, and is passed on as ZKSH_MAX_REQUEST", async () => {
    const server = await startFakeServer({
      onRequest: ({ opcode }, reply) => opcode === 1 && reply.ok(hex("00000002 2f61")),
    });
    onTestFinished(() => server.close());
    const stdin = Buffer.alloc(2_000_000, "x");
    const raised = ["--max-request", "4m", "create", "/a", "-"];
    expect(await runReal(server.address, raised, { stdin })).toMatchObject({
      exit: 0,
      stdout: "/a\n",
    });
    const env = { ZKSH_MAX_REQUEST: "4m" };
    expect(await runReal(server.address, ["create", "/a", "-"], { stdin, env })).toMatchObject({
      exit: 0,
    });
  });
});

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}
