import { afterEach, describe, expect, test } from "vitest";
import { serve } from "../../src/commands/serve.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { renderAll } from "./render-all.ts";
import { run } from "./run.ts";

const started: EmbeddedServer[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

describe("serve", () => {
  test("ends in order when it is told to, with exit code 0", async () => {
    const { stdout, stderr, exit } = await run(["serve", "--port", "0"], { signal: "SIGTERM" });
    expect(stdout).toMatch(/^127\.0\.0\.1:\d+\n$/);
    expect({ stderr, exit }).toEqual({ stderr: "", exit: 0 });
    await expect(fourLetterWord(stdout.trim(), "ruok")).rejects.toThrow(/ECONNREFUSED/);
  });

  test("listens on loopback, where zksh looks, unless told otherwise", () => {
    const asked: unknown[] = [];
    const start = (request: unknown) => {
      asked.push(request);
      return new Promise<never>(() => {});
    };
    const { signal } = new AbortController();
    const context = { server: { start }, signal } as unknown as Parameters<typeof serve.run>[0];
    for (const options of [{}, { port: 1, host: "::1" }]) {
      const results = serve.run(
        context,
        {},
        { port: undefined, host: undefined, saslUsers: undefined, ...options },
      );
      if (Symbol.asyncIterator in results) void results[Symbol.asyncIterator]().next();
    }
    expect(asked).toEqual([
      { port: 2181, host: "127.0.0.1" },
      { port: 1, host: "::1" },
    ]);
  });

  test("warns if the network can connect, but not with -q", async () => {
    const words = ["serve", "--port", "0", "--host", "0.0.0.0"];
    const { stdout, stderr, exit } = await run(words, { signal: "SIGTERM" });
    expect(stderr).toBe(
      `warning: every client that can reach ${stdout.trim()} can read and change all data: the server asks for no password\n`,
    );
    expect(exit).toBe(0);
    expect(await run(["-q", ...words], { signal: "SIGTERM" })).toMatchObject({
      stderr: "",
      exit: 0,
    });
    const json = await run(["--json", ...words], { signal: "SIGTERM" });
    expect(JSON.parse(json.stderr)).toMatchObject({ warning: { reason: "open-server" } });
    expect(JSON.parse(json.stdout)).toMatchObject({ reach: "network" });
  });

  test("prints its address as text and as JSON", async () => {
    expect(await renderAll({ kind: "serving", address: "h:1", reach: "machine" })).toEqual({
      terminal: "Serving on h:1, in memory only, to every user of this machine; Ctrl-C stops it\n",
      pipe: "h:1\n",
      json: '{"address":"h:1","reach":"machine"}\n',
      zkcli: "h:1\n",
    });
    expect(await renderAll({ kind: "serving", address: "h:1", reach: "network" })).toMatchObject({
      terminal:
        "Serving on h:1, in memory only, to every client that can reach it; Ctrl-C stops it\n",
    });
  });

  test("refuses a port that is in use", async () => {
    const server = await startEmbeddedServer();
    started.push(server);
    const { stderr, exit } = await run(["serve", "--port", String(server.port)]);
    expect({ stderr, exit }).toEqual({
      stderr: `error: port ${server.port} is already in use\n  --port 0 uses a free port\n`,
      exit: 1,
    });
  });

  test.each(["70000", "x", "-1"])("refuses port %s", async (port) => {
    const { stderr, exit } = await run(["serve", `--port=${port}`]);
    expect(stderr).toContain(`bad port '${port}'`);
    expect(exit).toBe(2);
  });

  test("users of a file may log in by SASL", async () => {
    const asked: unknown[] = [];
    const start = (request: unknown) => {
      asked.push(request);
      return new Promise<never>(() => {});
    };
    const { signal } = new AbortController();
    const files = {
      async *stream() {
        yield Buffer.from("# ours\n\nbob:bobsecret\r\n");
        yield Buffer.from("ann:a:b c");
      },
    };
    const context = { server: { start }, signal, files };
    const results = serve.run(
      context as unknown as Parameters<typeof serve.run>[0],
      {},
      {
        port: 0,
        host: undefined,
        saslUsers: "users",
      },
    );
    if (Symbol.asyncIterator in results) void results[Symbol.asyncIterator]().next();
    await eventually(() => asked.length > 0);
    const saslUsers = new Map([
      ["bob", "bobsecret"],
      ["ann", "a:b c"],
    ]);
    expect(asked).toEqual([{ port: 0, host: "127.0.0.1", saslUsers }]);
  });

  test.each([
    ["a line without a password", "bob\n", "no user name in line 1 of users (--sasl-users)"],
    ["a line without a name", "\n:secret\n", "no user name in line 2 of users (--sasl-users)"],
    ["a user twice", "bob:secret\nbob:2\n", "a second password for one user in line 2 of users"],
    ["nobody", "# nobody\n", "no user in users (--sasl-users)"],
    ["too much", "b".repeat(1_100_000), "users (--sasl-users) is longer than 1 MiB"],
  ])("refuses a file of users with %s, without repeating it", async (_, users, message) => {
    const words = ["serve", "--port", "0", "--sasl-users", "users"];
    const { stderr, exit } = await run(words, { files: { users } });
    expect(stderr).toContain(`error: ${message}`);
    expect(stderr).not.toContain("secret");
    expect(exit).toBe(2);
  });

  test("refuses a file of users that does not exist", async () => {
    const { stderr, exit } = await run(["serve", "--sasl-users", "/no/such/file"]);
    expect(stderr).toContain("/no/such/file (--sasl-users)");
    expect(exit).toBe(2);
  });
});
