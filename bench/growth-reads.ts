/**
 * How reads grow: with the children of a znode, with the size of a tree, with the bytes of a znode.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../test/support/tracked-process.ts";
import { startServer } from "../test/support/zookeeper-server.ts";
import type { GrowthTable } from "./growth.ts";
import { zksh } from "./processes.ts";
import { median } from "./statistics.ts";
import { loadLibrary } from "./znodes.ts";

const CHILDREN = [1_000, 10_000, 100_000, 1_000_000];
const TREES = [
  { parents: 10, children: 100 },
  { parents: 10, children: 1_000 },
  { parents: 100, children: 1_000 },
  { parents: 1_000, children: 1_000 },
];
const BYTES = [1_000, 10_000, 100_000, 1_000_000];
/** The largest size of all but the bytes, when there is little time. */
const MOST_WHEN_QUICK = 100_000;
const BATCH = 2_000;
const BATCHES_UNDER_WAY = 8;

interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Each figure is the median of a few whole processes of the built program; output goes nowhere. */
export async function measureReadGrowth({
  quick,
}: {
  readonly quick: boolean;
}): Promise<GrowthTable[]> {
  const server = await startServer({
    tickTime: 2_000,
    jvmFlags: ["-XX:TieredStopAtLevel=4", "-Xmx2g"],
  });
  const directory = temporaryDirectory("bench-growth");
  const rounds = quick ? 1 : 5;
  const most = quick ? MOST_WHEN_QUICK : Number.POSITIVE_INFINITY;
  const measure = async (...args: string[]) => {
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round++)
      samples.push(await sample("-s", server.address, ...args));
    const middle = (of: (one: Sample) => number) => Math.round(median(samples.map(of)));
    return [
      middle(({ wallMs }) => wallMs),
      middle(({ cpuMs }) => cpuMs),
      middle(({ peakMb }) => peakMb),
    ];
  };
  const costs = ["wall ms", "CPU ms", "peak MB"];
  try {
    const wide: (string | number)[][] = [];
    for (const count of CHILDREN.filter((each) => each <= most)) {
      const root = `/wide-${count}`;
      await plant(server.address, root, [root, ...numbered(root, count)]);
      wide.push([count, ...(await measure("ls", root)), ...(await measure("ls", "-R", root))]);
    }
    const trees: (string | number)[][] = [];
    for (const { parents, children } of TREES.filter(
      (each) => each.parents * each.children <= most,
    )) {
      const root = `/tree-${parents}-${children}`;
      const paths = [
        root,
        ...numbered(root, parents).flatMap((parent) => [parent, ...numbered(parent, children)]),
      ];
      await plant(server.address, root, paths);
      const size = `${parents} × ${children}`;
      trees.push([
        size,
        ...(await measure("ls", "-R", root)),
        ...(await measure("--json", "ls", "-R", root)),
      ]);
    }
    const data: (string | number)[][] = [];
    await plant(server.address, "/data", ["/data"]);
    for (const length of BYTES) {
      const file = join(directory, "data");
      writeFileSync(file, Buffer.alloc(length, "x"));
      data.push([
        length,
        ...(await measure("set", "/data", `@${file}`)),
        ...(await measure("get", "/data")),
      ]);
    }
    const both = (first: string, second: string) =>
      [first, second].flatMap((name) => costs.map((cost) => `${name}: ${cost}`));
    return [
      { title: "children of one znode", columns: ["children", ...both("ls", "ls -R")], rows: wide },
      {
        title: "znodes of a tree",
        columns: ["tree", ...both("ls -R", "--json ls -R")],
        rows: trees,
      },
      { title: "bytes of a znode", columns: ["bytes", ...both("set", "get")], rows: data },
    ];
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
}

function numbered(parent: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${parent}/node-${String(i).padStart(7, "0")}`);
}

async function plant(address: string, root: string, paths: readonly string[]): Promise<void> {
  const { openSession, parseConnectString } = await loadLibrary();
  const session = openSession({ ...parseConnectString(address), timeoutMs: 60_000 });
  const underWay: Promise<unknown>[] = [];
  for (let at = 0; at < paths.length; at += BATCH) {
    const ops = paths
      .slice(at, at + BATCH)
      .map((path) => ({ op: "create", path, data: null }) as const);
    underWay.push(session.multi(ops));
    if (underWay.length >= BATCHES_UNDER_WAY) await underWay.shift();
  }
  await Promise.all(underWay);
  const planted = await session.getAllChildrenNumber(root);
  await session.close();
  if (planted !== paths.length - 1)
    throw new Error(`${root} has ${planted} below it instead of ${paths.length - 1}`);
}

/** Makes a process say at its end what it has used, on a pipe of its own. */
const TELL =
  'import{writeSync}from"node:fs";process.on("exit",()=>writeSync(3,JSON.stringify(process.resourceUsage())))';

async function sample(...args: string[]): Promise<Sample> {
  const startedAt = performance.now();
  const child = spawnTracked(
    process.execPath,
    ["--import", `data:text/javascript,${TELL}`, ...zksh(...args)],
    {
      stdio: ["ignore", "ignore", "inherit", "pipe"],
    },
  );
  const told = text(child.stdio[3] as Readable);
  await ended(child);
  const wallMs = performance.now() - startedAt;
  if (child.exitCode !== 0) throw new Error(`zksh ${args.join(" ")} ended with ${child.exitCode}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await told) as NodeJS.ResourceUsage;
  return { wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1_000, peakMb: maxRSS / 1_024 };
}
