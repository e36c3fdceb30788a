import { readFileSync, writeFileSync } from "node:fs";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, run, scratchFile, zkcli, zksh } from "../processes.ts";
import { type Row, rowFrom } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { countChildren, makeZnodes } from "../znodes.ts";

/** As many znodes are read again and again. */
const ZNODES = 100;

/** A script of so many lines, another one each time; and how many of them were carried out. */
interface Script {
  readonly work: string;
  readonly count: number;
  readonly atLeast: number;
  readonly options: readonly string[];
  lines(run: number): readonly string[];
  done(run: number, output: string): Promise<number>;
}

/** What a user does who pipes a file of commands through a shell. */
export const scriptLines: Measurement = {
  name: "lines",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      const paths = Array.from({ length: ZNODES }, (_, index) => `/bench/${index}`);
      await makeZnodes(address, ["/bench", ...paths]);
      const scripts = [gets(paths, 10_000), creates(address, 5_000)];
      const rows: Row[] = [];
      for (const script of scripts) rows.push(await compare(address, script, isQuick));
      return rows;
    }),
};

function gets(paths: readonly string[], count: number): Script {
  return {
    work: `${count.toLocaleString("en")} get lines, piped`,
    count,
    atLeast: 10,
    options: [],
    lines: () => Array.from({ length: count }, (_, line) => `get ${paths[line % paths.length]}`),
    done: async (_, output) => readFileSync(output, "utf8").match(/x{100}/g)?.length ?? 0,
  };
}

function creates(address: string, count: number): Script {
  return {
    work: `${count.toLocaleString("en")} create lines, piped, --keep-going`,
    count,
    atLeast: 4,
    options: ["--keep-going"],
    // Below a parent of its own each time: creating what is there would be other work.
    lines: (run) => [
      `create /run-${run}`,
      ...Array.from({ length: count - 1 }, (_, line) => `create /run-${run}/${line} x`),
    ],
    done: async (run) => 1 + (await countChildren(address, `/run-${run}`)),
  };
}

async function compare(address: string, script: Script, isQuick: boolean): Promise<Row> {
  const { work, count, atLeast, options } = script;
  let runs = 0;
  const perSecond = (line: CommandLine) => async () => {
    const [input, output] = [scratchFile("script"), scratchFile("output")];
    runs += 1;
    writeFileSync(input, `${script.lines(runs).join("\n")}\n`);
    const ms = await run(line, { input, output });
    const done = await script.done(runs, output);
    if (done !== count) throw new Error(`${line.join(" ")} carried out ${done} of ${count} lines`);
    return (count / ms) * 1000;
  };
  const ours = { name: "zksh", run: perSecond(zksh("-s", address, ...options)) };
  const theirs = { name: "zkCli.sh", run: perSecond(zkcli(address)) };
  // The server's compiler is not done before this: a server that has just been started takes twice
  // as long for the same reads.
  await takeTurns(3, [ours, { ...theirs, rounds: 1 }]);
  const samples = await takeTurns(isQuick ? 5 : 9, [ours, { ...theirs, rounds: isQuick ? 1 : 3 }]);
  return rowFrom(samples, { work, unit: "lines/s", peers: { "zkCli.sh": { atLeast } } });
}
