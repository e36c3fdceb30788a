import { describe, expect, test } from "vitest";
import type { Finding } from "../../src/recipes/doctor/finding.ts";
import { createRenderer } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";
import type { DoctorTarget, ExaminedResult } from "../../src/results/doctor.ts";
import { OPEN_ACL } from "../../src/session/session.ts";
import { renderAll } from "../commands/render-all.ts";

const from: DoctorTarget = {
  servers: [
    { host: "zk1", port: 2181 },
    { host: "::1", port: 2182 },
  ],
  chroot: "/app",
  isTls: false,
  isOneShot: true,
};

const render = (finding: Finding, target = from) =>
  renderAll({ kind: "finding", finding, from: target });
const fixOf = async (finding: Finding, target = from) =>
  JSON.parse((await render(finding, target)).json).fix;

const large: Finding = {
  check: "large-znode",
  severity: "warning",
  path: "/a b",
  bytes: 900 * 1024,
  limit: 1_048_575,
};

describe("a finding", () => {
  test("has severity, place, numbers and a fix in every form", async () => {
    const rendered = await render(large);
    const says = "its data takes 900 KB, 88 % of jute.maxbuffer (1 MB)";
    const fix =
      "keep large data elsewhere, and only its address here; if it is not needed any more, delete it";
    const command = "zksh -s 'zk1:2181,[::1]:2182/app' deleteall '/a b'";
    expect(rendered.terminal).toBe(`warning /a b: ${says}\n  fix: ${fix}: ${command}\n`);
    expect(rendered.pipe).toBe(`warning\tlarge-znode\t/a b\t${says}\t${fix}: ${command}\n`);
    expect(rendered.zkcli).toBe(rendered.pipe);
    expect(JSON.parse(rendered.json)).toEqual({
      severity: "warning",
      check: "large-znode",
      where: "/a b",
      message: says,
      evidence: { path: "/a b", bytes: 921_600, limit: 1_048_575 },
      fix: { says: fix, command },
    });
  });

  test("like one before shows only the line to type on a terminal", async () => {
    const again = { kind: "finding", finding: large, from, isRepeated: true } as const;
    const { terminal, pipe } = await renderAll(again);
    expect(terminal.split("\n")[1]).toBe(
      "  fix: zksh -s 'zk1:2181,[::1]:2182/app' deleteall '/a b'",
    );
    expect(pipe).toBe((await render(large)).pipe);
  });

  test("shows no control characters of names, and one line a finding in a pipe", async () => {
    const { terminal, pipe } = await render({ ...large, path: "/x\u202e\u001b[2J" });
    expect(terminal).not.toContain("\u001b");
    expect(terminal).not.toContain("\u202e");
    expect(pipe).not.toContain("\u001b");
    expect(pipe.trimEnd()).not.toContain("\n");
  });

  test("is fixed at the prompt by a line of the prompt", async () => {
    const prompt = { ...from, isOneShot: false };
    expect((await fixOf(large, prompt)).command).toBe("deleteall '/a b'");
    const dns: Finding = {
      check: "dns",
      severity: "error",
      server: "zk1:2181",
      says: "no such host",
    };
    expect((await fixOf(dns, prompt)).command).toBe("connect '[::1]:2182/app'");
    expect((await fixOf(dns)).command).toBe("zksh -s '[::1]:2182/app' doctor");
    const only = { ...from, servers: from.servers.slice(0, 1) };
    expect(await fixOf(dns, only)).toEqual({ says: "correct the name, or leave it out" });
  });

  test("of a session with TLS is fixed with TLS", async () => {
    expect((await fixOf(large, { ...from, isTls: true })).command).toContain("/app' --tls delete");
  });

  test("of a quota is fixed outside the chroot, by twice the limit", async () => {
    const quota: Finding = {
      check: "quota",
      severity: "warning",
      path: "/app/x",
      what: "bytes",
      isHard: true,
      used: 950n,
      limit: 1_000n,
    };
    const command = "zksh -s 'zk1:2181,[::1]:2182' setquota -B 2000 /app/x";
    expect((await fixOf(quota)).command).toBe(command);
    expect((await fixOf(quota, { ...from, isOneShot: false })).command).toBe(command);
    const soft = { ...quota, what: "count", isHard: false, used: 3_000n } as const;
    expect((await fixOf(soft, { ...from, chroot: "" })).command).toMatch(/ setquota -n 6000 /);
  });

  test("of an open ACL keeps the other entries, and takes write from everybody", async () => {
    const ann = { scheme: "digest", id: "ann:RYbu6l5aZwqon8VWmkcGvezdzfc=", perms: 31 };
    const open: Finding = {
      check: "open-acl",
      severity: "warning",
      path: "/x",
      acl: OPEN_ACL,
      hasIdentity: true,
    };
    expect((await fixOf(open)).command).toContain("setAcl /x auth::cdrwa,world:anyone:r");
    const shared = { ...open, acl: [...OPEN_ACL, ann] };
    expect((await fixOf(shared)).command).toContain(
      "setAcl /x world:anyone:r,digest:ann:RYbu6l5aZwqon8VWmkcGvezdzfc=:cdrwa",
    );
    const writable = { ...open, acl: [{ scheme: "world", id: "anyone", perms: 2 }] };
    expect((await fixOf(writable)).command).toMatch(/setAcl \/x auth::cdrwa$/);
    const hidden = { ...open, acl: [...OPEN_ACL, { ...ann, id: "ann:x" }] };
    expect((await fixOf(hidden)).command).toBeUndefined();
    const nobody = { ...open, hasIdentity: false };
    expect((await fixOf(nobody, { ...from, isOneShot: false })).command).toBe(
      "addauth digest USER:PASSWORD; setAcl /x auth::cdrwa,world:anyone:r",
    );
  });

  test("of a server behind the leader counts transactions, or a change of the leader", async () => {
    const lag: Finding = {
      check: "lag",
      severity: "error",
      server: "zk1:2181",
      zxid: 0x100000003n,
      leaderZxid: 0x100000005n,
      waitedMs: 2_040,
    };
    expect((await render(lag)).terminal).toContain(
      "2 transactions behind: at 0x100000003, where the leader was at 0x100000005 2 s before",
    );
    const older = { ...lag, zxid: 0x5n };
    expect((await render(older)).terminal).toContain("a change of the leader behind");
  });
});

describe("the end of an examination", () => {
  const result: ExaminedResult = {
    kind: "examined",
    servers: [
      {
        server: "zk1:2181",
        isListed: true,
        isTls: false,
        isReached: true,
        release: "3.8.0",
        mode: "leader",
        roundTripMs: 1.4,
        latency: { min: 0, avg: 0.6, max: 12 },
        zxid: 0x100000005n,
        lag: 0n,
        outstanding: 0,
      },
    ],
    znodes: 1_204,
    isWholeTree: true,
    unreadable: 0,
    clocks: 1,
    findings: 0,
  };
  const said = async (how: { isTTY?: boolean; isVerbose?: boolean; isQuiet?: boolean }) => {
    const view = { isTTY: false, isQuiet: false, columns: 120, theme: plainTheme, now: Date.now };
    return (await createRenderer("text", { ...view, ...how })).result(result);
  };

  test("is one line on stderr of a terminal, and nothing in a pipe", async () => {
    expect(await said({ isTTY: true })).toEqual({
      err: "All is well; examined: 1 server, 1,204 znodes, 1 clock\n",
    });
    expect(await said({})).toEqual({});
    expect(await said({ isTTY: true, isQuiet: true })).toEqual({});
  });

  test("shows what each server says of itself with -v", async () => {
    const { err = "" } = await said({ isVerbose: true });
    expect(err.split("\n")[1]).toMatch(
      /^zk1:2181 +leader +3\.8\.0 +no +in 1 ms +1\/12 +0 +0 +0x100000005$/,
    );
  });
});
