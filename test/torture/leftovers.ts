import { readdirSync, readFileSync } from "node:fs";
import { NoNodeError } from "../../src/errors.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import type { Ensemble } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";

/** Killed sessions live on for their timeout, and the server looks only now and then. */
const GONE_WITHIN_MS = 20_000;

/**
 * What is there although nobody is: processes with `mark` in their environment, znodes below
 * `path`, watches.
 */
export async function leftovers(ensemble: Ensemble, path: string, mark: string): Promise<string[]> {
  const processes = await lasting("processes", () => markedProcesses(mark));
  const znodes = await lasting("znodes", () => ticketsBelow(ensemble, path));
  const watches = await lasting("watches", () => watchCounts(ensemble));
  return [...processes, ...znodes, ...watches];
}

/** The command lines of processes whose environment has that text in it. */
function markedProcesses(mark: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark)) return [];
        return [
          `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 300)}`,
        ];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

async function lasting(what: string, find: () => string[] | Promise<string[]>): Promise<string[]> {
  let found: string[] = [];
  await eventually(
    async () => {
      found = await find();
      return found.length === 0;
    },
    { timeoutMs: GONE_WITHIN_MS, intervalMs: 200 },
  ).catch((error: Error) => {
    if (found.length === 0) found = [error.message];
  });
  return found.map((one) => `${what} left: ${one}`);
}

/** A path with nothing below it may stay; a semaphore has two of them. */
async function ticketsBelow(ensemble: Ensemble, path: string): Promise<string[]> {
  const session = openSession({ ...parseConnectString(ensemble.connectString), timeoutMs: 10_000 });
  try {
    const folders = [path, `${path}/locks`, `${path}/leases`];
    await session.sync(path);
    const lists = await Promise.all(folders.map((folder) => childrenOf(session, folder)));
    return lists.flat().filter((child) => !folders.includes(child));
  } finally {
    await session.close();
  }
}

async function childrenOf(session: Session, path: string): Promise<string[]> {
  try {
    return (await session.getChildren(path)).map((name) => `${path}/${name}`);
  } catch (error) {
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

async function watchCounts(ensemble: Ensemble): Promise<string[]> {
  const answers = await Promise.all(
    ensemble.servers.map((server) => fourLetterWord(server.address, "mntr")),
  );
  return answers.flatMap((answer, index) => {
    const count = /^zk_watch_count\s+(\d+)$/m.exec(answer)?.[1];
    return count === "0" ? [] : [`${ensemble.servers[index]?.address} counts ${count}`];
  });
}
