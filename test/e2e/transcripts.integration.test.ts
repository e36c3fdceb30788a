/**
 * The same scripts for Apache zkCli and for `zksh -o zkcli`: what they write is compared line by
 * line.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startEnsemble } from "../support/ensemble.ts";
import { freshChroot } from "../support/shared-server.ts";
import { runZkcli } from "../support/zkcli-process.ts";
import { runZksh } from "../support/zksh-process.ts";
import { startServer } from "../support/zookeeper-server.ts";
import { INTENDED_DIFFERENCES } from "./intended-differences.ts";
import {
  type Marks,
  OFFLINE_MARKS,
  readMarked,
  readWhole,
  type Transcript,
  type Written,
  withMarks,
  withoutNoise,
  ZNODE_MARKS,
} from "./transcript.ts";

// `printwatches off` and an event that is still to be printed race in zkCli: no script switches
// after its first watch.
const SCRIPTS = ["znodes", "deleteall", "words", "options", "acl", "watches", "watches-unprinted"];

function linesOf(script: string): string[] {
  const path = join(import.meta.dirname, "transcripts", `${script}.zk`);
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

async function zksh(server: string, input: string, timeZone = "UTC"): Promise<Written> {
  const args = ["-s", server, "-o", "zkcli", "--yes", "--keep-going", "-f", "-"];
  const { stdout, stderr } = await runZksh(args, { input, env: { TZ: timeZone } });
  return { stdout: stdout.toString(), stderr };
}

/** Runs a script in each shell on a server of its own. */
async function runBoth(
  script: string,
  servers: readonly string[],
  marks: Marks | "no marks" = ZNODE_MARKS,
) {
  const lines = linesOf(script);
  const input = marks === "no marks" ? [...lines, ""].join("\n") : withMarks(lines, marks);
  const read = (written: Written) =>
    marks === "no marks" ? readWhole(written) : readMarked(lines, marks, written);
  const [theirs, ours] = await Promise.all([
    runZkcli(servers[0] ?? "", input),
    zksh(servers[1] ?? "", input),
  ]);
  return { theirs: read(theirs), ours: read(ours) };
}

/** What zksh has to say: what zkCli says, but for the differences that are meant. */
function expected(script: string, { parts, events }: Transcript): unknown {
  const differences = new Map(
    INTENDED_DIFFERENCES[script]?.map((difference) => [difference.line, difference]),
  );
  const either = (meant: string | RegExp | undefined, theirs: string) =>
    meant instanceof RegExp ? expect.stringMatching(meant) : (meant ?? theirs);
  return {
    events,
    parts: parts.map(({ line, stdout, stderr }) => {
      const meant = differences.get(line);
      const ours = {
        line,
        stdout: either(meant?.stdout, stdout),
        stderr: either(meant?.stderr, stderr),
      };
      // One that zkCli has given up is not a difference any more.
      if (meant) expect({ line, stdout, stderr }).not.toEqual(ours);
      return ours;
    }),
  };
}

async function twoChroots(): Promise<string[]> {
  return Promise.all([freshChroot(), freshChroot()]);
}

describe("zksh -o zkcli writes what zkCli writes", () => {
  test.each(SCRIPTS)("%s.zk", async (script) => {
    const { theirs, ours } = await runBoth(script, await twoChroots());
    expect(ours).toEqual(expected(script, theirs));
  });

  test("closed.zk, with and without a session", async () => {
    const { theirs, ours } = await runBoth("closed", await twoChroots(), OFFLINE_MARKS);
    expect(ours).toEqual(expected("closed", theirs));
  });

  test("history.zk, where every line counts", async () => {
    const { theirs, ours } = await runBoth("history", await twoChroots(), "no marks");
    expect(ours).toEqual(theirs);
  });

  test("quota.zk, on servers that enforce quotas", async () => {
    const options = {
      jvmFlags: ["-Dzookeeper.enforceQuota=true"],
      config: { reconfigEnabled: "true" },
    };
    const servers = await Promise.all([startServer(options), startServer(options)]);
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    const addresses = servers.map((server) => server.address);
    const { theirs, ours } = await runBoth("quota", addresses);
    expect(ours).toEqual(expected("quota", theirs));
  });

  test("ensemble.zk, on ensembles of one", async () => {
    const config = { standaloneEnabled: "false", reconfigEnabled: "true", skipACL: "yes" };
    const ensembles = await Promise.all([
      startEnsemble(1, { config }),
      startEnsemble(1, { config }),
    ]);
    onTestFinished(
      async () => void (await Promise.all(ensembles.map((ensemble) => ensemble.stop()))),
    );
    const servers = ensembles.map((ensemble) => ensemble.connectString);
    const { theirs, ours } = await runBoth("ensemble", servers);
    expect(withoutPorts(ours)).toEqual(withoutPorts(theirs));
  });

  test("reads.zk, on the same znodes: to the byte, times and zxids too", async () => {
    const chroot = await freshChroot();
    await runZkcli(chroot, [...linesOf("reads-prepare"), ""].join("\n"));
    const broken = Buffer.from("68c3a9ffc328e282f09f98f8a1c0aff0288cbcedb0806f", "hex").toString(
      "base64",
    );
    await runZksh(["-s", chroot, "set", "-b", "/bytes", broken]);
    const script = [...linesOf("reads"), ""].join("\n");
    const [theirs, ours] = await Promise.all([
      runZkcli(chroot, script, "America/New_York"),
      zksh(chroot, script, "America/New_York"),
    ]);
    expect(ours).toEqual({ stdout: withoutNoise(theirs).stdout, stderr: theirs.stderr });
  });
});

test("an event is taken out wherever zkCli has printed it, also in the middle of a list", () => {
  const [head, event] = [
    "\nWATCHER::\n",
    "\nWatchedEvent state:SyncConnected type:NodeDataChanged path:/w\n",
  ];
  const events = ["state:SyncConnected type:NodeDataChanged path:/w"];
  const list = ["y\n", "[a", ", b", "]\n"];
  for (let at = 0; at <= list.length; at++) {
    for (let next = at; next <= list.length; next++) {
      const stdout = [
        ...list.slice(0, at),
        head,
        ...list.slice(at, next),
        event,
        ...list.slice(next),
      ].join("");
      expect(withoutNoise({ stdout, stderr: "" })).toEqual({ stdout: "y\n[a, b]\n", events });
    }
  }
});

describe("the intended differences", () => {
  const rows = Object.entries(INTENDED_DIFFERENCES).flatMap(([script, differences]) =>
    differences.map(({ line }) => ({ script, line })),
  );
  test.each(rows)("$script: $line stands for one line", ({ script, line }) => {
    expect(linesOf(script).filter((other) => other === line)).toEqual([line]);
    expect(INTENDED_DIFFERENCES[script]?.filter((other) => other.line === line)).toHaveLength(1);
  });
});

/** Each has the ports it was given. */
function withoutPorts({ parts, events }: Transcript): Transcript {
  const alike = (text: string) =>
    text.replace(/127\.0\.0\.1:\d{4,5}(?::\d{4,5})?/g, "127.0.0.1:<ports>");
  return { events, parts: parts.map((part) => ({ ...part, stdout: alike(part.stdout) })) };
}
