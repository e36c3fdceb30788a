/**
 * Locks on a server that works, where a neighbour fills queues and trees with hostile names,
 * records and events.
 */
import { afterAll, beforeAll, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import type { Session } from "../../src/session/session.ts";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { openFor } from "../support/open-session.ts";
import { Random } from "../support/random.ts";
import { forBudget, SEED, timeoutMs } from "./budget.ts";
import { Hostile } from "./hostile.ts";
import { check, type Item } from "./item.ts";

const SHARE = 0.2;

const LINES: readonly string[] = [
  "lock -n PATH -- true",
  "-v lock -w 100ms PATH -- true",
  "-v lock --compat all -w 100ms PATH -- true",
  "lock -w 100ms PATH PATH/other -- true",
  "lock --recipe unique -w 100ms PATH -- true",
  "rwlock read -w 100ms PATH -- true",
  "-v rwlock write -w 100ms PATH -- true",
  "-v sem --limit 2 -w 100ms PATH -- true",
  "elect -w 100ms PATH -- true",
  "elect --leader PATH",
  "elect --observe PATH",
  "whoholds PATH",
  "-v whoholds PATH",
  "whoholds --watch PATH",
  "whoholds -R /",
  "revoke PATH",
  "--yes revoke --wait 50ms PATH",
  "revoke --force PATH",
  "--yes revoke --force PATH",
  "ls -R PATH",
  "watch PATH",
  "watch -R PATH",
  "--yes deleteall PATH",
];
const FORMATS = ["text", "text", "json", "zkcli"] as const;

let server: Awaited<ReturnType<typeof startEmbeddedServer>>;
beforeAll(async () => {
  server = await startEmbeddedServer();
});
afterAll(() => server.stop());

/** The nodes that could be made: a server refuses some of the names. */
async function fill(neighbour: Session, path: string, hostile: Hostile): Promise<string[]> {
  await neighbour.create(path, hostile.data());
  const tickets = Array.from(
    { length: hostile.random.index(6) },
    () => `${path}/${hostile.ticket()}`,
  );
  const names = Array.from({ length: hostile.random.index(3) }, () => `${path}/${hostile.text()}`);
  const made = await Promise.allSettled(
    [...tickets, ...names].map((node) => {
      const mode = hostile.random.chance(0.5) ? "ephemeral" : "persistent";
      return neighbour.create(node, hostile.data(), { mode });
    }),
  );
  return made.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/**
 * Goes on writing while a command runs: other records, words and requests into every ticket, its
 * own and the command's.
 */
async function meddle(
  neighbour: Session,
  path: string,
  hostile: Hostile,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const children = await neighbour.getChildren(path).catch(() => []);
    const data = hostile.data();
    if (children.length > 0)
      await neighbour.setData(`${path}/${hostile.pick(children)}`, data).catch(() => {});
    if (hostile.random.chance(0.2)) await neighbour.setData(path, hostile.data()).catch(() => {});
    if (hostile.random.chance(0.1))
      await neighbour.create(`${path}/${hostile.text()}`, data).catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test(`from seed ${SEED}`, { timeout: timeoutMs(SHARE) }, async () => {
  const neighbour = openFor(server.address);
  let count = 0;
  await forBudget(SHARE, async (seed) => {
    const hostile = new Hostile(new Random(seed));
    const path = `/q${count++}`;
    const nodes = await fill(neighbour, path, hostile);
    const argv =
      lex(hostile.pick(LINES).replaceAll("PATH", path)).statements[0]?.words.map(
        ({ text }) => text,
      ) ?? [];
    const item: Item = {
      argv,
      format: hostile.pick(FORMATS),
      tty: hostile.random.chance(0.5),
      keys: ["y\r"],
    };
    const over = new AbortController();
    const meddling = meddle(neighbour, path, hostile, over.signal);
    try {
      await check(item, server.address, () => {});
    } finally {
      over.abort();
      await meddling;
      for (const node of nodes) await neighbour.delete(node).catch(() => {});
    }
  });
});
