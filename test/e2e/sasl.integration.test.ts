/** zksh on servers that want SASL DIGEST-MD5: as a command, as a script, at the prompt, under a lock. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnJava } from "../support/java.ts";
import {
  type SaslEnsemble,
  type SaslServer,
  startSaslEnsemble,
  startSaslServer,
} from "../support/sasl-server.ts";
import { sharedServer } from "../support/shared-server.ts";
import { startTerminals, type TerminalOptions, type Terminals } from "../support/terminal.ts";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";
import { runZksh, startZksh, type ZkshOptions } from "../support/zksh-process.ts";

const USERS = { bob: "bobsecret", ann: "s,p=a:c e" };
const directory = temporaryDirectory("sasl");
const MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

let offered: SaslServer;
let required: SaslServer;
let enforced: SaslServer;
let terminals: Terminals;

beforeAll(async () => {
  [offered, required, enforced, terminals] = await Promise.all([
    startSaslServer(USERS),
    startSaslServer(USERS, { isRequired: true }),
    startSaslServer(USERS, {
      config: { "enforce.auth.enabled": "true", "enforce.auth.schemes": "sasl" },
    }),
    startTerminals(),
  ]);
});
afterAll(async () => {
  await Promise.all([offered?.stop(), required?.stop(), enforced?.stop(), terminals?.stop()]);
  removeDirectory(directory);
});

function secretFile(name: string, contents: string): string {
  const file = join(directory, name);
  writeFileSync(file, contents);
  chmodSync(file, 0o600);
  return file;
}

const bobsFile = () => secretFile("bob", "bobsecret\n");
const asBob = () => ["--sasl", "digest:bob", "--sasl-file", bobsFile()];
const jaasFile = () =>
  secretFile(
    "client.jaas",
    `Client { ${MODULE} required username="ann" password="${USERS.ann}"; };\n`,
  );

async function run(server: SaslServer, words: readonly string[], options: ZkshOptions = {}) {
  const { code, stdout, stderr } = await runZksh(["-s", server.server.address, ...words], options);
  return { code, stdout: String(stdout), stderr };
}

describe.each([
  ["offered", () => offered],
  ["required (sessionRequireClientSASLAuth)", () => required],
  ["required (enforce.auth.schemes)", () => enforced],
])("a server with SASL %s", (_, server) => {
  test("a command logs in, and whoami shows the user", async () => {
    const { code, stdout, stderr } = await run(server(), [...asBob(), "whoami"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toContain("sasl:bob");
  });

  test("a command logs in with a JAAS file", async () => {
    const { code, stdout } = await run(server(), ["--jaas", jaasFile(), "whoami"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toContain("sasl:ann");
  });

  test("scripts log in: -c, -f and a pipe", async () => {
    const script = secretFile("script", "create /s x\nget /s\ndelete /s\n");
    for (const [words, input] of [
      [["-c", "create /s x; get /s; delete /s"], ""],
      [["-f", script], ""],
      [[], "create /s x\nget /s\ndelete /s\n"],
    ] as const) {
      const ran = await run(server(), [...asBob(), ...words], { input });
      expect(ran).toEqual({ code: 0, stdout: "/s\nx", stderr: "" });
    }
  });

  test.each([
    ["a wrong password", "bob:nonsense"],
    ["an unknown user", "eve:nonsense"],
  ])("%s is exit code 4", async (_, user) => {
    const file = secretFile("wrong", `digest:${user}`);
    const { code, stdout, stderr } = await run(server(), [
      "--sasl-file",
      file,
      "create",
      "/no",
      "x",
    ]);
    expect([code, stdout]).toEqual([4, ""]);
    const name = user.split(":")[0];
    expect(stderr).toContain(
      `error: ${server().server.address} refused the login of ${name}: the password is wrong or the user unknown (`,
    );
    expect(stderr).toContain("-Dzookeeper.fips-mode=false");
    expect(stderr).not.toContain("nonsense");
  });

  test("a lock holds under a login, and its command logs in too, without the password", async () => {
    const words = ["lock", "/locks/deploy", "--acl", "sasl:bob:cdrwa", "--", "sh", "-c"];
    const script = `env | grep ^ZKSH_; node "$PROGRAM" -c 'whoami; getAcl /locks/deploy'`;
    const env = { PROGRAM: join(import.meta.dirname, "../../bin/zksh.js"), ZKSH_JAAS: "" };
    const ran = await run(server(), [...asBob(), ...words, script], { env });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toContain("ZKSH_SASL=digest:bob\n");
    expect(ran.stdout).toContain(`ZKSH_SASL_FILE=${join(directory, "bob")}\n`);
    expect(ran.stdout).toContain("sasl:bob\n");
    expect(ran.stdout).not.toContain("bobsecret");
  });
});

test.each([
  ["the command of a lock", ["lock", "/l", "--", "env"]],
  ["a pipe", ["-c", "ls / | env"]],
  ["a program for each path", ["find", "/zookeeper", "--", "env"]],
])("a password in ZKSH_SASL does not reach %s", async (_, words) => {
  const ran = await run(offered, words, { env: { ZKSH_SASL: "digest:bob:bobsecret" } });
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toContain("ZKSH_SASL=digest:bob\n");
  expect(ran.stdout + ran.stderr).not.toContain("bobsecret");
});

test.each([
  ["the pager", "ZKSH_PAGER", ["help", "sasl"]],
  ["the editor", "EDITOR", ["edit", "/edited"]],
])("a password in ZKSH_SASL does not reach %s", async (_, variable, words) => {
  const file = join(directory, variable);
  const program = secretFile(`${variable}.sh`, `#!/bin/sh\nenv > ${file}\ncat > /dev/null\n`);
  chmodSync(program, 0o700);
  const isPager = variable === "ZKSH_PAGER";
  await run(offered, [...asBob(), "create", "/edited", "x"]);
  const terminal = await terminals.open({
    args: ["-s", offered.server.address, ...words],
    env: { ZKSH_SASL: "digest:bob:bobsecret", [variable]: program },
    rows: isPager ? 5 : 40,
  });
  onTestFinished(() => terminal.close().catch(() => {}));
  await eventually(() => expect(readFileSync(file, "utf8")).toContain("ZKSH_SASL=digest:bob\n"));
  expect(readFileSync(file, "utf8")).not.toContain("bobsecret");
  if (!isPager) await terminal.press("C-d");
  await terminal.left();
});

test("--debug and errors show no password, and nothing that is computed from it", async () => {
  const { code, stderr } = await run(offered, ["--debug", ...asBob(), "get", "/none"]);
  expect(code).toBe(3);
  expect(stderr).toContain("SASL DIGEST-MD5 as bob -> ok");
  expect(stderr).not.toMatch(/bobsecret|response=|rspauth|cnonce/);
});

test("a server without SASL is exit code 4", async () => {
  const { code, stderr } = await runZksh(["-s", sharedServer(), ...asBob(), "ls", "/"]);
  expect(code).toBe(4);
  expect(stderr).toContain("does not do SASL: bob cannot log in there\n  leave out --sasl");
});

test("a server that requires SASL says so, and the hint names the JAAS file of JVMFLAGS", async () => {
  const plain = await run(required, ["ls", "/"]);
  expect(plain).toEqual({
    code: 4,
    stdout: "",
    stderr:
      `error: ${required.server.address} requires a SASL login (SessionClosedRequireSaslAuth)\n` +
      "  log in with --sasl digest:USER or --sasl gssapi, or with --jaas FILE as Java clients do\n",
  });
  const env = { JVMFLAGS: "-Xmx1g -Djava.security.auth.login.config=/etc/zk.jaas" };
  const java = await run(required, ["ls", "/"], { env });
  expect(java.stderr).toContain("\n  log in with --jaas /etc/zk.jaas (JVMFLAGS names this file)\n");
});

describe("ACLs", () => {
  test("auth:: names the user, others are kept out, and the hint names the option", async () => {
    const created = await run(offered, [...asBob(), "create", "/mine", "x", "auth::cdrwa"]);
    expect(created.code).toBe(0);
    expect((await run(offered, [...asBob(), "getAcl", "/mine"])).stdout).toContain(
      "sasl:bob:cdrwa",
    );
    expect(await run(offered, ["--jaas", jaasFile(), "get", "/mine"])).toMatchObject({ code: 4 });
    await run(offered, [...asBob(), "setAcl", "/mine", "sasl:bob:cdrwa,world:anyone:r"]);
    const refused = await run(offered, ["set", "/mine", "y"]);
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        "\n  the ACL of /mine names sasl:bob: log in with --sasl digest:bob, or with --sasl gssapi (Kerberos)\n",
      ),
    });
    const env = { CLIENT_JVMFLAGS: '-Djava.security.auth.login.config="/etc/zk client.jaas"' };
    expect((await run(offered, ["set", "/mine", "y"], { env })).stderr).toContain(
      "log in with --jaas '/etc/zk client.jaas' (CLIENT_JVMFLAGS names this file)",
    );
    expect((await run(offered, [...asBob(), "can", "write", "/mine"])).code).toBe(0);
    expect((await run(offered, ["--jaas", jaasFile(), "can", "write", "/mine"])).code).toBe(1);
  });

  test("an ACL with a digest hints at the option for it", async () => {
    const acl = "digest:ann:gLd3rQ9wYpQKpBYkGGY5Yl7D0Hs=:cdrwa,world:anyone:r";
    await run(offered, ["create", "/digest", "x", acl]);
    const { code, stderr } = await run(offered, [...asBob(), "set", "/digest", "y"]);
    expect(code).toBe(4);
    expect(stderr).toContain(
      "the ACL of /digest names the digest of ann: use --auth-file FILE with digest:ann:PASSWORD",
    );
  });

  test("kazoo, the Java client and zksh see the same identities", async () => {
    const created = await run(offered, [
      ...asBob(),
      "create",
      "/shared",
      "x",
      "sasl:ann:r,auth::cdrwa",
    ]);
    expect(created.code, created.stderr).toBe(0);
    const kazoo = [
      "from kazoo.client import KazooClient; import sys",
      "o = {'mechanism': 'DIGEST-MD5', 'username': 'ann', 'password': sys.argv[2]}",
      "c = KazooClient(hosts=sys.argv[1], sasl_options=o); c.start(timeout=20)",
      "print(c.get('/shared')[0], [(a.id.scheme, a.id.id, a.perms) for a in c.get_acls('/shared')[0]]); c.stop()",
    ].join("\n");
    const python = spawnTracked(
      "/usr/bin/python3",
      ["-B", "-c", kazoo, offered.server.address, USERS.ann],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    expect(await text(python.stdout ?? Readable.from([]))).toBe(
      "b'x' [('sasl', 'ann', 1), ('sasl', 'bob', 31)]\n",
    );
    await ended(python);
    const flags = [
      `-Djava.security.auth.login.config=${jaasFile()}`,
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
      "org.apache.zookeeper.ZooKeeperMain",
    ];
    for (const [words, shown] of [
      [["whoami"], /^sasl: ann$/m],
      [["getAcl", "/shared"], /^'sasl,'ann\n: r\n'sasl,'bob\n: cdrwa$/m],
    ] as const) {
      const java = spawnJava([...flags, "-server", offered.server.address, ...words], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      expect(await text(java.stdout ?? Readable.from([]))).toMatch(shown);
      await ended(java);
    }
    const { stdout } = await run(offered, ["--jaas", jaasFile(), "get", "/shared"]);
    expect(stdout).toBe("x");
  });
});

describe("at the prompt", () => {
  async function open(server: SaslServer, words: readonly string[], options: TerminalOptions = {}) {
    const terminal = await terminals.open({
      ...options,
      args: ["-s", server.server.address, ...words],
    });
    onTestFinished(() => terminal.close().catch(() => {}));
    return terminal;
  }

  test("the password is asked for and not shown, and the shell works", async () => {
    const terminal = await open(required, ["--sasl", "digest:bob"]);
    await terminal.shows("SASL password for bob");
    await terminal.enter("bobsecret");
    await terminal.endsWith(/zksh 127\.0\.0\.1:\d+ \/ ›/);
    await terminal.enter("whoami");
    const screen = await terminal.shows("sasl:bob");
    expect(screen).toContain("*********");
    expect(screen).not.toContain("bobsecret");
    await terminal.enter("exit");
    expect((await terminal.left()).code).toBe(0);
  });

  test("a one-shot asks on a terminal too", async () => {
    const terminal = await open(required, ["--sasl", "digest:bob", "whoami"]);
    await terminal.shows("SASL password for bob");
    await terminal.enter("bobsecret");
    expect((await terminal.left()).code).toBe(0);
    expect(await terminal.screen()).toContain("sasl:bob");
  });

  test("Ctrl-C at the question ends zksh with 130, the terminal as it was", async () => {
    for (const words of [[], ["whoami"], ["lock", "/l", "--", "true"]]) {
      const terminal = await open(required, ["--sasl", "digest:bob", ...words]);
      await terminal.shows("SASL password for bob");
      await terminal.press("C-c");
      const left = await terminal.left();
      expect([words, left.code]).toEqual([words, 130]);
      expect(left.after).toBe(left.before);
    }
  });

  test("a refused login is told once, with what to do", async () => {
    const terminal = await open(required, ["--sasl", "digest:bob"]);
    await terminal.shows("SASL password for bob");
    await terminal.enter("nonsense");
    const screen = await terminal.shows("start zksh again to type the password again");
    expect(screen.match(/refused the login of bob/g)).toHaveLength(1);
    await terminal.enter("ls /");
    await terminal.shows(/error: .* refused the login of bob/);
    await terminal.enter("exit");
    await terminal.left();
  });

  test("the session and the identity survive a restart of the server", async () => {
    const server = await startSaslServer(USERS, { isRequired: true });
    onTestFinished(() => server.stop());
    const terminal = await open(server, [...asBob(), "-t", "30s"]);
    await terminal.endsWith(/ \/ ›/);
    await terminal.enter("create -e /mine x sasl:bob:cdrwa");
    await terminal.shows("Created /mine");
    await server.server.restart();
    await terminal.shows(/reconnected to .*; the session was kept/, 40_000);
    await terminal.enter("get /mine; whoami");
    await terminal.shows(/\nx\n(.*\n)*sasl:bob/);
    await terminal.enter("exit");
    await terminal.left();
  });
});

describe("an ensemble that requires SASL", () => {
  let fleet: SaslEnsemble;
  beforeAll(async () => {
    fleet = await startSaslEnsemble(USERS, { isRequired: true });
  });
  afterAll(() => fleet?.stop());

  const serverAt = (address: string | undefined) =>
    fleet.ensemble.servers.find((server) => server.address === address);

  test("a command under a lock runs on when its server dies, as the same user", async () => {
    const { connectString } = fleet.ensemble;
    const file = secretFile("go", "");
    rmSync(file);
    const script = `echo runs; while [ ! -e ${file} ]; do sleep 0.1; done; echo ends`;
    const words = ["lock", "--acl", "sasl:bob:cdrwa", "/l", "--", "sh", "-c", script];
    const zksh = startZksh(["-s", connectString, "--debug", ...asBob(), ...words], {
      timeoutMs: 60_000,
      input: "",
    });
    await eventually(() => expect(zksh.stdout).toBe("runs\n"));
    const attached = () =>
      [...zksh.stderr.matchAll(/attached to (\S+): session/g)].map(([, address]) => address);
    const dead = serverAt(attached().at(-1));
    const logins = zksh.stderr.match(/SASL DIGEST-MD5 as bob -> ok/g)?.length ?? 0;
    await dead?.kill();
    await eventually(() =>
      expect(zksh.stderr.match(/SASL DIGEST-MD5 as bob -> ok/g)?.length).toBeGreaterThan(logins),
    );
    writeFileSync(file, "");
    const { code, stdout } = await zksh.result;
    expect([code, String(stdout)]).toEqual([0, "runs\nends\n"]);
    await dead?.start();
    await fleet.ensemble.waitForQuorum();
  });

  test("the prompt, a command and a script go on with the servers that are left", async () => {
    const { connectString } = fleet.ensemble;
    const terminal = await terminals.open({ args: ["-s", connectString, ...asBob()] });
    onTestFinished(() => terminal.close().catch(() => {}));
    const screen = await terminal.endsWith(/zksh 127\.0\.0\.1:\d+ \/ ›/);
    const dead = serverAt(/zksh (127\.0\.0\.1:\d+) \/ ›$/.exec(screen)?.[1]);
    await dead?.kill();
    await terminal.shows(/reconnected to .*; the session was kept/, 40_000);
    await terminal.enter("whoami");
    await terminal.shows("sasl:bob");
    await terminal.enter("exit");
    await terminal.left();
    for (const words of [["whoami"], ["-c", "ls /; whoami"]]) {
      const { code, stdout } = await runZksh(["-s", connectString, ...asBob(), ...words]);
      expect(code).toBe(0);
      expect(String(stdout)).toContain("sasl:bob\n");
    }
  });
});

test("a Node.js in FIPS mode says that it has no MD5", async () => {
  const fips = secretFile("fips.cjs", 'require("node:crypto").setFips(true);');
  const env = { NODE_OPTIONS: `--require ${fips}` };
  const { code, stderr } = await run(offered, [...asBob(), "ls", "/"], { env });
  expect([code, stderr]).toEqual([
    4,
    "error: DIGEST-MD5 needs MD5, which this Node.js does not offer (its OpenSSL is in FIPS mode)\n" +
      "  run zksh with a Node.js that is not in FIPS mode\n",
  ]);
});

test("a login that is refused on a reconnect stops the command of a lock, with exit code 120", async () => {
  const server = await startSaslServer(USERS, { isRequired: true });
  onTestFinished(() => server.stop());
  const words = [
    "lock",
    "--session-timeout",
    "40s",
    "/l",
    "--",
    "sh",
    "-c",
    "echo runs; sleep 300",
  ];
  const zksh = startZksh(["-s", server.server.address, ...asBob(), ...words], {
    timeoutMs: 60_000,
    input: "",
  });
  await eventually(() => expect(zksh.stdout).toBe("runs\n"));
  server.changeUsers({ bob: "another" });
  await server.server.restart();
  const { code, stderr } = await zksh.result;
  expect(stderr).toContain(
    "\nlost /l: the session could not log in again on a reconnect, which ended it\nsent KILL to process",
  );
  expect(code).toBe(120);
});
