/** `top` and `word` on an ensemble whose servers come and go, in pipes and in a real terminal. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ensemble, startEnsemble } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { runZksh, startZksh, type ZkshProcess } from "../support/zksh-process.ts";
import type { ZooKeeperServer } from "../support/zookeeper-server.ts";

let ensemble: Ensemble;
let terminals: Terminals;
beforeAll(async () => {
  [ensemble, terminals] = await Promise.all([startEnsemble(3), startTerminals()]);
});
afterAll(async () => {
  await terminals?.stop();
  await ensemble?.stop();
});

interface Row {
  readonly tick: number;
  readonly server: string;
  readonly state: string;
  readonly role?: string;
  readonly reason?: string;
  readonly perSecond?: { readonly received?: number; readonly zxids?: number };
  readonly latencyMs?: number;
}

/** The lines that are complete. */
function rowsOf({ stdout }: ZkshProcess): Row[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const startTop = () =>
  startZksh(["-s", ensemble.connectString, "top", "--every", "200ms", "--json"], {
    timeoutMs: 60_000,
  });

/** Waits until the latest line about a server is as wanted. */
async function reads(top: ZkshProcess, { address }: ZooKeeperServer, wanted: Partial<Row>) {
  await eventually(
    () => expect(rowsOf(top).findLast(({ server }) => server === address)).toMatchObject(wanted),
    { timeoutMs: 20_000, message: `top does not tell ${JSON.stringify(wanted)}` },
  );
}

describe("top", () => {
  test("tells roles and rates, and follows servers that go away and come back", async () => {
    const leader = await ensemble.leader();
    const [follower, other] = (await ensemble.followers()) as [ZooKeeperServer, ZooKeeperServer];
    const top = startTop();
    await reads(top, leader, { state: "serving", role: "leader" });
    await reads(top, follower, { state: "serving", role: "follower" });
    await follower.kill();
    await reads(top, follower, { state: "down", reason: "connection refused" });
    await reads(top, leader, { state: "serving", role: "leader" });
    await other.kill();
    await reads(top, leader, { state: "not-serving" });
    await Promise.all([follower.start(), other.start()]);
    await ensemble.waitForQuorum();
    for (const server of ensemble.servers) await reads(top, server, { state: "serving" });
    const rates = rowsOf(top).flatMap(({ perSecond = {} }) => Object.values(perSecond));
    expect(rates.length).toBeGreaterThan(10);
    expect(rates.filter((rate) => rate < 0)).toEqual([]);
    top.kill("SIGINT");
    const { code, stderr } = await top.result;
    expect([code, stderr]).toEqual([130, ""]);
  });

  test("tells the rate of requests and transactions, and their latency", async () => {
    const [first] = ensemble.servers as readonly [ZooKeeperServer];
    const session = openFor(first.address);
    const top = startTop();
    await reads(top, first, { state: "serving" });
    await eventually(
      async () => {
        for (let i = 0; i < 20; i++) await session.setData("/zookeeper", null);
        const busy = rowsOf(top).filter(({ server, perSecond, latencyMs }) => {
          const { received = 0, zxids = 0 } = perSecond ?? {};
          return server === first.address && received > 30 && zxids > 20 && latencyMs !== undefined;
        });
        expect(busy).not.toEqual([]);
      },
      { timeoutMs: 20_000, message: "top does not tell the load" },
    );
    top.kill("SIGTERM");
    expect((await top.result).code).toBe(143);
  });

  test("-n ends after so many ticks", async () => {
    const args = ["-s", ensemble.connectString, "top", "-n", "2", "--every", "100ms"];
    const { code, stdout } = await runZksh(args);
    expect(code).toBe(0);
    expect(stdout.toString().split("\n")).toHaveLength(2 * 3 + 1);
  });

  test("ends when the reader of its pipe has gone", async () => {
    const top = `node bin/zksh.js -s ${ensemble.connectString} top --every 100ms`;
    const { stdout } = await runZksh([], {
      through: ["timeout", "20", "sh", "-c", `${top} | head -n 1; echo left`],
    });
    expect(stdout.toString().split("\n").slice(-2)).toEqual(["left", ""]);
  });

  test.each([80, 40])("repaints one board on a terminal of %i columns", async (columns) => {
    const [follower] = (await ensemble.followers()) as [ZooKeeperServer, ZooKeeperServer];
    const args = ["-s", ensemble.connectString, "top", "--every", "200ms"];
    // Ctrl-C is for zksh, not for the shell that will tell how it ended.
    const terminal = await terminals.open({ args, columns, rows: 20, before: "trap : INT" });
    await terminal.shows(/leader +\d/);
    await follower.kill();
    try {
      await terminal.shows(new RegExp(`${follower.address} +down`));
    } finally {
      await follower.start();
    }
    await terminal.shows(/leader(.|\n)*follower|follower(.|\n)*leader/);
    await eventually(async () => expect(await terminal.screen()).not.toContain("down"), {
      timeoutMs: 20_000,
    });
    expect((await terminal.screen()).match(/SERVER/g)).toHaveLength(1);
    await terminal.press("C-c");
    const { code, before, after } = await terminal.left();
    expect(code).toBe(130);
    expect(after).toBe(before);
    expect(await terminal.screen()).not.toContain("error");
  });

  test("at the prompt Ctrl-C goes back to the prompt", async () => {
    const terminal = await terminals.open({ args: ["-s", ensemble.connectString] });
    await terminal.endsWith("/ ›");
    await terminal.enter("top --every 200ms");
    await terminal.shows(/leader +\d/);
    await terminal.press("C-c");
    await terminal.enter("pwd");
    await terminal.shows(/\n\/\n/);
    await terminal.enter("quit");
    expect((await terminal.left()).code).toBe(0);
  });
});

test("at the prompt and in scripts word asks the server of the session", async () => {
  for (let i = 0; i < 3; i++) {
    const script = "session --json; word isro --json";
    const { stdout } = await runZksh(["-s", ensemble.connectString, "-c", script]);
    const [session, word] = stdout
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(word).toMatchObject({ server: session.server, answer: "rw" });
  }
});
