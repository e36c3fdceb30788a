/**
 * How reads grow: with the children of a znode, with the size of a tree, with the bytes of a znode.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeDirectory, temporaryDirectory } from "../test/support/tracked-process.ts";
import { startServer } from "../test/support/zookeeper-server.ts";
import type { GrowthTable } from "./growth.ts";
import { numbered, plantChecked } from "./planted-trees.ts";
import { type ProcessSample, sampleZksh } from "./process-sample.ts";
import { median } from "./statistics.ts";

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
    const samples: ProcessSample[] = [];
    for (let round = 0; round < rounds; round++)
      samples.push(await sampleZksh("-s", server.address, ...args));
    const middle = (of: (one: ProcessSample) => number) => Math.round(median(samples.map(of)));
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
      await plantChecked(server.address, root, [root, ...numbered(root, count)]);
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
      await plantChecked(server.address, root, paths);
      const size = `${parents} × ${children}`;
      trees.push([
        size,
        ...(await measure("ls", "-R", root)),
        ...(await measure("--json", "ls", "-R", root)),
      ]);
    }
    const data: (string | number)[][] = [];
    await plantChecked(server.address, "/data", ["/data"]);
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
