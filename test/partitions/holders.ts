import type { ChildProcess } from "node:child_process";
import { delimiter, join } from "node:path";
import { compileJava, peerClassPath, spawnJava } from "../support/java.ts";
import { PYTHON, workCommand } from "../support/peers.ts";
import { ended, spawnTracked } from "../support/tracked-process.ts";
import { startZksh } from "../support/zksh-process.ts";
import type { Place } from "./network.ts";

const PROGRAMS = join(import.meta.dirname, "holders");

export type HolderName = "zksh" | "curator" | "kazoo";

export interface HolderOptions {
  readonly place: Place;
  readonly servers: string;
  readonly path: string;
  readonly log: string;
  readonly name: string;
  readonly sessionMs: number;
  readonly workSeconds: number;
  readonly timeoutMs: number;
}

/** How a holder ended. */
export interface HolderEnd {
  /** An exit code, or the name of a signal. */
  readonly outcome: string;
  /** What the library told listeners about the connection, on the log's clock. */
  readonly states: readonly { readonly atNs: bigint; readonly state: string }[];
  readonly output: string;
}

/** Starts a holder; resolves when it has ended. Its work ignores SIGTERM. */
export function runHolder(name: HolderName, options: HolderOptions): Promise<HolderEnd> {
  if (name === "zksh") return zkshHolder(options);
  return name === "curator" ? curatorHolder(options) : kazooHolder(options);
}

async function zkshHolder({
  place,
  servers,
  path,
  log,
  name,
  ...options
}: HolderOptions): Promise<HolderEnd> {
  const { sessionMs, workSeconds, timeoutMs } = options;
  const work = workCommand(log, name, "exclusive", workSeconds, true);
  const args = [
    "-v",
    "-s",
    servers,
    "lock",
    "--session-timeout",
    `${sessionMs}ms`,
    path,
    "--",
    ...work,
  ];
  const { code, signal, stderr } = await startZksh(args, {
    input: "",
    through: place.through,
    timeoutMs,
  }).result;
  return { outcome: String(code ?? signal), states: [], output: stderr };
}

async function curatorHolder(options: HolderOptions): Promise<HolderEnd> {
  const { place, servers, path, log, name, sessionMs, workSeconds } = options;
  const classPath = [await compileJava(PROGRAMS), peerClassPath()].join(delimiter);
  const words = [servers, path, log, name, String(sessionMs), String(workSeconds * 1_000)];
  const quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error";
  return peerEnd(
    spawnJava([quiet, "CuratorHolder", ...words], {
      classPath,
      through: place.through,
      stdio: "pipe",
    }),
  );
}

function kazooHolder(options: HolderOptions): Promise<HolderEnd> {
  const { place, servers, path, log, name, sessionMs, workSeconds } = options;
  const words = [servers, path, log, name, String(sessionMs / 1_000), String(workSeconds)];
  const [command = "", ...args] = [
    ...place.through,
    PYTHON,
    "-B",
    join(PROGRAMS, "kazoo_holder.py"),
    ...words,
  ];
  return peerEnd(spawnTracked(command, args, { stdio: "pipe" }));
}

async function peerEnd(child: ChildProcess): Promise<HolderEnd> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  await ended(child);
  const states = [...output.matchAll(/^state (\d+) (\w+)$/gm)].map(([, ns = "0", state = ""]) => ({
    atNs: BigInt(ns),
    state,
  }));
  return { outcome: String(child.exitCode ?? child.signalCode), states, output };
}
