import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import {
  type Interval,
  parseExclusionLog,
  served,
  type Violation,
  violations,
} from "../support/exclusion-log.ts";
import { Random } from "../support/random.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { Contender, type End, LIMIT, type RecipeName } from "./contender.ts";
import { leftovers } from "./leftovers.ts";
import { Network } from "./network.ts";
import { makeSchedule, type Step } from "./schedule.ts";
import { Servers } from "./servers.ts";
import { type Happening, type Holder, Tormentor } from "./tormentor.ts";

const PATH = "/torture";
const SERVED_WITHIN_MS = 60_000;
/** Done; lost, and stopped; unreachable, and never begun; killed by the tormentor. */
/** A fault that is planned so often finds a victim, unless the rig is broken. */
const OFTEN_ENOUGH = 5;
const EXPECTED_EXITS = ["0", "120", "123", "SIGKILL"];
const AROUND_NS = 12_000_000_000n;

export interface TortureOptions {
  readonly recipe: RecipeName;
  readonly seconds: number;
  readonly seed: number;
  readonly processes: number;
  /** Takes the place of zksh: to see the rig find something. */
  readonly program?: string;
  /** Told what happens, a line at a time. */
  readonly onHappening?: (line: string) => void;
}

export interface TortureReport {
  /** One line. */
  readonly summary: string;
  /** Each with what happened around it; empty when all is well. */
  readonly violations: readonly string[];
  /** Everything that the contenders wrote. */
  readonly log: string;
}

/** Contenders on a real ensemble, through networks and servers that fail. Leaves nothing behind. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { recipe, seconds, seed, processes, program } = options;
  const directory = temporaryDirectory("torture");
  const log = join(directory, "log");
  writeFileSync(log, "");
  const mark = `ZKSH_TORTURE=${randomUUID()}`;
  const servers = await Servers.start();
  const { ensemble } = servers;
  const networks: Network[] = [];
  try {
    const ports = ensemble.servers.map((server) => server.port);
    const contenders: Contender[] = [];
    for (let index = 0; index < processes; index++) {
      const network = await Network.to(ports);
      networks.push(network);
      const random = new Random(seed * 1_000 + index + 1);
      const env = { ZKSH_TORTURE: mark.split("=")[1] ?? "" };
      const timeoutMs = seconds * 1_000 + SERVED_WITHIN_MS + 30_000;
      contenders.push(
        new Contender({
          name: `zksh-${index + 1}`,
          recipe,
          path: PATH,
          log,
          network,
          random,
          env,
          timeoutMs,
          ...(program && { program }),
        }),
      );
    }
    const tormentor = new Tormentor(contenders, servers, () => holdersIn(log, contenders));

    // Until the end of the torment, and then until each has been served once more.
    let completedBefore: ReadonlyMap<Contender, number> | undefined;
    let isHopeless = false;
    const isOver = (contender: Contender) =>
      isHopeless ||
      (completedBefore !== undefined &&
        contender.completed > (completedBefore.get(contender) ?? 0));
    const loops = contenders.map((contender) => contender.loopUntil(() => isOver(contender)));
    const ending = Promise.all(loops);
    // A process that hangs is reported below, with the rest.
    ending.catch(() => {});

    const schedule = makeSchedule(seed, seconds, processes);
    await tormentor.run(schedule);
    for (const contender of contenders) contender.isCalm = true;
    // Turns that began before do not count: they may have been granted long ago.
    completedBefore = new Map(
      contenders.map((one) => [one, one.completed + (one.process === undefined ? 0 : 1)]),
    );
    const unserved = () =>
      contenders.filter((contender) => !isOver(contender)).map(({ name }) => name);
    await eventually(() => unserved().length === 0, {
      timeoutMs: SERVED_WITHIN_MS,
      intervalMs: 100,
    }).catch(() => {});
    const hungry = unserved().map(
      (name) => `${name} was not served within ${SERVED_WITHIN_MS} ms after the torment`,
    );
    isHopeless = true;
    for (const name of unserved())
      contenders.find((one) => one.name === name)?.process?.kill("SIGKILL");
    const stuck = await ending.then(
      () => [],
      (error: Error) => [error.message],
    );

    const text = readFileSync(log, "utf8");
    const intervals = parseExclusionLog(text);
    const broken = violations(intervals, recipe === "sem" ? { limit: LIMIT } : {});
    const counts = served(
      intervals,
      contenders.map(({ name }) => name),
    );
    const found = [
      ...broken.map(({ rule, text, between }) => {
        const [from, to] = [between[0]?.beginNs ?? 0n, between.at(-1)?.lastNs ?? 0n];
        return `${rule}: ${text}${around(from, to, tormentor.happenings)}`;
      }),
      ...hungry,
      ...stuck,
      ...[...counts].filter(([, count]) => count === 0).map(([name]) => `${name} was never served`),
      ...unexpectedEnds(contenders).map(({ contender, pid, outcome, stderr, atNs }) => {
        const end = `${milliseconds(atNs)} ${contender} pid ${pid} ended with ${outcome}: ${stderr.trim()}`;
        return `${end}${around(atNs, atNs, tormentor.happenings)}`;
      }),
      ...tormentor.happenings
        .filter(({ text }) => text.includes(" failed: "))
        .map(({ text }) => `the rig: ${text}`),
      ...neverDone(schedule, tormentor.counts).map((fault) => `the rig: ${fault} was never done`),
      ...(program === undefined && contenders.every(({ grants }) => grants === 0)
        ? ["the rig: no zksh said that it was granted the lock"]
        : []),
      ...(await leftovers(ensemble, PATH, mark)),
    ];
    for (const { atNs, text } of tormentor.happenings)
      options.onHappening?.(`${milliseconds(atNs)} ${text}`);
    return {
      summary: summarize(options, intervals, broken, counts, tormentor, contenders),
      violations: found,
      log: text,
    };
  } finally {
    await Promise.all(networks.map((network) => network.close()));
    await servers.stop();
    removeDirectory(directory);
  }
}

/**
 * Whoever has begun and not ended, as far as the end of the log tells; beats keep whoever still
 * works in it.
 */
function holdersIn(log: string, contenders: readonly Contender[]): Holder[] {
  const open = new Set<string>();
  for (const line of tail(log, 8_192).split("\n").slice(1)) {
    const [verb, , id = ""] = line.split(" ");
    if (verb === "end") open.delete(id);
    else if (id) open.add(id);
  }
  return [...open].flatMap((id) => {
    const [name, pid] = id.split("#");
    const contender = contenders.find((one) => one.name === name);
    return contender?.process && isWorker(Number(pid)) ? [{ contender, pid: Number(pid) }] : [];
  });
}

function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("work.py");
  } catch {
    return false;
  }
}

function tail(path: string, length: number): string {
  const file = openSync(path, "r");
  try {
    const start = Math.max(0, fstatSync(file).size - length);
    const buffer = Buffer.alloc(length);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, length, start));
  } finally {
    closeSync(file);
  }
}

/** What was done shortly before and after. */
function around(fromNs: bigint, toNs: bigint, happenings: readonly Happening[]): string {
  return happenings
    .filter(({ atNs }) => atNs > fromNs - AROUND_NS && atNs < toNs + AROUND_NS / 4n)
    .map(({ atNs, text }) => `\n  ${milliseconds(atNs)} ${text}`)
    .join("");
}

function unexpectedEnds(contenders: readonly Contender[]): End[] {
  return contenders.flatMap(({ ends }) =>
    ends.filter(({ outcome }) => !EXPECTED_EXITS.includes(outcome)),
  );
}

function summarize(
  { recipe, seconds, seed, processes }: TortureOptions,
  intervals: readonly Interval[],
  broken: readonly Violation[],
  counts: ReadonlyMap<string, number>,
  tormentor: Tormentor,
  contenders: readonly Contender[],
): string {
  const overlaps = broken.filter(({ rule }) => rule === "exclusion" || rule === "limit").length;
  const cut = intervals.filter(({ hasEnded }) => !hasEnded).length;
  const each = [...counts.values()];
  const faults = [...tormentor.counts].map(([fault, count]) => `${fault} ${count}`).join(", ");
  const exits = new Map<string, number>();
  for (const { outcome } of contenders.flatMap((contender) => contender.ends)) {
    exits.set(outcome, (exits.get(outcome) ?? 0) + 1);
  }
  const ends = [...exits].map(([outcome, count]) => `${outcome} ${count}`).join(", ");
  return (
    `${recipe}, seed ${seed}, ${seconds} s, ${processes} processes: ${intervals.length} acquisitions, ${overlaps} overlaps, ` +
    `${broken.length - overlaps} tokens out of order, ${cut} cut short, served ${Math.min(...each)} to ${Math.max(...each)} times each; ` +
    `faults: ${faults}; exits: ${ends}`
  );
}

function milliseconds(ns: bigint): string {
  return (Number(ns) / 1e6).toFixed(0);
}

/** Faults of the schedule that the rig has never found a victim for, however often it tried. */
function neverDone(schedule: readonly Step[], counts: ReadonlyMap<string, number>): string[] {
  const planned = new Map<string, number>();
  for (const { fault } of schedule) planned.set(fault, (planned.get(fault) ?? 0) + 1);
  return [...planned].flatMap(([fault, times]) =>
    times >= OFTEN_ENOUGH && !counts.has(fault) ? [fault] : [],
  );
}
