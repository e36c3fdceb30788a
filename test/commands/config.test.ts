import { describe, expect, test } from "vitest";
import { run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const CONFIG = `\
server.1=127.0.0.1:22001:22101:participant;127.0.0.1:22201
server.2=127.0.0.1:22002:22102:participant;127.0.0.1:22202
server.3=127.0.0.1:22003:22103:participant;127.0.0.1:22203
version=100000000`;

async function show(...argv: string[]): Promise<string> {
  const session = new StubSession();
  session.config = CONFIG;
  return (await run(argv, { session })).stdout;
}

describe("config", () => {
  test("writes the text", async () => {
    expect(await show("config")).toBe(`${CONFIG}\n`);
    expect(await show("-o", "zkcli", "config")).toBe(`${CONFIG}\n`);
  });

  test("-c writes the version and the clients' addresses", async () => {
    expect(await show("config", "-c")).toBe(
      "100000000 127.0.0.1:22201,127.0.0.1:22202,127.0.0.1:22203\n",
    );
  });

  test("-c has Java's order as zkCli", async () => {
    const order = "100000000 127.0.0.1:22202,127.0.0.1:22201,127.0.0.1:22203\n";
    expect(await show("-o", "zkcli", "config", "-c")).toBe(order);
  });

  test("-s writes the stat too", async () => {
    expect(await show("config", "-s")).toMatch(
      /^server\.1=.*\n.*\n.*\nversion=100000000\n(\w+ = .*\n){11}$/,
    );
  });

  test("JSON has both, and the fields of the text", async () => {
    expect(JSON.parse(await show("--json", "config"))).toMatchObject({
      version: "100000000",
      servers: [
        { key: "server.1", client: "127.0.0.1:22201" },
        { key: "server.2", client: "127.0.0.1:22202" },
        { key: "server.3", client: "127.0.0.1:22203" },
      ],
      text: CONFIG,
      stat: { version: 0 },
    });
  });

  test("a standalone server has none", async () => {
    expect((await run(["config"])).stdout).toBe("");
    expect((await run(["-o", "zkcli", "config"])).stdout).toBe("\n");
    expect((await run(["-o", "zkcli", "config", "-c"])).stdout).toBe(" \n");
  });

  test("a one-shot cannot watch", async () => {
    const { stderr, exit } = await run(["config", "-w"]);
    expect([stderr, exit]).toEqual([
      "error: a one-shot command ends before a watch could fire\n  -w works only inside the shell; watch PATH keeps running\n",
      2,
    ]);
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["config"]);
    expect(session.asked.slice(0, 2)).toEqual(["getConfig ", "close"]);
  });
});
