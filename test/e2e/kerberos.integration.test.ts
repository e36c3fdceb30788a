/** zksh on servers that want Kerberos: as a command, as a script, at the prompt, under a lock. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { spawnJava } from "../support/java.ts";
import { type Kdc, startKdc, startKerberosServer } from "../support/kdc.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { ended, removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh, type ZkshOptions } from "../support/zksh-process.ts";
import type { ZooKeeperServer } from "../support/zookeeper-server.ts";

const root = join(import.meta.dirname, "../..");
const directory = temporaryDirectory("kerberos");
let kdc: Kdc;
let server: ZooKeeperServer;
let keytab: string;
let terminals: Terminals;

beforeAll(async () => {
  kdc = await startKdc();
  [server, terminals] = await Promise.all([
    startKerberosServer(kdc, { jvmFlags: ["-Dzookeeper.sessionRequireClientSASLAuth=true"] }),
    startTerminals(),
  ]);
  keytab = kdc.principal("ann");
});
afterAll(async () => {
  await Promise.all([server?.stop(), terminals?.stop()]);
  await kdc?.stop();
  removeDirectory(directory);
});

const GSSAPI = ["--sasl", "gssapi", "--sasl-host", "localhost"];
const withKeytab = () => [...GSSAPI, "--keytab", keytab, "--principal", "ann"];
const at = (address = server.address) => ["-s", address];

async function run(words: readonly string[], options: ZkshOptions = {}) {
  const env = { ...kdc.env, ...options.env };
  const { code, stdout, stderr } = await runZksh(words, { ...options, env });
  return { code, stdout: String(stdout), stderr };
}

describe("a server that requires a login", () => {
  test("takes the tickets of the default cache, and whoami shows who one is", async () => {
    const env = { KRB5CCNAME: kdc.ticket("ann") };
    const { code, stdout, stderr } = await run([...at(), ...GSSAPI, "whoami"], { env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toContain("sasl:ann@ZKSH.TEST");
  });

  test("is asked for by the name it is connected to", async () => {
    const env = { KRB5CCNAME: kdc.ticket("ann") };
    const words = ["-s", `localhost:${server.port}`, "--sasl", "gssapi", "whoami"];
    expect((await run(words, { env })).stdout).toContain("sasl:ann@ZKSH.TEST\n");
  });

  test("takes the key of a keytab, by options, by variables and by a JAAS file", async () => {
    const jaas = join(directory, "client.jaas");
    writeFileSync(
      jaas,
      "Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true " +
        `storeKey=true useTicketCache=false keyTab="${keytab}" principal="ann@ZKSH.TEST"; };\n`,
    );
    chmodSync(jaas, 0o600);
    const variables = {
      ZKSH_SASL: "gssapi",
      ZKSH_SASL_HOST: "localhost",
      ZKSH_KEYTAB: keytab,
      ZKSH_PRINCIPAL: "ann",
    };
    for (const [words, env] of [
      [withKeytab(), {}],
      [[], variables],
      [["--jaas", jaas, "--sasl-host", "localhost"], {}],
    ] as const) {
      const ran = await run([...at(), ...words, "whoami"], { env });
      expect([words, ran.code, ran.stderr]).toEqual([words, 0, ""]);
      expect(ran.stdout).toContain("sasl:ann@ZKSH.TEST\n");
    }
  });

  test("takes the ticket cache that a JAAS file names", async () => {
    const jaas = join(directory, "cache.jaas");
    const cache = kdc.ticket("ann");
    writeFileSync(
      jaas,
      "Client { com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true " +
        `ticketCache="${cache}"; };\n`,
    );
    chmodSync(jaas, 0o600);
    const ran = await run([...at(), "--jaas", jaas, "--sasl-host", "localhost", "whoami"]);
    expect(ran.stdout).toContain("sasl:ann@ZKSH.TEST\n");
  });

  test("takes a ticket cache that is named from the working directory", async () => {
    const cache = kdc.ticket("ann").replace("FILE:", "");
    const env = { KRB5CCNAME: `FILE:${basename(cache)}` };
    const ran = await run([...at(), ...GSSAPI, "whoami"], { env, cwd: dirname(cache) });
    expect(ran.stdout, ran.stderr).toContain("sasl:ann@ZKSH.TEST\n");
  });

  test("gives the Java client the same identity", async () => {
    const jaas = join(directory, "java.jaas");
    writeFileSync(
      jaas,
      "Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true " +
        `storeKey=true useTicketCache=false keyTab="${keytab}" principal="ann@ZKSH.TEST"; };\n`,
    );
    const created = await run([...at(), ...withKeytab(), "create", "/java", "x", "auth::cdrwa"]);
    expect(created.code, created.stderr).toBe(0);
    const flags = [
      `-Djava.security.auth.login.config=${jaas}`,
      `-Djava.security.krb5.conf=${kdc.env.KRB5_CONFIG}`,
      "-Dzookeeper.server.principal=zookeeper/localhost@ZKSH.TEST",
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
      "org.apache.zookeeper.ZooKeeperMain",
    ];
    for (const [words, shown] of [
      [["whoami"], /^sasl: ann@ZKSH\.TEST$/m],
      [["getAcl", "/java"], /^'sasl,'ann@ZKSH\.TEST\n: cdrwa$/m],
    ] as const) {
      const java = spawnJava([...flags, "-server", server.address, ...words], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      expect(await text(java.stdout ?? Readable.from([]))).toMatch(shown);
      await ended(java);
    }
  });

  test("runs scripts, and ACLs name the user and keep others out", async () => {
    const script = "create /mine x auth::cdrwa,world:anyone:r\ngetAcl /mine\n";
    const { code, stdout } = await run([...at(), ...withKeytab()], { input: script });
    expect([code, stdout]).toEqual([0, "/mine\nsasl:ann@ZKSH.TEST:cdrwa\nworld:anyone:r\n"]);
    const bob = kdc.principal("bob");
    const refused = await run([...at(), ...GSSAPI, "--keytab", bob, "set", "/mine", "y"]);
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        "the ACL of /mine names sasl:ann@ZKSH.TEST: log in with --sasl gssapi\n",
      ),
    });
  });
});

describe("a login that fails is exit code 4, and a sentence", () => {
  const cannot = () => `error: cannot log in to ${server.address} by Kerberos: `;

  test("without tickets", async () => {
    expect(await run([...at(), ...GSSAPI, "ls", "/"])).toEqual({
      code: 4,
      stdout: "",
      stderr:
        `${cannot()}there are no tickets (No Kerberos credentials available (default cache: ` +
        `${kdc.env.KRB5CCNAME}))\n  run kinit, or log in with --keytab FILE and --principal NAME\n`,
    });
  });

  test("with a ticket that has expired", async () => {
    const env = { KRB5CCNAME: kdc.ticket("ann", "1s") };
    await eventually(async () => {
      const ran = await run([...at(), ...GSSAPI, "ls", "/"], { env });
      expect(ran).toEqual({
        code: 4,
        stdout: "",
        stderr:
          `${cannot()}the ticket has expired (The referenced credential has expired)\n` +
          "  run kinit again, or log in with --keytab FILE, which needs no tickets\n",
      });
    });
  });

  test("with the name of another service", async () => {
    const ran = await run([...at(), ...withKeytab(), "--sasl-service", "zk", "ls", "/"]);
    expect(ran).toEqual({
      code: 4,
      stdout: "",
      stderr:
        `${cannot()}the KDC does not know the server zk@localhost ` +
        "(Server zk/localhost@ZKSH.TEST not found in Kerberos database)\n" +
        "  name the service and the host of the server's principal with --sasl-service NAME and --sasl-host HOST\n",
    });
  });

  test("without a KDC", async () => {
    const gone = await startFaultProxy(kdc.port);
    await gone.close();
    const env = { KRB5_CONFIG: kdc.clientConfig(gone.port) };
    const ran = await run([...at(), ...withKeytab(), "ls", "/"], { env });
    expect([ran.code, ran.stderr]).toEqual([
      4,
      `${cannot()}no KDC can be reached (Cannot contact any KDC for realm 'ZKSH.TEST')\n` +
        "  check the realm and its KDCs in /etc/krb5.conf, or in the file that KRB5_CONFIG names\n",
    ]);
  });

  test("with control characters of the library's text escaped", async () => {
    const odd = join(directory, "no\u001b[31mtickets");
    const ran = await run([...at(), ...GSSAPI, "ls", "/"], { env: { KRB5CCNAME: `FILE:${odd}` } });
    expect(ran.code).toBe(4);
    expect(ran.stderr).toContain("\\x1b[31mtickets");
    expect(ran.stderr).not.toContain("\u001b");
  });

  test("without the package koffi, and everything else works", async () => {
    const packed = join(directory, "packed");
    mkdirSync(packed);
    for (const name of ["bin", "dist", "package.json"])
      cpSync(join(root, name), join(packed, name), { recursive: true });
    const program = join(packed, "bin/zksh.js");
    const ran = await run([...at(), ...withKeytab(), "ls", "/"], { program });
    expect(ran).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "error: a Kerberos login needs the package koffi, which cannot be loaded " +
        "(Cannot find module 'koffi')\n" +
        "  install it where zksh is installed: npm install -g koffi for a global zksh\n",
    });
    expect((await run(["--embedded", "ls", "/"], { program })).code).toBe(0);
  });

  test("without the system's library", async () => {
    const broken = join(directory, "lib");
    mkdirSync(broken);
    writeFileSync(join(broken, "libgssapi_krb5.so.2"), "no library");
    const env = { LD_LIBRARY_PATH: broken };
    const ran = await run([...at(), ...withKeytab(), "ls", "/"], { env });
    expect(ran.code).toBe(4);
    expect(ran.stderr).toContain(
      "error: a Kerberos login needs the system's GSSAPI library, which cannot be loaded (",
    );
    expect(ran.stderr).toContain("\n  install MIT Kerberos: libgssapi-krb5-2 (Debian, Ubuntu)");
  });
});

test("Ctrl-C ends zksh at once while a KDC says nothing, and leaves no process", async () => {
  const silent = await startFaultProxy(kdc.port);
  onTestFinished(() => silent.close());
  silent.blackhole();
  const env = { ...kdc.env, KRB5_CONFIG: kdc.clientConfig(silent.port) };
  for (const end of ["SIGINT", "SIGKILL"] as const) {
    const words = [...at(), ...withKeytab(), "ls", "/"];
    const zksh = startZksh(words, { env, input: "" });
    await eventually(() => expect(silent.connections).toBe(1));
    const began = performance.now();
    zksh.kill(end);
    await zksh.result;
    // A thread that waits for the KDC would keep the process for 50 s.
    expect(performance.now() - began).toBeLessThan(10_000);
    await eventually(() => expect(silent.connections).toBe(0));
  }
});

describe("at the prompt", () => {
  test("the session and the identity survive a restart of the server", async () => {
    const other = await startKerberosServer(kdc, {}, "zookeeper/prompt");
    onTestFinished(() => other.stop());
    const terminal = await terminals.open({
      args: [
        ...at(other.address),
        ..."--sasl gssapi --sasl-host prompt -t 30s --keytab".split(" "),
        keytab,
      ],
      env: kdc.env,
    });
    onTestFinished(() => terminal.close().catch(() => {}));
    await terminal.endsWith(/ \/ ›/);
    await terminal.enter("create -e /mine x auth::cdrwa");
    await terminal.shows("Created /mine");
    await other.restart();
    await terminal.shows(/reconnected to .*; the session was kept/, 40_000);
    await terminal.enter("get /mine; whoami");
    await terminal.shows(/\nx\n(.*\n)*sasl:ann@ZKSH.TEST/);
    await terminal.enter("exit");
    await terminal.left();
  });
});

describe("a lock that is held for longer than a ticket lives", () => {
  async function held(login: readonly string[], env: Readonly<Record<string, string>>) {
    const proxy = await startFaultProxy(server.port);
    onTestFinished(() => proxy.close());
    const go = join(directory, `go-${proxy.port}`);
    const script = `echo runs; while [ ! -e ${go} ]; do sleep 0.1; done; echo ends`;
    const words = ["lock", `/locks/${proxy.port}`, "--", "sh", "-c", script];
    const zksh = startZksh([...at(proxy.address), "--debug", ...login, ...words], {
      env: { ...kdc.env, ...env },
      timeoutMs: 120_000,
      input: "",
    });
    await eventually(() => expect(zksh.stdout).toBe("runs\n"));
    const logins = () => zksh.stderr.match(/SASL GSSAPI as ann@ZKSH.TEST -> ok/g)?.length ?? 0;
    const reconnect = async () => {
      const before = logins();
      proxy.drop();
      await eventually(() => expect(logins()).toBe(before + 1));
    };
    return { zksh, reconnect, proxy, release: () => writeFileSync(go, "") };
  }

  /** Tickets of this principal end after 3 s, whatever is asked for. */
  const LIFE_MS = 3_000;
  const short = () => kdc.limitLife("ann", "3 seconds");
  const expired = async () => {
    const began = performance.now();
    await eventually(() => expect(performance.now() - began).toBeGreaterThan(LIFE_MS + 500));
  };

  test("is kept by the keytab, through reconnects and a restart of the server", async () => {
    short();
    onTestFinished(() => kdc.limitLife("ann", "1 hour"));
    const { zksh, reconnect, release } = await held(withKeytab(), {});
    await expired();
    await reconnect();
    await expired();
    await server.restart();
    await eventually(() =>
      expect(zksh.stderr.match(/SASL GSSAPI as ann@ZKSH.TEST -> ok/g)?.length).toBe(3),
    );
    release();
    const { code, stdout } = await zksh.result;
    expect([code, String(stdout)]).toEqual([0, "runs\nends\n"]);
  });

  test("is kept by a ticket cache that is renewed, which is read again", async () => {
    const cache = kdc.ticket("ann", "3s");
    const { zksh, reconnect, release } = await held(GSSAPI, { KRB5CCNAME: cache });
    await expired();
    copyFileSync(kdc.ticket("ann").replace("FILE:", ""), cache.replace("FILE:", ""));
    await reconnect();
    release();
    expect((await zksh.result).code).toBe(0);
  });

  test("is lost on a reconnect with a ticket cache that nobody renews: exit code 120", async () => {
    const { zksh, proxy } = await held(GSSAPI, { KRB5CCNAME: kdc.ticket("ann", "3s") });
    await expired();
    proxy.drop();
    const { code, stdout, stderr } = await zksh.result;
    expect([code, String(stdout)]).toEqual([120, "runs\n"]);
    expect(stderr).toContain("the session could not log in again on a reconnect, which ended it");
  });

  test("is lost by the session's own clock while a KDC says nothing", async () => {
    const silent = await startFaultProxy(kdc.port);
    onTestFinished(() => silent.close());
    const env = { KRB5_CONFIG: kdc.clientConfig(silent.port), ZKSH_TIMEOUT: "6s" };
    const { zksh, proxy } = await held(withKeytab(), env);
    silent.blackhole();
    const began = performance.now();
    proxy.drop();
    const { code } = await zksh.result;
    expect(code).toBe(120);
    // The lease ends after 0.95 of the timeout at the latest; the call would take 50 s.
    expect(performance.now() - began).toBeLessThan(12_000);
    await eventually(() => expect(silent.connections).toBe(0));
  });

  test("the command gets the mechanism and the names of files, and logs in itself", async () => {
    const script = 'env | grep ^ZKSH_ | sort; node "$PROGRAM" whoami';
    const env = { PROGRAM: join(root, "bin/zksh.js") };
    const words = ["lock", "/locks/env", "--", "sh", "-c", script];
    const { code, stdout, stderr } = await run([...at(), ...withKeytab(), ...words], { env });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`ZKSH_KEYTAB=${keytab}\nZKSH_PRINCIPAL=ann\nZKSH_SASL=gssapi\n`);
    expect(stdout).toContain("sasl:ann@ZKSH.TEST\n");
  });
});
