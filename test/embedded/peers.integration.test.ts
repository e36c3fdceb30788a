/**
 * Clients that nobody here wrote, unchanged, on Apache ZooKeeper and on `zksh serve`: the same
 * transcripts.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readMarked, withMarks, ZNODE_MARKS } from "../e2e/transcript.ts";
import { eventually } from "../support/eventually.ts";
import { peerClassPath, spawnJava } from "../support/java.ts";
import { freshChroot } from "../support/shared-server.ts";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";
import { runZkcli } from "../support/zkcli-process.ts";
import { startZksh, type ZkshProcess } from "../support/zksh-process.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";

const PEERS = join(import.meta.dirname, "peers");
const classes = temporaryDirectory("classes");

let real: ZooKeeperServer;
let serving: ZkshProcess;
let embedded: string;
beforeAll(async () => {
  serving = startZksh(["serve", "--port", "0"], { timeoutMs: 300_000 });
  real = await startServer();
  embedded = await eventually(() => /127\.0\.0\.1:\d+/.exec(serving.stdout)?.[0] ?? false);
});
afterAll(async () => {
  serving.kill();
  const [{ code, stderr }] = await Promise.all([serving.result, real.stop()]);
  removeDirectory(classes);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

/** What a program writes on each server, below an empty znode. */
async function onBoth(
  run: (connectString: string) => Promise<string>,
): Promise<{ real: string; embedded: string }> {
  const [onReal, onEmbedded] = await Promise.all(
    [real.address, embedded].map(async (address) => run(await freshChroot(address))),
  );
  return { real: onReal ?? "", embedded: onEmbedded ?? "" };
}

test("kazoo gets the same answers from the embedded server as from the real one", async () => {
  const transcript = await onBoth(async (connectString) => {
    const program = ["-B", join(PEERS, "kazoo_transcript.py"), connectString];
    const child = spawnTracked("/usr/bin/python3", program, { stdio: ["ignore", "pipe", "pipe"] });
    return outputOf(child);
  });
  expect(transcript.real).toMatch(/\n# end .*\n$/);
  expect(withoutChroots(transcript.embedded)).toEqual(withoutChroots(transcript.real));
});

test("Curator gets the same answers from the embedded server as from the real one", async () => {
  execFileSync("javac", [
    "-cp",
    peerClassPath(),
    "-d",
    classes,
    join(PEERS, "java/CuratorTranscript.java"),
  ]);
  const classPath = [classes, peerClassPath()].join(delimiter);
  const transcript = await onBoth(async (connectString) => {
    const words = [
      "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
      "CuratorTranscript",
      connectString,
    ];
    return outputOf(spawnJava(words, { classPath, stdio: ["ignore", "pipe", "pipe"] }));
  });
  expect(transcript.real).toMatch(/\n# end\n$/);
  expect(withoutChroots(transcript.embedded)).toEqual(withoutChroots(transcript.real));
});

/** The last line of each ends zkCli, so that line is left to the shell's own suite. */
const SCRIPTS = ["znodes", "deleteall", "words", "options", "acl", "watches", "quota"].map(
  (name) => {
    const file = join(import.meta.dirname, "../e2e/transcripts", `${name}.zk`);
    return { name, lines: readFileSync(file, "utf8").split("\n").slice(0, -2) };
  },
);

test("zkCli.sh gets the same answers from the embedded server as from the real one", async () => {
  const run = async (address: string) => {
    const chroots = await Promise.all(
      SCRIPTS.map(({ name }) => (name === "quota" ? address : freshChroot(address))),
    );
    // One process for all: `connect` gives each script a session and a znode of its own.
    const input = SCRIPTS.map(
      ({ lines }, index) => `connect ${chroots[index]}\n${withMarks(lines, ZNODE_MARKS)}`,
    );
    const lines = SCRIPTS.flatMap((script, index) =>
      index === 0 ? script.lines : ["connect", ...script.lines],
    );
    const { parts, events } = readMarked(
      lines,
      ZNODE_MARKS,
      await runZkcli(address, input.join("")),
    );
    // zkCli's two threads write into each other's lines, so that now and then one of several like
    // events cannot be read.
    const kinds = [...new Set(events)].sort();
    return { kinds, parts: parts.map((part) => ({ line: part.line, ...alike(part) })) };
  };
  const [onReal, onEmbedded] = await Promise.all([run(real.address), run(embedded)]);
  const lastScript = SCRIPTS.at(-1)?.lines.length ?? 0;
  expect(onReal.parts.slice(-lastScript).some(({ stdout }) => stdout !== "")).toBe(true);
  expect(onEmbedded).toEqual(onReal);
});

function alike({ line, stdout, stderr }: { line: string; stdout: string; stderr: string }) {
  const plain = withoutChroots(stdout);
  return {
    // Identities are a set.
    stdout: line === "whoami" ? plain.split("\n").sort().join("\n") : plain,
    // zkCli does not always wait for its own deletions.
    stderr: stderr.replace("Failed to delete some node(s) in the subtree!\n", ""),
  };
}

/** Below which znode a script worked, and on which port. */
function withoutChroots(written: string): string {
  return written
    .replace(/\/test-[0-9a-f-]{36}/g, "/<chroot>")
    .replace(/127\.0\.0\.1:\d+/g, "<address>");
}

async function outputOf(child: ReturnType<typeof spawnTracked>): Promise<string> {
  if (!child.stdout || !child.stderr) throw new Error("no pipes");
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended(child),
  ]);
  // A program that fails says why; what it says otherwise, of lost connections and the like, it
  // says here, too.
  if (child.exitCode !== 0) throw new Error(`ended with ${child.exitCode}:\n${stdout}\n${stderr}`);
  return stdout;
}
