import { beforeEach, describe, expect, test } from "vitest";
import { Election } from "../../src/recipes/locks/election.ts";
import {
  CURATOR_REVOKE,
  decodeRecord,
  TEXTBOOK_REVOKE,
} from "../../src/recipes/locks/holder-record.ts";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { kazoo, record, ticket, uuid } from "../support/tickets.ts";
import { runReal } from "./run-real.ts";

let server: string;
let holder: Session;

beforeEach(async () => {
  server = await freshChroot();
  holder = openFor(server);
  await holder.create("/deploy", null);
});

const revoke = (...words: readonly string[]) => runReal(server, ["--yes", "revoke", ...words]);
const ours = (digit: string, more = {}) =>
  ticket(holder, `/deploy/_c_${uuid(digit)}-lock-`, record({ cmd: "deploy.sh", ...more }));
const text = async (node: string) => String((await holder.getData(node)).data);

describe("revoke", () => {
  test("asks before it acts, and refuses without a terminal", async () => {
    const node = await ours("a");
    expect(await runReal(server, ["revoke", "/deploy"])).toMatchObject({
      exit: 9,
      stderr:
        "error: revoke needs confirmation, and there is no terminal; add --yes to go ahead\n" +
        "  the question: Ask ann@web3 pid 4711 deploy.sh to release /deploy?\n",
    });
    expect(await runReal(server, ["revoke", "--force", "/deploy"])).toMatchObject({
      exit: 9,
      stderr: expect.stringContaining(
        "Take /deploy away from ann@web3 pid 4711 deploy.sh? Its command is killed, but may run for a moment",
      ),
    });
    expect(await runReal(server, ["revoke", "--force", "--wait", "30s", "/deploy"])).toMatchObject({
      exit: 9,
      stderr: expect.stringContaining(
        "to release /deploy, and take it away after 30s? Its command is killed",
      ),
    });
    expect(await text(node)).toBe(String(record({ cmd: "deploy.sh" })));
  });

  test("adds a request to our record", async () => {
    const node = await ours("a", { why: "v42" });
    await ours("b");
    expect(await revoke("--reason", "hotfix", "/deploy")).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    });
    const written = decodeRecord((await holder.getData(node)).data);
    expect(written).toEqual({
      ...decodeRecord(record({ cmd: "deploy.sh", why: "v42" })),
      revoke: { by: "ann@web3", at: expect.stringMatching(/Z$/), reason: "hotfix" },
    });
    expect(await runReal(server, ["--yes", "revoke", "/deploy"], { tty: true })).toMatchObject({
      stdout: "Asked ann@web3 pid 4711 deploy.sh to release /deploy\n",
    });
  });

  test("ends with 1 if the lock is free", async () => {
    expect(await revoke("/deploy")).toEqual({
      exit: 1,
      stdout: "",
      stderr: "error: /deploy is not held\n",
    });
    expect(await runReal(server, ["revoke", "/no/such"])).toMatchObject({ exit: 1 });
    await ours("a");
    expect(await revoke("/deploy", "--node", "x")).toMatchObject({
      exit: 1,
      stderr: "error: there is no ticket x at /deploy\n",
    });
  });

  test.each([
    { library: "Curator", name: `_c_${uuid("a")}-lock-`, word: CURATOR_REVOKE },
    { library: "Curator's writer", name: `_c_${uuid("a")}-__WRIT__`, word: CURATOR_REVOKE },
    { library: "go-zookeeper", name: `_c_${"a".repeat(32)}-lock-`, word: TEXTBOOK_REVOKE },
    { library: "the textbook", name: "lock-0x1f-", word: TEXTBOOK_REVOKE },
  ])("$library is asked in its own word", async ({ name, word }) => {
    const node = await ticket(holder, `/deploy/${name}`, "10.0.0.7");
    expect((await revoke("/deploy")).exit).toBe(0);
    expect(await text(node)).toBe(word);
  });

  test("x-1- cannot be asked, which is said once", async () => {
    await ticket(holder, "/deploy/x-1-");
    expect(await revoke("/deploy")).toEqual({
      exit: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^error: a WriteLock client in session 0x\w+ cannot be asked to release \/deploy\n {2}its library has no revocation; revoke --force takes the lock away\n$/,
      ),
    });
  });

  test("a latch that only has a name is asked in the word that ours listens to", async () => {
    const node = await ticket(holder, `/deploy/_c_${uuid("a")}-latch-`, "web3");
    expect(await revoke("/deploy")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "warning: web3 (Curator or zksh) reacts only if it is zksh: Curator's LeaderLatch has no revocation\n",
    });
    expect(await text(node)).toBe(TEXTBOOK_REVOKE);
    expect((await runReal(server, ["--yes", "--json", "revoke", "/deploy"])).stdout).toContain(
      '"mayNotListen":true',
    );
    expect(await revoke("--force", "/deploy")).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining(
        "may not be told that it lost /deploy, and may keep running beside the next",
      ),
    });
  });

  test("a leader of ours that goes by a name gives way", async () => {
    const leader = await new Election(holder, "/scheduler", { id: "web3" }).campaign();
    const asked = new Promise((resolve) => leader.onRevoke(resolve));
    expect((await revoke("/scheduler")).exit).toBe(0);
    await asked;
    await leader.release();
  });

  test("kazoo cannot be asked; by force its ticket goes, and the warning says that it runs on", async () => {
    await kazoo(server, 'client.Lock("/deploy", "job 7").acquire()');
    expect(await revoke("/deploy")).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("job 7 (kazoo) cannot be asked"),
    });
    expect(await revoke("--force", "/deploy")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "warning: job 7 (kazoo) is not told that it lost /deploy, and may keep running beside the next holder\n",
    });
    expect(await holder.getChildren("/deploy")).toEqual([]);
  });

  test("--force deletes both tickets of one of ours, and warns that its command may run for a moment", async () => {
    await ours("a");
    await ticket(holder, `/deploy/_c_${uuid("a")}-__lock__`, record());
    const waiting = await ours("b");
    expect(await revoke("--force", "/deploy")).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "warning: a command of ann@web3 pid 4711 deploy.sh under /deploy may run for a moment " +
        "beside the next holder's before it is killed\n",
    });
    expect((await holder.getChildren("/deploy")).map((name) => `/deploy/${name}`)).toEqual([
      waiting,
    ]);
  });

  test("all readers, or the one that is named, waiting too", async () => {
    const readers = [await ticket(holder, `/deploy/_c_${uuid("a")}-__READ__`, record())];
    readers.push(await ticket(holder, `/deploy/_c_${uuid("b")}-__READ__`, record()));
    const writer = await ticket(holder, `/deploy/_c_${uuid("c")}-__WRIT__`, record());
    const asked = async () =>
      Promise.all(
        [...readers, writer].map(
          async (node) => decodeRecord((await holder.getData(node)).data)?.revoke !== undefined,
        ),
      );
    await revoke("/deploy", "--node", writer.slice("/deploy/".length));
    expect(await asked()).toEqual([false, false, true]);
    await revoke("/deploy");
    expect(await asked()).toEqual([true, true, true]);
  });

  test("--wait ends when the lock is given up", async () => {
    const node = await ours("a");
    const waiting = runReal(server, ["--yes", "--json", "revoke", "--wait", "20s", "/deploy"]);
    await eventually(async () => (await text(node)).includes('"revoke"'));
    await holder.delete(node);
    const { exit, stdout } = await waiting;
    expect(exit).toBe(0);
    expect(
      stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).event),
    ).toEqual(["asked", "released"]);
  });

  test("--wait ends with 7 when it is not; with --force it is then taken away", async () => {
    const node = await ticket(holder, `/deploy/_c_${uuid("a")}-lock-`, "10.0.0.7");
    expect(await revoke("--wait", "50ms", "/deploy")).toEqual({
      exit: 7,
      stdout: "",
      stderr:
        "error: 10.0.0.7 (Curator) did not release /deploy within 50ms\n  revoke --force takes the lock away\n",
    });
    expect(await holder.exists(node)).toBeDefined();
    // Who cannot be asked has not given it up either.
    await ticket(holder, "/deploy/x-1-");
    const deaf = await revoke("--node", "x-1-0000000001", "--wait", "50ms", "/deploy");
    expect([deaf.exit, deaf.stderr.split("\n").length]).toEqual([1, 3]);
    const { exit, stderr } = await revoke("--wait", "50ms", "--force", "/deploy");
    expect([exit, stderr]).toEqual([
      0,
      expect.stringContaining("may keep running beside the next holder"),
    ]);
    expect(await holder.exists(node)).toBeUndefined();
  });

  test("Curator is asked again after a moment, in case it has not looked yet", async () => {
    const node = await ticket(holder, `/deploy/_c_${uuid("a")}-lock-`);
    const waiting = revoke("--wait", "20s", "/deploy");
    await eventually(async () => (await holder.exists(node))?.version === 2);
    await holder.delete(node);
    expect((await waiting).exit).toBe(0);
  });

  test("is a write", async () => {
    expect((await runReal(server, ["-r", "--yes", "revoke", "/deploy"])).exit).toBe(9);
  });
});
