import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { runZksh } from "../support/zksh-process.ts";

const SERVERS: Readonly<Record<string, () => Promise<string[]>>> = {
  "the embedded server": async () => ["--embedded"],
  ZooKeeper: async () => ["-s", await freshChroot()],
};

const TREE = `create -p /app/a/config 1; create -p /app/b/config 2; create -p /app/c/other 3
  create /app/b1 x; create '/app/[x]' brackets; create /app/x ex
  create -p /lit/* star; create /lit/y why; `;

describe.each(Object.keys(SERVERS))("globs on %s", (name) => {
  const run = async (script: string, ...options: string[]) => {
    const server = (await SERVERS[name]?.()) ?? [];
    const { code, stdout, stderr } = await runZksh([
      ...server,
      ...options,
      "-c",
      `${TREE.replaceAll("create", "x = create")} ${script}`,
    ]);
    return { code, out: stdout.toString(), stderr };
  };

  test.each([
    ["get /app/*/config", "12"],
    ["get /app/?/config", "12"],
    ["get /app/[ab]/config", "12"],
    ["get /app/[!a]/config", "2"],
    ["get /app/b/* /app/c/*", "23"],
    ["get /lit/*", "star"],
    ["get '/lit/'*", "star"],
    ["get '/app/[x]'", "brackets"],
    ["get /app/[x]", "brackets"],
    ["get /app/[xz]", "ex"],
    ["cd /app; get */config", "12"],
    ["cd /app/c; get ../*/config", "12"],
    ["ls /app/a*", "config\n"],
    ["ls /app/?", "/app/a:\nconfig\n/app/b:\nconfig\n/app/c:\nother\n/app/x:\n"],
    ["ls -R /app/[bc]", "/app/b\n/app/b/config\n/app/c\n/app/c/other\n"],
    ["p = pwd; s = get /lit/*; exists /app/b* | cut -f 1", "/app/b\n/app/b1\n"],
    ["stat /app/*/config | grep path", "path = /app/a/config\npath = /app/b/config\n"],
    ["deleteall --dry-run /app/[bc]", "/app/b\n/app/b/config\n/app/c\n/app/c/other\n"],
    ["delete --yes /app/*/config; ls -R /app/a /app/b | cat", ""],
  ])("answers: %s", async (script, out) => {
    const result = await run(script);
    if (out !== "") expect(result).toEqual({ code: 0, out, stderr: "" });
  });

  test("what is deleted by a glob is shown and confirmed first", async () => {
    const refused = await run("delete /app/*/config");
    expect(refused).toMatchObject({ code: 9, out: "" });
    expect(refused.stderr).toContain("delete needs confirmation, and there is no terminal");
    expect(refused.stderr).toContain(
      "the question: delete 2 znodes that match /app/*/config (/app/a/config, /app/b/config)?",
    );
    const all = await run("deleteall /app/[bc]; ls /app");
    expect(all.stderr).toContain("Delete 2 trees: /app/b and the one znode below it (config)");
    expect(all.code).toBe(9);
    expect(await run("delete /app/*/config; ls -R /app/[ab]", "--yes")).toMatchObject({
      code: 0,
      out: "/app/a\n/app/b\n",
    });
    expect((await run("txn 'delete /app/*/config'")).code).toBe(9);
  });

  test("a znode that is named in full is deleted without a question", async () => {
    expect(await run("delete '/app/[x]'; delete /lit/*; ls /lit")).toEqual({
      code: 0,
      out: "y\n",
      stderr: "",
    });
  });

  test("quotes, variables, -- and zkCli's dialect make a pattern literal", async () => {
    for (const line of [
      "get '/app/*/config'",
      `get "/app/"*"/config" '/app/*'`,
      "get -- /app/*/config",
    ]) {
      const { code } = await run(line);
      expect([2, 3, 8], line).toContain(code);
    }
    const { stderr, code } = await run("create /v '/app/*/config'; v = get /v; get $v");
    expect({ stderr, code }).toMatchObject({
      stderr: expect.stringContaining("no such znode: /app/*/config"),
      code: 3,
    });
  });

  test("a pattern that matches nothing names the nearest znode", async () => {
    const { code, stderr } = await run("get /app/none*/x/y");
    expect(code).toBe(3);
    expect(stderr).toContain("no znode matches /app/none*/x/y");
    expect(stderr).toContain("/app");
  });
});

describe("a one-shot", () => {
  test("reads a glob that the system shell has left alone", async () => {
    const server = await freshChroot();
    await runZksh(["-s", server, "-c", "create /a 1; create /b 2"]);
    const { stdout, code } = await runZksh(["-s", server, "get", "/[ab]"]);
    expect({ out: stdout.toString(), code }).toEqual({ out: "12", code: 0 });
    expect((await runZksh(["-s", server, "get", "--", "/[ab]"])).code).toBe(3);
    expect((await runZksh(["-s", server, "delete", "/[ab]"])).code).toBe(9);
    expect((await runZksh(["-s", server, "-o", "zkcli", "get", "/[ab]"])).code).toBe(3);
  });
});

describe("the prompt", () => {
  let terminals: Terminals;
  beforeAll(async () => {
    terminals = await startTerminals();
  });
  afterAll(() => terminals.stop());

  test("asks with the list before it deletes by a glob", async () => {
    const server = await freshChroot();
    await runZksh(["-s", server, "-c", "create /a 1; create /b 2; create /c 3"]);
    const terminal = await terminals.open({ args: ["-q", "-s", server] });
    await terminal.endsWith("›");
    await terminal.enter("delete /[ab]");
    await terminal.shows("delete 2 znodes that match /[ab] (/a, /b)?");
    await terminal.enter("n");
    await terminal.shows("nothing was done");
    await terminal.enter("delete /[ab]");
    await terminal.endsWith("(y/N)");
    await terminal.enter("y");
    await terminal.endsWith("›");
    await terminal.enter("ls / | cat");
    await terminal.shows(/^c$/m);
    expect(await terminal.screen()).not.toMatch(/^a$/m);
  });
});
