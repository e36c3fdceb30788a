import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, countLines, type Measured, runMeasured, scratchFile, zkcli, zksh } from "../processes.ts";
import type { Row } from "../row.ts";
import { type Samples, takeTurns } from "../take-turns.ts";
import { makeZnodes } from "../znodes.ts";

const PARENTS = 100;
const CHILDREN = 1_000;
const AT_MOST_MB = 150;

/** What one of them walks, and how often. */
interface Walker {
  readonly name: string;
  readonly line: (...words: string[]) => CommandLine;
  readonly tree: readonly [top: string, ...below: string[]];
  readonly rounds: number;
}

/** A tree of 100 × 1,000 znodes, listed and deleted by a whole process. */
export const walks: Measurement = {
  name: "walks",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      // For zkCli.sh a tenth of the tree where there is no time: every znode costs it a round trip or two.
      const parents = isQuick ? PARENTS / 10 : PARENTS;
      const walkers: [Walker, Walker] = [
        {
          name: "zksh",
          line: (...words) => zksh("-s", address, "--yes", ...words),
          tree: tree("/ours", PARENTS),
          rounds: isQuick ? 3 : 7,
        },
        {
          name: "zkCli.sh",
          line: (...words) => zkcli(address, ...words),
          tree: tree("/theirs", parents),
          rounds: isQuick ? 1 : 2,
        },
      ];
      for (const { tree } of walkers) await makeZnodes(address, tree);
      const listing = walkers.map((walker) => ({ ...walker, run: () => list(walker) }));
      const listed = await takeTurns(walkers[0].rounds, listing);
      const removing = walkers.map((walker) => ({
        ...walker,
        run: async (round: number) => {
          if (round > 0) await makeZnodes(address, walker.tree);
          return runMeasured(walker.line("deleteall", walker.tree[0]));
        },
      }));
      const removed = await takeTurns(walkers[0].rounds, removing);
      return [...rowsOf("ls -R", walkers, listed, 30), ...rowsOf("deleteall", walkers, removed, 12)];
    }),
};

/** Parents first. */
function tree(top: string, parents: number): [string, ...string[]] {
  const below = (path: string, count: number) => Array.from({ length: count }, (_, index) => `${path}/${index}`);
  return [top, ...below(top, parents).flatMap((path) => [path, ...below(path, CHILDREN - 1)])];
}

async function list({ name, line, tree: [top, ...below] }: Walker): Promise<Measured> {
  const output = scratchFile("listing");
  const measured = await runMeasured(line("ls", "-R", top), { output });
  const listed = countLines(output, (text) => text.startsWith(`${top}/`));
  if (listed !== below.length) throw new Error(`${name} listed ${listed} of ${below.length} znodes`);
  return measured;
}

function rowsOf(
  what: string,
  [ours, theirs]: readonly [Walker, Walker],
  samples: Samples<Measured>,
  atLeast: number,
): Row[] {
  const perSecond = ({ name, tree }: Walker) => (samples.get(name) ?? []).map(({ ms }) => (tree.length / ms) * 1000);
  const memory = ({ name }: Walker) => (samples.get(name) ?? []).map(({ peakMb }) => peakMb);
  const size = ({ tree }: Walker) => (tree.length - 1).toLocaleString("en");
  const work = `${what} of ${size(ours)} znodes`;
  const name = theirs.tree.length === ours.tree.length ? theirs.name : `${theirs.name}, ${size(theirs)} znodes`;
  return [
    { work, unit: "znodes/s", zksh: perSecond(ours), peers: [{ name, samples: perSecond(theirs), goal: { atLeast } }] },
    {
      work: `${work}: most memory`,
      unit: "MB",
      zksh: memory(ours),
      goal: { atMost: AT_MOST_MB },
      peers: [{ name, samples: memory(theirs) }],
    },
  ];
}
