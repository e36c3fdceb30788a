/** doctor on real ensembles: well, and broken in many ways. Each fix is typed as it is printed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { setQuota } from "../../src/recipes/quota.ts";
import type { Acl, MultiOp, Session } from "../../src/session/session.ts";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { type Ensemble, loopbackMembers, type Member, startMembers } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeServerOptions, startFakeServer } from "../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { fakeTimeLibrary } from "../support/needs.ts";
import { openFor } from "../support/open-session.ts";
import { startTlsServer, type TlsServer } from "../support/tls-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";

interface Finding {
  readonly severity: string;
  readonly check: string;
  readonly where: string;
  readonly message: string;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly fix: { readonly says: string; readonly command?: string; readonly config?: string };
}

const SECRET = "digest:ann:secret";
const CLOSED: readonly Acl[] = [{ perms: 31, scheme: "auth", id: "" }];
const directory = temporaryDirectory("doctor");
const authFile = join(directory, "auth");

/** How each member finds the quorum port of each other one: `viewer>target`. */
const proxies = new Map<string, FaultProxy>();
let ensemble: Ensemble;

beforeAll(async () => {
  writeFileSync(authFile, `${SECRET}\n`, { mode: 0o600 });
  const members = await loopbackMembers(3);
  for (const viewer of members)
    for (const target of members)
      if (viewer !== target)
        proxies.set(linkOf(viewer, target), await startFaultProxy(target.quorumPort));
  const quorumPort = (viewer: Member, target: Member) =>
    proxies.get(linkOf(viewer, target))?.port ?? target.quorumPort;
  // A stalled follower must stay one for as long as a test looks at it.
  const config = { syncLimit: "200", "4lw.commands.whitelist": "srvr,cons,envi" };
  ensemble = await startMembers(members, { config }, quorumPort);
});

afterAll(async () => {
  await ensemble?.stop();
  await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
  removeDirectory(directory);
});

function linkOf(viewer: { readonly port: number }, target: { readonly port: number }): string {
  return `${viewer.port}>${target.port}`;
}

async function doctor(
  servers = ensemble.connectString,
  { options = [] as readonly string[], env = {} } = {},
) {
  const { code, stdout, stderr } = await runZksh(["-s", servers, "--json", "doctor", ...options], {
    env: { ZKSH_AUTH_FILE: authFile, ...env },
    timeoutMs: 50_000,
  });
  const lines = stdout.toString().split("\n").slice(0, -1);
  const findings = lines.map((line) => JSON.parse(line) as Finding);
  const examined = /^\{"examined":.*$/m.exec(stderr)?.[0];
  return { code, findings, stderr, examined: examined && JSON.parse(examined).examined };
}

/** The findings of one check; the exit code must be 1. */
async function found(check: string, ...args: Parameters<typeof doctor>): Promise<Finding[]> {
  const { code, findings, stderr } = await doctor(...args);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^(\{"warning":.*\n)?\{"examined":.*\n$/),
  ]);
  return findings.filter((finding) => finding.check === check);
}

/** Types the line that a finding has told to type. */
async function type({ fix }: Finding, env: Readonly<Record<string, string>> = {}) {
  const words = lex(fix.command ?? "").statements[0]?.words.map(({ text }) => text) ?? [];
  expect(words[0]).toBe("zksh");
  const { code, stdout, stderr } = await runZksh(words.slice(1), {
    env: { ZKSH_AUTH_FILE: authFile, ZKSH_YES: "1", ...env },
    timeoutMs: 50_000,
  });
  return { code, stdout: stdout.toString(), stderr };
}

async function openAnn(): Promise<Session> {
  const session = openFor(ensemble.connectString);
  await session.addAuth("digest", Buffer.from("ann:secret"));
  return session;
}

describe("on an ensemble of three servers", () => {
  // The first one: the others are on servers with the line that it has put into zoo.cfg.
  test("a leader that does not allow mntr is named, with the line for zoo.cfg", async () => {
    const [finding] = await found("word-not-allowed");
    expect(finding).toMatchObject({ severity: "note", evidence: { word: "mntr" } });
    const [name, words] = (finding?.fix.config ?? "").split("=");
    expect(name).toBe("4lw.commands.whitelist");
    await restartAll(`${words},cons,envi`);
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
  });

  test("that is well, doctor prints nothing and exits 0", async () => {
    const { code, stdout, stderr } = await runZksh(["-s", ensemble.connectString, "doctor"]);
    expect([code, stdout.toString(), stderr]).toEqual([0, "", ""]);
  });

  test("all is examined: servers, clocks, tree", async () => {
    const { code, findings, examined } = await doctor();
    expect([code, findings]).toEqual([0, []]);
    expect(examined).toMatchObject({ isWholeTree: true, unreadable: 0, clocks: 3, findings: 0 });
    const modes = examined.servers.map(({ mode }: { mode: string }) => mode).sort();
    expect(modes).toEqual(["follower", "follower", "leader"]);
  });

  test("--test-write leaves nothing behind", async () => {
    const session = openFor(ensemble.connectString);
    expect(await doctor(undefined, { options: ["--test-write"] })).toMatchObject({ code: 0 });
    expect(await session.getChildren("/")).toEqual(["zookeeper"]);
    const refused = await doctor(undefined, { options: ["--test-write", "-r"] });
    expect(refused.code).toBe(9);
  });

  test("a member that the connect string lacks is named, with the whole list", async () => {
    const [first, second, third] = ensemble.servers as [
      ZooKeeperServer,
      ZooKeeperServer,
      ZooKeeperServer,
    ];
    const [finding] = await found("member-not-listed", first.address);
    expect(finding?.evidence.members).toEqual([second.address, third.address]);
    expect(await type(finding as Finding)).toMatchObject({ code: 0, stdout: "" });
  });

  test("a server that is down is named, and that no other may fail", async () => {
    const [follower] = (await ensemble.followers()) as [ZooKeeperServer];
    await follower.kill();
    const { code, findings } = await doctor();
    await follower.start();
    await ensemble.waitForQuorum();
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      {
        check: "unreachable",
        severity: "error",
        where: follower.address,
        message: "connection refused",
        fix: { says: expect.stringContaining("zkServer.sh start") },
      },
      { check: "followers-not-synced", evidence: { synced: 1, followers: 2 } },
    ]);
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
  });

  test("a server that accepts connections and answers nothing is named", async () => {
    const [follower] = (await ensemble.followers()) as [ZooKeeperServer];
    follower.pause();
    const [finding] = await found("unreachable");
    follower.resume();
    expect(finding).toMatchObject({
      where: follower.address,
      evidence: { why: "no-answer" },
      fix: { says: expect.stringContaining("zkServer.sh restart") },
    });
    await ensemble.waitForQuorum();
  });

  test("a follower that lags behind the leader is named, with its distance", async () => {
    const leader = await ensemble.leader();
    const [follower] = (await ensemble.followers()) as [ZooKeeperServer];
    const link = proxies.get(linkOf(follower, leader)) as FaultProxy;
    const session = openFor(leader.address);
    await session.create("/lag", null, { mode: "ephemeral" });
    link.stall("to-client");
    for (let write = 0; write < 100; write++) await session.setData("/lag", null);
    const [finding] = await found("lag");
    link.resume();
    expect(finding).toMatchObject({ where: follower.address, severity: "error" });
    const { zxid, leaderZxid } = finding?.evidence ?? {};
    expect(BigInt(String(leaderZxid)) - BigInt(String(zxid))).toBeGreaterThanOrEqual(100n);
    await session.close();
    await eventually(async () => expect(await doctor()).toMatchObject({ code: 0, findings: [] }), {
      timeoutMs: 50_000,
    });
  });

  test("a parent of 50,000 children is named", async () => {
    const session = await openAnn();
    await session.create("/wide", null, { acl: CLOSED });
    const names = Array.from(
      { length: 50_000 },
      (_, n) => `/wide/n-${String(n).padStart(10, "0")}`,
    );
    for (let start = 0; start < names.length; start += 1_000) {
      const ops = names
        .slice(start, start + 1_000)
        .map((path): MultiOp => ({ op: "create", path }));
      await session.multi(ops);
    }
    const [finding] = await found("wide-parent");
    expect(finding).toMatchObject({
      where: "/wide",
      evidence: { children: 50_000, bytes: 50_000 * 16 + 4 },
    });
    expect(finding?.message).toContain("76 % of jute.maxbuffer");
    expect(await type(finding as Finding)).toMatchObject({ code: 0 });
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
  });

  test("a znode of 900 KB is named", async () => {
    const session = await openAnn();
    await session.create("/big", Buffer.alloc(900 * 1024, "x"), { acl: CLOSED });
    const [finding] = await found("large-znode");
    expect(finding).toMatchObject({
      where: "/big",
      evidence: { bytes: 921_600, limit: 1_048_575 },
    });
    expect(await type(finding as Finding)).toMatchObject({ code: 0 });
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
  });

  test("only so many znodes are read as --max-znodes says, and that is told", async () => {
    const session = await openAnn();
    await session.create("/some", null, { acl: CLOSED });
    for (const name of ["a", "b", "c"]) await session.create(`/some/${name}`, null);
    const { stderr, code } = await runZksh(
      ["-s", ensemble.connectString, "doctor", "--max-znodes", "3"],
      { env: { ZKSH_AUTH_FILE: authFile } },
    );
    expect([code, stderr]).toEqual([
      0,
      "note: only the first 3 znodes of the tree were read; --max-znodes N reads more\n",
    ]);
    await runZksh(["-s", ensemble.connectString, "--auth", SECRET, "--yes", "deleteall", "/some"]);
  });

  test("a branch that may not be read is named on stderr, with exit code 8", async () => {
    const session = await openAnn();
    await session.create("/shut", null, { acl: CLOSED });
    const { code, stdout, stderr } = await runZksh(["-s", ensemble.connectString, "doctor"]);
    await session.delete("/shut");
    expect([code, stdout.toString()]).toEqual([8, ""]);
    expect(stderr).toContain("/shut");
  });

  test("a znode at the top that every client may change is named", async () => {
    const session = openFor(ensemble.connectString);
    await session.create("/open", null);
    const [finding] = await found("open-acl");
    expect(finding).toMatchObject({ where: "/open", evidence: { acl: ["world:anyone:cdrwa"] } });
    expect(await type(finding as Finding)).toMatchObject({ code: 0 });
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
    expect((await session.getAcl("/open")).acl).toContainEqual({
      scheme: "world",
      id: "anyone",
      perms: 1,
    });
    await session.delete("/open");
  });

  test("without an identity, the fix of an open ACL has a place for one", async () => {
    const session = openFor(ensemble.connectString);
    await session.create("/open", null, { mode: "ephemeral" });
    const [finding] = await found("open-acl", undefined, { env: { ZKSH_AUTH_FILE: "" } });
    const { command = "" } = finding?.fix ?? {};
    expect(command).toContain("--auth digest:USER:PASSWORD setAcl /open");
    const typed = { fix: { command: command.replace("USER:PASSWORD", "bob:pw") } } as Finding;
    expect(await type(typed)).toMatchObject({ code: 0 });
  });

  test("a quota of which 95 % are used is named, below a chroot too", async () => {
    const session = await openAnn();
    await session.create("/full", null, { acl: CLOSED });
    for (let n = 1; n < 19; n++) await session.create(`/full/${n}`, null);
    await setQuota(session, "/full", { count: 20n }, { signal: new AbortController().signal });
    for (const chroot of ["", "/full"]) {
      const [finding] = await found("quota", ensemble.connectString + chroot);
      expect(finding).toMatchObject({ where: "/full", evidence: { used: 19, limit: 20 } });
      expect(finding?.message).toBe("19 of 20 znodes (95 %) of its soft quota are used");
      if (chroot === "") continue;
      expect(await type(finding as Finding)).toMatchObject({ code: 0 });
    }
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
  });

  test("a chroot that does not exist is named", async () => {
    const [finding] = await found("chroot-missing", `${ensemble.connectString}/no/such`);
    expect(finding?.where).toBe("/no/such");
    expect(await type(finding as Finding)).toMatchObject({ code: 0 });
    expect(await doctor(`${ensemble.connectString}/no/such`)).toMatchObject({ code: 0 });
    await runZksh(["-s", ensemble.connectString, "--yes", "deleteall", "/no"]);
  });

  test("a name without an address is named, and the list without it", async () => {
    const [finding] = await found("dns", `${ensemble.connectString},zk4.invalid:2181`);
    expect(finding).toMatchObject({ where: "zk4.invalid:2181", severity: "error" });
    expect(await type(finding as Finding)).toMatchObject({ code: 0, stdout: "" });
  });

  test("a server of another release is named", async () => {
    const leader = await ensemble.leader();
    const srvr = await fourLetterWord((await ensemble.followers())[0]?.address ?? "", "srvr");
    const other = await fake({ srvr: srvr.replace(/version: [\d.]+/, "version: 3.4.13") });
    const [finding] = await found("version-skew", `${ensemble.connectString},${other}`);
    expect(finding?.evidence.releases).toContainEqual({ server: other, release: "3.4.13" });
    expect(finding?.message).toContain(leader.address);
    const upgraded = await fake({ srvr });
    const { findings } = await doctor(`${ensemble.connectString},${upgraded}`);
    expect(findings.filter(({ check }) => check === "version-skew")).toEqual([]);
  });

  test("a second leader is named: the list mixes ensembles", async () => {
    const srvr = await fourLetterWord((await ensemble.leader()).address, "srvr");
    const other = await fake({ srvr });
    const [finding] = await found("several-leaders", `${ensemble.connectString},${other}`);
    expect(finding?.evidence.servers).toContain(other);
  });
});

async function restartAll(whitelist: string): Promise<void> {
  for (const server of ensemble.servers) server.configure({ "4lw.commands.whitelist": whitelist });
  await Promise.all(ensemble.servers.map((server) => server.kill()));
  await Promise.all(ensemble.servers.map((server) => server.start()));
  await ensemble.waitForQuorum();
}

/** A server that tells of itself what a real one would not, and takes no sessions. */
async function fake(options: FakeServerOptions): Promise<string> {
  const word = (asked: string) => `${asked} is not executed because it is not in the whitelist.\n`;
  const server = await startFakeServer({ handshake: "close", word, ...options });
  onTestFinished(() => server.close());
  return server.address;
}

describe("on a server with a TLS port", () => {
  let certificates: Certificates;
  let tls: TlsServer;

  beforeAll(async () => {
    certificates = makeCertificates();
    tls = await startTlsServer({ certificate: certificates.server, clientCa: certificates.ca });
  });

  afterAll(async () => {
    await tls?.stop();
    certificates.remove();
  });

  test("a plain client is told to use TLS", async () => {
    const [finding] = await found("unreachable", tls.secureAddress);
    expect(finding).toMatchObject({ evidence: { why: "expects-tls" } });
    // As if its authority was one that this machine trusts.
    const env = { NODE_EXTRA_CA_CERTS: certificates.ca };
    expect(await type(finding as Finding, env)).toMatchObject({ code: 0, stdout: "" });
    const untrusted = await type(finding as Finding);
    expect([untrusted.code, untrusted.stdout]).toEqual([
      1,
      expect.stringContaining("--tls-ca FILE"),
    ]);
  });

  test("a TLS client at the plain port is told so", async () => {
    const { address } = tls.server;
    const env = { ZKSH_TLS: "1" };
    const [finding] = await found("unreachable", address, { env });
    expect(finding).toMatchObject({ evidence: { why: "not-tls" } });
    expect(await type(finding as Finding)).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("on a server with another clock", () => {
  const offset = join(directory, "offset");
  let server: ZooKeeperServer;

  beforeAll(async () => {
    writeFileSync(offset, "+1h\n");
    const variables = [
      `LD_PRELOAD=${fakeTimeLibrary()}`,
      `FAKETIME_TIMESTAMP_FILE=${offset}`,
      // The file is read at the start only.
      "FAKETIME_CACHE_DURATION=100000",
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
      // Java's timed waits would take seconds longer.
      "FAKETIME_FORCE_MONOTONIC_FIX=0",
    ];
    server = await startServer({ through: ["env", ...variables] });
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function setClock(to: string, whitelist = "*"): Promise<void> {
    writeFileSync(offset, `${to}\n`);
    server.configure({ "4lw.commands.whitelist": whitelist });
    await server.restart();
  }

  test("its distance is told until the clock is set, and znodes of that time after it", async () => {
    const session = openFor(server.address);
    await session.create("/later", null, { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
    await session.close();
    const [finding, later] = await found("clock-skew", server.address);
    expect(finding).toMatchObject({ where: server.address, severity: "warning" });
    expect(Number(finding?.evidence.aheadMs)).toBeGreaterThan(3_590_000);
    expect(Number(finding?.evidence.aheadMs)).toBeLessThanOrEqual(3_600_000);
    expect(later).toMatchObject({ where: "/later" });
    await setClock("+0");
    expect(await found("clock-skew", server.address)).toMatchObject([{ where: "/later" }]);
    const again = openFor(server.address);
    await again.delete("/later");
    expect(await doctor(server.address)).toMatchObject({ code: 0, findings: [] });
  });

  test("--test-write measures a clock that is behind, without cons", async () => {
    await setClock("-1h", "srvr,envi");
    expect(await doctor(server.address)).toMatchObject({ code: 0, examined: { clocks: 0 } });
    const [finding] = await found("clock-skew", server.address, { options: ["--test-write"] });
    expect(Number(finding?.evidence.aheadMs)).toBeLessThan(-3_590_000);
  });
});
