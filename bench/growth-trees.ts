/** How the daily work on a tree grows with the tree, on the embedded server. */
import type { Readable } from "node:stream";
import { ended, spawnTracked } from "../test/support/tracked-process.ts";
import type { GrowthTable } from "./growth.ts";
import { numbered, plantChecked } from "./planted-trees.ts";
import { type ProcessSample, sampleZksh } from "./process-sample.ts";
import { scratchFile, zksh } from "./processes.ts";
import { median } from "./statistics.ts";

const TREES = [
  { parents: 10, children: 1_000 },
  { parents: 100, children: 1_000 },
  { parents: 1_000, children: 1_000 },
];
const MOST_WHEN_QUICK = 100_000;
const ROUNDS = 3;
const DATA = Buffer.alloc(100, "x");

type Tree = (typeof TREES)[number];
type Row = readonly [command: string, tree: string, ...costs: number[]];

/** The memory of each command should be much the same in all rows. */
export async function measureTreeGrowth({
  quick,
}: {
  readonly quick: boolean;
}): Promise<GrowthTable[]> {
  const most = quick ? MOST_WHEN_QUICK : Number.POSITIVE_INFINITY;
  const rows: Row[] = [];
  for (const tree of TREES.filter((one) => one.parents * one.children <= most))
    rows.push(...(await measure(tree, quick ? 1 : ROUNDS)));
  // The rows of one command together, from the smallest tree on.
  const commands = [...new Set(rows.map(([command]) => command))];
  return [
    {
      title: "work on a tree, embedded server",
      columns: ["command", "tree", "wall ms", "CPU ms", "peak MB"],
      rows: commands.flatMap((name) => rows.filter(([command]) => command === name)),
    },
  ];
}

function commandLines(address: string, root: string): Record<string, readonly string[]> {
  const file = scratchFile("growth-export");
  const line = (...words: string[]) => ["-s", address, ...words];
  return {
    "ls -R": line("ls", "-R", root),
    "find --newer": line("find", root, "--newer", "1h"),
    du: line("du", root),
    "du --top": line("du", "--top", "10", root),
    grep: line("grep", "-c", "x", root),
    "export --without-acls": line("export", "--without-acls", root, "-o", file),
    export: line("export", root, "-o", file),
    diff: line("diff", root, `file:${file}`),
    "cp -r": line("cp", "-r", root, `${root}-copy`),
    deleteall: line("--yes", "deleteall", `${root}-copy`),
    import: line("import", file, `${root}-copy`),
  };
}

async function measure({ parents, children }: Tree, rounds: number): Promise<Row[]> {
  const root = "/tree";
  const paths = [
    root,
    ...numbered(root, parents).flatMap((parent) => [parent, ...numbered(parent, children)]),
  ];
  return withEmbeddedServer(async (address) => {
    await plantChecked(address, root, paths, DATA);
    const lines = Object.entries(commandLines(address, root));
    const samples = new Map<string, ProcessSample[]>(lines.map(([name]) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, line] of lines) samples.get(name)?.push(await sampleZksh(...line));
      await sampleZksh("-s", address, "--yes", "deleteall", `${root}-copy`);
    }
    return [...samples].map(([name, of]): Row => {
      const middle = (cost: keyof ProcessSample) => Math.round(median(of.map((one) => one[cost])));
      const size = `${parents} × ${children}`;
      return [name, size, middle("wallMs"), middle("cpuMs"), middle("peakMb")];
    });
  });
}

/** A server in a process of its own, so that its memory and CPU are not counted. */
async function withEmbeddedServer<T>(work: (address: string) => Promise<T>): Promise<T> {
  const [program, ...args] = zksh("--json", "serve", "--port", "0");
  const child = spawnTracked(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const { address } = JSON.parse(await firstLine(child.stdout as Readable)) as {
      address: string;
    };
    return await work(address);
  } finally {
    child.kill("SIGTERM");
    await ended(child);
  }
}

async function firstLine(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text;
}
