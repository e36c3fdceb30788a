/**
 * Every command of the registry against ClickHouse Keeper, as the embedded server plays it: it works,
 * or says that it is not on ClickHouse Keeper. Nothing makes the server hang up. What runs programs or
 * asks name servers is in test/e2e/clickhouse-keeper.integration.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/commands/index.ts";
import type { KeeperOptions } from "../../src/embedded/dialect.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { runReal } from "./run-real.ts";

interface Line {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** Zero unless told otherwise. */
  readonly exit?: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
}

const NOT_HERE = { exit: 1, stderr: /not on ClickHouse Keeper/ };

const script = (...lines: string[]): readonly string[] => ["-c", lines.join("; ")];

/** By command; `tree` is an exported tree. */
const lines = (tree: string): Readonly<Record<string, readonly Line[]>> => ({
  getAcl: [{ argv: ["getAcl", "/t"], stdout: /world:anyone:cdrwa/ }],
  setAcl: [
    { argv: ["setAcl", "/t/acl", "world:anyone:cdrwa"], stderr: /^$/ },
    {
      argv: ["setAcl", "/t/acl", "world:anyone:r"],
      stderr: /warning: ClickHouse Keeper has not stored world:anyone:r of the ACL of \/t\/acl/,
    },
    {
      argv: [
        ...["--auth", "digest:a:a", "setAcl", "--hash-digests", "/t/acl"],
        "ip:10.0.0.1:r,digest:a:a:cdrwa",
      ],
      stderr: /has not stored ip:10.0.0.1:r of the ACL of \/t\/acl: it is digest:a:[^:]+:cdrwa/,
    },
    {
      argv: ["setAcl", "--hash-digests", "/t/shut", "ip:10.0.0.1:r,digest:b:b:cdrwa"],
      stderr: /may have left out a part of the ACL of \/t\/shut, which this session may not read/,
    },
    { argv: ["setAcl", "-R", "-y", "/t/deep", "world:anyone:r"], stderr: /has not stored/ },
  ],
  can: [{ argv: ["can", "read", "/t"] }],
  addauth: [
    { argv: script("addauth digest ann:secret", "create /t/ann x auth::cdrwa", "get /t/ann") },
    { argv: ["addauth", "ip", "x"], exit: 4 },
  ],
  whoami: [{ argv: ["whoami"], ...NOT_HERE }],
  lock: [{ argv: script("lock /t/locks/a"), exit: 0 }],
  rwlock: [],
  sem: [],
  elect: [],
  once: [{ argv: ["once", "--status", "/t/job"] }],
  unlock: [{ argv: script("lock /t/locks/e", "unlock /t/locks/e") }],
  whoholds: [
    { argv: ["whoholds", "/t/locks/a"], exit: 1 },
    { argv: script("lock /t/locks/f", "whoholds /t/locks/f"), stdout: /holder/ },
    { argv: ["whoholds", "-R", "/t"], exit: 1 },
  ],
  revoke: [{ argv: ["revoke", "/t/locks/a"], exit: 1 }],
  fence: [{ argv: ["fence", "check", "exclusive:0x1f:/t/locks/_c_6b0e-lock-0000000003"], exit: 1 }],
  setquota: [{ argv: ["setquota", "-n", "5", "/t"], ...NOT_HERE }],
  listquota: [{ argv: ["listquota", "/t"], ...NOT_HERE }],
  delquota: [{ argv: ["delquota", "/t"], ...NOT_HERE }],
  doctor: [],
  sync: [{ argv: ["sync", "/t"] }],
  config: [
    { argv: ["config"], stdout: /server\.1=localhost:9234;participant;1/ },
    { argv: ["config", "-c"] },
  ],
  reconfig: [{ argv: ["reconfig", "-y", "-remove", "3"], exit: 1, stderr: /not offer|reconfig/i }],
  top: [{ argv: ["top", "-n", "1"], stdout: /standalone/ }],
  session: [{ argv: script("create -e /t/mine", "session"), stdout: /\/t\/mine/ }],
  word: [
    { argv: ["word", "srvr"], stdout: /ClickHouse Keeper version/ },
    { argv: ["word", "zzzz"], exit: 1, stderr: /does not know the word zzzz/ },
  ],
  serve: [],
  help: [{ argv: ["help"] }],
  version: [{ argv: ["version"] }],
  settings: [{ argv: ["settings"] }],
  // Nothing is kept without a home directory.
  undo: [{ argv: ["undo"], exit: 9 }],
  cd: [{ argv: script("cd /t", "ls"), stdout: /acl/ }],
  pwd: [{ argv: script("cd /t", "pwd"), stdout: /^\/t$/m }],
  connect: [],
  close: [],
  history: [],
  redo: [],
  printwatches: [{ argv: ["printwatches"] }],
  clear: [{ argv: ["clear"] }],
  quit: [{ argv: ["quit"] }],
  tree: [{ argv: ["tree", "/t"], stdout: /acl/ }],
  find: [{ argv: ["find", "--kind", "ephemeral", "/t"] }, { argv: ["find", "/t"], stdout: /acl/ }],
  grep: [{ argv: ["grep", "data", "/t"], stdout: /\/t\/n/ }],
  du: [{ argv: ["du", "/t"] }],
  cp: [
    { argv: ["cp", "-r", "-p", "/t/deep", "/t/copy"] },
    { argv: ["cp", "-r", "--exact", "/t/deep", "/t/copy2"], ...NOT_HERE },
  ],
  mv: [
    { argv: ["mv", "/t/old", "/t/new"] },
    { argv: ["mv", "--exact", "/t/deep", "/t/new2"], ...NOT_HERE },
  ],
  diff: [{ argv: ["diff", "/t/deep", "/t/deep"] }],
  export: [
    { argv: ["export", "/t/deep"], stdout: /"path":"\/t\/deep\/a"/ },
    { argv: ["export", "/"], stdout: /"path":"\/t"/ },
  ],
  import: [
    { argv: ["import", "-", "/t/imported"], stdin: tree },
    { argv: ["import", "--exact", "-", "/t/imported2"], stdin: tree, ...NOT_HERE },
  ],
  "wait-for": [{ argv: ["wait-for", "/t", "exists"] }],
  watch: [{ argv: ["watch", "-t", "100ms", "/t/n"], exit: 7, stdout: /data/ }],
  addWatch: [{ argv: script("addWatch /t/n"), exit: 0 }],
  removewatches: [{ argv: script("get -w /t/n", "removewatches /t/n") }],
  get: [{ argv: ["get", "/t/n"], stdout: /^data$/ }, { argv: ["get", "-s", "/t/n"] }],
  ls: [
    { argv: ["ls", "/t"], stdout: /^n$/m },
    { argv: ["ls", "-R", "/t"], stdout: /\/t\/deep\/a/ },
    { argv: ["ls", "-l", "/t"] },
    { argv: ["ls", "/"], stdout: /^keeper$/m },
  ],
  stat: [{ argv: ["stat", "/t"] }],
  exists: [{ argv: ["exists", "/t"] }, { argv: ["exists", "/none"], exit: 1 }],
  create: [
    { argv: ["create", "/t/c1", "x"] },
    { argv: ["create", "-s", "/t/c2-", "x"] },
    { argv: ["create", "-e", "/t/c3", "x"] },
    { argv: ["create", "-p", "/t/c4/d/e", "x"] },
    { argv: ["create", "-t", "5s", "/t/ttl", "x"], ...NOT_HERE },
    { argv: ["create", "/t/c5", "x", "world:anyone:r"], stderr: /has not stored world:anyone:r/ },
    { argv: ["create", "/keeper/x", "x"], exit: 1 },
  ],
  set: [{ argv: ["set", "/t/n", "data"] }],
  edit: [{ argv: ["edit", "/t/n"], exit: 9 }],
  delete: [{ argv: ["delete", "/t/gone"] }],
  deleteall: [{ argv: ["deleteall", "-y", "/t/gone2"] }],
  txn: [{ argv: ["txn", "create /t/txn", "set /t/n data", "check /t", "delete /t/txn"] }],
  getAllChildrenNumber: [{ argv: ["getAllChildrenNumber", "/t/deep"], stdout: /2/ }],
  getEphemerals: [{ argv: script("create -e /t/own", "getEphemerals"), stdout: /^\/t\/own$/m }],
  ls2: [{ argv: ["ls2", "/t"] }],
});

const TREE = [
  "",
  "/acl",
  "/n",
  "/deep",
  "/deep/a",
  "/deep/b",
  "/old",
  "/gone",
  "/gone2",
  "/locks",
  "/shut",
];

describe.each<{ keeper: KeeperOptions; hasContainers: boolean; hasWatches: boolean }>([
  { keeper: { version: "22.3.5" }, hasContainers: false, hasWatches: false },
  { keeper: { version: "24.8.1" }, hasContainers: false, hasWatches: false },
  { keeper: { version: "26.7.2" }, hasContainers: true, hasWatches: true },
])("on ClickHouse Keeper $keeper.version", ({ keeper, hasContainers, hasWatches }) => {
  let server: EmbeddedServer;
  let tree: string;

  beforeAll(async () => {
    server = await startEmbeddedServer({ dialect: "keeper", keeper });
    const session = openSession(parseConnectString(server.address));
    for (const path of TREE) await session.create(`/t${path}`, Buffer.from("data"));
    await session.close();
    tree = (await runReal(server.address, ["export", "/t/deep"])).stdout;
  });

  afterAll(() => server.stop());

  test.each(commands.map(({ name }) => name))("%s", async (name) => {
    const cases = lines(tree)[name];
    expect(cases, `${name} has no line here`).toBeDefined();
    for (const { argv, stdin, exit = 0, stdout, stderr } of cases ?? []) {
      const ran = await runReal(server.address, argv, stdin === undefined ? {} : { stdin });
      const what = JSON.stringify({ argv, ...ran });
      if (name === "addWatch" && !hasWatches) {
        expect(ran.exit, what).toBe(1);
        expect(ran.stderr).toMatch(/not on ClickHouse Keeper before 25\.12/);
        continue;
      }
      // Releases before 23.7 have no configuration to read.
      if (name === "config" && keeper.version === "22.3.5") {
        expect(ran.exit, what).toBe(3);
        continue;
      }
      expect(ran.exit, what).toBe(exit);
      if (stdout) expect(ran.stdout, what).toMatch(stdout);
      if (stderr) expect(ran.stderr, what).toMatch(stderr);
      expect(ran.stderr, what).not.toMatch(/connection was lost|session has expired/i);
    }
  });

  test("create -c", async () => {
    const ran = await runReal(server.address, ["create", "-c", "/t/container"]);
    expect(ran.exit).toBe(hasContainers ? 0 : 1);
    if (!hasContainers) expect(ran.stderr).toMatch(/not on ClickHouse Keeper before 26\.7/);
    else {
      const held = await runReal(server.address, ["whoholds", "/t/container"]);
      expect([held.exit, held.stdout]).toEqual([1, expect.not.stringContaining("plain")]);
    }
  });
});
