import { join } from "node:path";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, countLines, run, runMeasured, scratchFile, zksh } from "../processes.ts";
import { type Row, rowFrom } from "../row.ts";
import { figures, takeTurns } from "../take-turns.ts";
import { PYTHON } from "../worker.ts";
import { countBelow, hasZnode, makeZnodes } from "../znodes.ts";

const ONE_BY_ONE = "kazoo script";
const UNDER_WAY = "kazoo, 1,000 requests under way";
const LIST = "our ls -R";
const KAZOO = join(import.meta.dirname, "../peers/kazoo_trees.py");
const PARENTS = 100;
const CHILDREN = 1_000;
/** One znode in so many has the text that is searched for. */
const NEEDLE_EVERY = 100;
const NEEDLE = "needle";

const READ_MB = 150;
const WRITE_MB = 200;

interface Tree {
  readonly top: string;
  readonly paths: readonly string[];
  readonly needles: number;
}

/** What works on a tree. */
interface Worker {
  readonly name: string;
  readonly run: (work: Work, tree: Tree) => CommandLine;
  /** A smaller one where every znode costs round trips. */
  readonly tree: Tree;
  readonly rounds: number;
}

interface Work {
  readonly name: string;
  readonly zksh: (tree: Tree) => readonly string[];
  readonly kazoo: (tree: Tree) => readonly string[];
  /** What is done before each run, and not measured. */
  readonly prepare?: (tree: Tree) => Promise<void>;
  /** Throws when not all of the tree was worked on; `output` is the file with what was printed. */
  readonly check: (tree: Tree, output: string) => void | Promise<void>;
  readonly mostMb: number;
  /** What part of the znodes per second of `ls -R` it should reach. */
  readonly ofList?: { readonly atLeast: number } | "no goal";
  /** There is no goal beside kazoo. */
  readonly isExtra?: boolean;
}

/** Daily work on a tree of 100 × 1,000 znodes with 100 bytes each, always by a whole process. */
export const trees: Measurement = {
  name: "trees",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      const whole = treeOf("/whole", PARENTS);
      const tenth = treeOf("/tenth", PARENTS / 10);
      for (const tree of [whole, tenth]) await plant(address, tree);
      const zkshRounds = isQuick ? 2 : 5;
      const ours: Worker = {
        name: "zksh",
        run: (work, tree) => zksh("-s", address, ...work.zksh(tree)),
        tree: whole,
        rounds: zkshRounds,
      };
      const list: Worker = {
        ...ours,
        name: LIST,
        run: (_, { top }) => zksh("-s", address, "ls", "-R", top),
      };
      const kazoo = (name: string, ...options: string[]): Worker => ({
        name,
        run: (work, tree) => [PYTHON, KAZOO, ...options, address, ...work.kazoo(tree)],
        tree: tenth,
        rounds: isQuick ? 1 : 2,
      });
      const workers = [ours, kazoo(ONE_BY_ONE), kazoo(UNDER_WAY, "--async"), list];
      const rows: Row[] = [];
      for (const work of [...reads(), ...writes(address)])
        rows.push(...(await compare(work, workers)));
      return rows;
    }),
};

function reads(): Work[] {
  const printsAll = ({ top, paths }: Tree, output: string) =>
    wants(
      paths.length,
      countLines(output, (line) => line.includes(top)),
    );
  const writesAll = ({ top, paths }: Tree) =>
    wants(
      paths.length,
      countLines(exportFile(top), (line) => line.includes('"data"')),
    );
  const read = { ofList: { atLeast: 0.33 }, mostMb: READ_MB } as const;
  return [
    {
      ...read,
      name: "find --newer",
      zksh: ({ top }) => ["find", top, "--newer", "1h"],
      kazoo: ({ top }) => ["find", top],
      check: printsAll,
    },
    {
      ...read,
      name: "tree -s",
      zksh: ({ top }) => ["tree", "-s", top],
      kazoo: ({ top }) => ["tree", top],
      check: ({ paths }, output) => wants(paths.length, countLines(output, Boolean)),
      ofList: "no goal",
      isExtra: true,
    },
    {
      ...read,
      name: "du",
      zksh: ({ top }) => ["du", top],
      kazoo: ({ top }) => ["du", top],
      check: printsAll,
    },
    {
      ...read,
      name: "grep",
      zksh: ({ top }) => ["grep", NEEDLE, top],
      kazoo: ({ top }) => ["grep", top, NEEDLE],
      check: ({ needles }, output) => wants(needles, countLines(output, Boolean)),
    },
    {
      ...read,
      // Each znode is read twice.
      name: "diff with itself",
      zksh: ({ top }) => ["diff", top, top],
      kazoo: ({ top }) => ["diff", top, top],
      check: (_, output) => wants(0, countLines(output, Boolean)),
      ofList: "no goal",
      isExtra: true,
    },
    {
      ...read,
      name: "export --without-acls",
      zksh: ({ top }) => ["export", "--without-acls", top, "-o", exportFile(top)],
      kazoo: ({ top }) => ["export", top, exportFile(top), "without-acls"],
      check: writesAll,
    },
    {
      ...read,
      name: "export",
      zksh: ({ top }) => ["export", top, "-o", exportFile(top)],
      kazoo: ({ top }) => ["export", top, exportFile(top)],
      check: writesAll,
      // ZooKeeper has no request for the ACLs of many znodes.
      ofList: "no goal",
    },
  ];
}

/** `import` reads what the last `export` has written. */
function writes(address: string): Work[] {
  const copyOf = (top: string) => `${top}-copy`;
  const movedFrom = (top: string) => `${top}-moved`;
  const copyTo = (target: (top: string) => string) => async (tree: Tree) => {
    await run(zksh("-s", address, "cp", "-r", tree.top, target(tree.top)));
  };
  const check = async ({ top, paths }: Tree) => {
    wants(paths.length, 1 + (await countBelow(address, copyOf(top))));
    await run(zksh("-s", address, "--yes", "deleteall", copyOf(top)));
  };
  const write = { check, mostMb: WRITE_MB } as const;
  return [
    {
      ...write,
      name: "import",
      zksh: ({ top }) => ["import", exportFile(top), copyOf(top)],
      kazoo: ({ top }) => ["import", exportFile(top), top, copyOf(top)],
    },
    {
      ...write,
      name: "cp -r",
      zksh: ({ top }) => ["cp", "-r", top, copyOf(top)],
      kazoo: ({ top }) => ["cp", top, copyOf(top)],
    },
    {
      ...write,
      name: "mv, copied and compared",
      prepare: copyTo(movedFrom),
      zksh: ({ top }) => ["--yes", "mv", movedFrom(top), copyOf(top)],
      kazoo: ({ top }) => ["mv", movedFrom(top), copyOf(top)],
      isExtra: true,
    },
    {
      ...write,
      name: "deleteall",
      prepare: copyTo(copyOf),
      zksh: ({ top }) => ["--yes", "deleteall", copyOf(top)],
      kazoo: ({ top }) => ["deleteall", copyOf(top)],
      check: async ({ top }) => wants(0, (await hasZnode(address, copyOf(top))) ? 1 : 0),
      mostMb: READ_MB,
      isExtra: true,
    },
  ];
}

async function compare(work: Work, all: readonly Worker[]): Promise<Row[]> {
  const workers = all.filter(({ name }) => name !== LIST || work.ofList);
  const output = scratchFile("output");
  const contestants = workers.map((worker) => ({
    name: worker.name,
    rounds: worker.rounds,
    run: async () => {
      const { tree } = worker;
      if (worker.name !== LIST) await work.prepare?.(tree);
      const measured = await runMeasured(worker.run(work, tree), { output });
      if (worker.name !== LIST) await work.check(tree, output);
      return { ...measured, rate: (tree.paths.length / measured.ms) * 1000 };
    },
  }));
  const rounds = Math.max(...workers.map((worker) => worker.rounds));
  const samples = await takeTurns(rounds, contestants);
  const name = `${work.name} of ${(PARENTS * CHILDREN).toLocaleString("en")} znodes`;
  const goals = {
    [ONE_BY_ONE]: work.isExtra ? "no goal" : { atLeast: 15 },
    [UNDER_WAY]: "no goal",
  } as const;
  return [
    rowFrom(
      figures(samples, ({ rate }) => rate),
      {
        work: name,
        unit: "znodes/s",
        peers: { ...goals, ...(work.ofList && { [LIST]: work.ofList }) },
      },
    ),
    rowFrom(
      figures(samples, ({ peakMb }) => peakMb),
      { work: `${name}: most memory`, unit: "MB", goal: { atMost: work.mostMb } },
    ),
  ];
}

/** Parents first; the top and so many below it. */
function treeOf(top: string, parents: number): Tree {
  const below = (path: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${path}/${index}`);
  const paths = [
    top,
    ...below(top, parents).flatMap((path) => [path, ...below(path, CHILDREN - 1)]),
  ];
  return { top, paths, needles: Math.ceil(paths.length / NEEDLE_EVERY) };
}

function plant(address: string, { paths }: Tree): Promise<void> {
  const plain = Buffer.alloc(100, "x");
  const withNeedle = Buffer.from(NEEDLE.padEnd(100, "x"));
  return makeZnodes(address, paths, (index) => (index % NEEDLE_EVERY === 0 ? withNeedle : plain));
}

function exportFile(top: string): string {
  return scratchFile(`export-${top.slice(1)}`);
}

function wants(wanted: number, found: number): void {
  if (found !== wanted) throw new Error(`worked on ${found} of ${wanted} znodes`);
}
