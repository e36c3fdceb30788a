import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ExitCode } from "../../src/exit-codes.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { freshChroot } from "../support/shared-server.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

let server: string;

beforeAll(async () => {
  server = await freshChroot();
  const script =
    "create /a x; create /a/b; create /closed x world:anyone:a; create -p /mixed/shut/child; create /mixed/open; setAcl /mixed/shut world:anyone:cra";
  const { code, stderr } = await runZksh(["-s", server, "-c", script]);
  expect([code, stderr]).toEqual([0, ""]);
});

interface Row {
  readonly what: string;
  readonly code: number;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** In the error on stderr; left out where there is none. */
  readonly says?: string;
}

// Loaded before the program: a bug is not there on request.
const BUG = `data:text/javascript,Date.prototype.toISOString=()=>{throw%20new%20TypeError("planted")}`;

const rows: Row[] = [
  { what: "done", code: 0, argv: ["get", "/a"] },
  { what: "true", code: 0, argv: ["exists", "/a"] },
  { what: "help", code: 0, argv: ["get", "--help"] },
  { what: "an empty script", code: 0, argv: ["-c", ""] },
  { what: "a false answer", code: 1, argv: ["exists", "/none"] },
  {
    what: "a refusal without a code of its own",
    code: 1,
    argv: ["create", "/b", "x", "auth::r"],
    says: "(InvalidACL)",
  },
  { what: "an unknown command", code: 2, argv: ["gte", "/a"], says: "unknown command 'gte'" },
  {
    what: "an unknown option",
    code: 2,
    argv: ["get", "--loud", "/a"],
    says: "unknown option '--loud'",
  },
  {
    what: "an unknown global option",
    code: 2,
    argv: ["--loud", "get", "/a"],
    says: "unknown option '--loud'",
  },
  { what: "a missing argument", code: 2, argv: ["get"], says: "missing required argument 'path'" },
  { what: "a bad version", code: 2, argv: ["delete", "-v", "x", "/a"], says: "bad version 'x'" },
  { what: "a bad path", code: 2, argv: ["get", "/a//b"], says: "cannot contain //" },
  { what: "a bad setting", code: 2, argv: ["ls", "/"], env: { ZKSH_OUTPUT: "xml" }, says: "xml" },
  { what: "a script with an open quote", code: 2, argv: ["-c", "get '/a"], says: "never closed" },
  { what: "no such znode", code: 3, argv: ["get", "/none"], says: "no such znode: /none (NoNode)" },
  { what: "no such parent", code: 3, argv: ["create", "/none/a"], says: "(NoNode)" },
  { what: "not permitted", code: 4, argv: ["get", "/closed"], says: "(NoAuth)" },
  {
    what: "authentication failed",
    code: 4,
    argv: ["--auth", "nonsense:x", "get", "/a"],
    says: "authenticat",
  },
  { what: "node exists", code: 5, argv: ["create", "/a"], says: "(NodeExists)" },
  { what: "another version", code: 5, argv: ["set", "-v", "7", "/a", "y"], says: "(BadVersion)" },
  { what: "not empty", code: 5, argv: ["delete", "/a"], says: "(NotEmpty)" },
  {
    what: "child of an ephemeral",
    code: 5,
    argv: ["-c", "create -e /short; create /short/child"],
    says: "(NoChildrenForEphemerals)",
  },
  {
    what: "a deadline passed",
    code: 7,
    argv: ["watch", "/a", "--within", "20ms"],
    says: "no further change within 20ms",
  },
  {
    what: "--keep-going after a failure",
    code: 8,
    argv: ["--keep-going", "-c", "get /none; get /a"],
    says: "(NoNode)",
  },
  {
    what: "some of a tree",
    code: 8,
    argv: ["--yes", "deleteall", "-b", "1", "/mixed"],
    says: "(NoAuth)",
  },
  { what: "nobody to confirm", code: 9, argv: ["deleteall", "/a"], says: "--yes" },
  { what: "read-only", code: 9, argv: ["--read-only", "set", "/a", "y"], says: "read-only" },
  {
    what: "a protected path",
    code: 9,
    argv: ["--yes", "deleteall", "/zookeeper"],
    says: "/zookeeper",
  },
  {
    what: "a bug",
    code: 70,
    argv: ["stat", "/a"],
    env: { NODE_OPTIONS: `--import=${BUG}` },
    says: "planted",
  },
];

describe("the exit code", () => {
  test.each(rows)("$code: $what", async ({ code, argv, env, says }) => {
    const ran = await runZksh(argv, { env: { ZKSH_SERVER: server, ...env } });
    expect(ran).toMatchObject({ code, signal: null });
    if (says === undefined) expect(ran.stderr).toBe("");
    else expect(ran.stderr).toContain(says);
    // Where it is no bug, nobody wants to see where in the program it happened.
    expect(ran.stderr).not.toMatch(/^ +at /m);
  });

  test("6: nobody listens", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    expect(await runZksh(["-s", nobody, "--connect-timeout", "500ms", "get", "/a"])).toMatchObject({
      code: 6,
    });
  });

  test("6: the connection is lost with an answer open", async () => {
    const [address = "", chroot] = server.split("/");
    const proxy = await startFaultProxy(Number(address.split(":")[1]));
    onTestFinished(() => proxy.close());
    const through = ["-s", `${proxy.address}/${chroot}`, "-t", "20s"];
    // Whatever comes after the handshake is swallowed, so that the create is never answered.
    const zksh = startZksh([...through]);
    zksh.write("get /a\n");
    await eventually(() => zksh.stdout === "x");
    proxy.blackhole();
    const asked = new Promise<void>((resolve) => {
      proxy.onBytes = (direction) => direction === "to-server" && resolve();
    });
    zksh.write("create /lost\n");
    await asked;
    proxy.drop();
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([6, expect.stringContaining("(ConnectionLoss)")]);
  });

  test.each([
    { signal: "SIGINT", code: 130 },
    { signal: "SIGTERM", code: 143 },
    { signal: "SIGHUP", code: 129 },
  ] as const)("$code: $signal", async ({ signal, code }) => {
    const zksh = startZksh(["-s", server, "--json", "watch", "/a"]);
    await eventually(() => zksh.stdout !== "");
    zksh.kill(signal);
    const { stderr, ...ended } = await zksh.result;
    expect(ended).toMatchObject({ code, signal: null });
    expect(JSON.parse(stderr)).toMatchObject({ error: { reason: "interrupted", exitCode: code } });
  });

  test("has a row here for every code there is", () => {
    // 141 is in pipes.integration.test.ts.
    const covered = new Set([...rows.map(({ code }) => code), 6, 129, 130, 141, 143]);
    expect(Object.values(ExitCode).filter((code) => !covered.has(code))).toEqual([]);
  });
});
