import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ZooKeeperServer } from "../../test/support/zookeeper-server.ts";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { withOldServer } from "../old-server.ts";
import { untilQuiet } from "../packets.ts";
import {
  type CommandLine,
  countLines,
  type Measured,
  runMeasured,
  scratchFile,
  zkcli,
  zksh,
} from "../processes.ts";
import type { Goal, Row } from "../row.ts";
import { type Samples, takeTurns } from "../take-turns.ts";
import { PYTHON } from "../worker.ts";
import { aclVersions, makeZnodes } from "../znodes.ts";

const PARENTS = 100;
const CHILDREN = 1_000;
const AT_MOST_MB = 150;
const KAZOO = join(import.meta.dirname, "../peers/kazoo_count.py");

/** What one of them walks, and how often. */
interface Walker {
  readonly name: string;
  readonly line: (...words: string[]) => CommandLine;
  readonly tree: Tree;
  readonly rounds: number;
}

type Tree = readonly [top: string, ...below: string[]];
type Pair = readonly [ours: Walker, theirs: Walker];

/** A tree of 100 × 1,000 znodes, listed, counted, changed and deleted by a whole process. */
export const walks: Measurement = {
  name: "walks",
  measure: ({ isQuick }: Effort) =>
    withServer(async (server) => {
      const { address } = server;
      const ours: Walker = {
        name: "zksh",
        line: (...words) => zksh("-s", address, "--yes", ...words),
        tree: tree("/ours", PARENTS),
        rounds: isQuick ? 2 : 7,
      };
      // A tenth of the tree where there is no time: every znode costs a round trip or two.
      const tenth: Walker = {
        name: "zkCli.sh",
        line: (...words) => zkcli(address, ...words),
        tree: tree("/tenth", PARENTS / 10),
        rounds: isQuick ? 1 : 2,
      };
      const theirs = isQuick ? tenth : { ...tenth, tree: tree("/theirs", PARENTS) };
      for (const { tree } of new Set([ours, tenth, theirs])) await makeZnodes(address, tree);
      const listed = await inTurns([ours, theirs], list);
      const counted = await countByWalking(server, isQuick ? tenth.tree : ours.tree, tenth);
      const changing: Pair = [{ ...ours, rounds: isQuick ? 1 : 3 }, tenth];
      const changed = await inTurns(changing, (walker, round) => change(address, walker, round));
      const removed = await inTurns([ours, theirs], (walker, round) =>
        remove(address, walker, round),
      );
      return [
        rateOf("ls -R", [ours, theirs], listed, { atLeast: 30 }),
        memoryOf("ls -R", [ours, theirs], listed),
        counted,
        rateOf("setAcl -R", changing, changed),
        memoryOf("setAcl -R", changing, changed),
        rateOf("deleteall", [ours, theirs], removed, { atLeast: 12 }),
        memoryOf("deleteall", [ours, theirs], removed),
      ];
    }),
};

/** Parents first. */
function tree(top: string, parents: number): Tree {
  const below = (path: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${path}/${index}`);
  return [top, ...below(top, parents).flatMap((path) => [path, ...below(path, CHILDREN - 1)])];
}

function inTurns(
  walkers: Pair,
  run: (walker: Walker, round: number) => Promise<Measured>,
): Promise<Samples<Measured>> {
  const contestants = walkers.map((walker) => ({
    ...walker,
    run: (round: number) => run(walker, round),
  }));
  return takeTurns(walkers[0].rounds, contestants);
}

async function list({ name, line, tree: [top, ...below] }: Walker): Promise<Measured> {
  const output = scratchFile("listing");
  const measured = await runMeasured(line("ls", "-R", top), { output });
  const listed = countLines(output, (text) => text.startsWith(`${top}/`));
  if (listed !== below.length)
    throw new Error(`${name} listed ${listed} of ${below.length} znodes`);
  return measured;
}

/**
 * As on a server that cannot count. The peer goes to the server itself, zksh through what makes it
 * look old.
 */
function countByWalking(server: ZooKeeperServer, walked: Tree, tenth: Walker): Promise<Row> {
  return withOldServer(server, async (oldAddress) => {
    const counting: Pair = [
      {
        name: "zksh",
        line: (path) => zksh("-s", oldAddress, "getAllChildrenNumber", path),
        tree: walked,
        rounds: tenth.rounds,
      },
      { ...tenth, name: "kazoo script", line: (path) => [PYTHON, KAZOO, server.address, path] },
    ];
    const counted = await inTurns(counting, (walker) => count(server.address, walker));
    return rateOf("getAllChildrenNumber, by walking,", counting, counted);
  });
}

async function count(
  address: string,
  { name, line, tree: [top, ...below] }: Walker,
): Promise<Measured> {
  const output = scratchFile("count");
  const messagesSince = await untilQuiet(address, 0);
  const measured = await runMeasured(line(top), { output });
  const counted = Number(readFileSync(output, "utf8"));
  if (counted !== below.length)
    throw new Error(`${name} counted ${counted} of ${below.length} znodes`);
  // A question and an answer for each.
  if ((await messagesSince()) < 2 * below.length) throw new Error(`${name} let the server count`);
  return measured;
}

async function change(
  address: string,
  { name, line, tree }: Walker,
  round: number,
): Promise<Measured> {
  const measured = await runMeasured(line("setAcl", "-R", tree[0], "world:anyone:cdrwa"));
  const versions = await aclVersions(address, tree);
  const changed = versions.filter((version) => version === round + 1).length;
  if (changed !== tree.length)
    throw new Error(`${name} changed ${changed} of ${tree.length} znodes`);
  return measured;
}

async function remove(address: string, { line, tree }: Walker, round: number): Promise<Measured> {
  if (round > 0) await makeZnodes(address, tree);
  return runMeasured(line("deleteall", tree[0]));
}

function rateOf(what: string, walkers: Pair, samples: Samples<Measured>, goal?: Goal): Row {
  const rate = ({ name, tree }: Walker) =>
    (samples.get(name) ?? []).map(({ ms }) => (tree.length / ms) * 1000);
  const peer = { name: peerName(walkers), samples: rate(walkers[1]), ...(goal && { goal }) };
  return { work: workOf(what, walkers), unit: "znodes/s", zksh: rate(walkers[0]), peers: [peer] };
}

function memoryOf(what: string, walkers: Pair, samples: Samples<Measured>): Row {
  const memory = ({ name }: Walker) => (samples.get(name) ?? []).map(({ peakMb }) => peakMb);
  return {
    work: `${workOf(what, walkers)}: most memory`,
    unit: "MB",
    zksh: memory(walkers[0]),
    goal: { atMost: AT_MOST_MB },
    peers: [{ name: peerName(walkers), samples: memory(walkers[1]) }],
  };
}

function workOf(what: string, [ours]: Pair): string {
  return `${what} of ${sizeOf(ours)} znodes`;
}

function peerName([ours, theirs]: Pair): string {
  return theirs.tree.length === ours.tree.length
    ? theirs.name
    : `${theirs.name}, ${sizeOf(theirs)} znodes`;
}

function sizeOf({ tree }: Walker): string {
  return (tree.length - 1).toLocaleString("en");
}
