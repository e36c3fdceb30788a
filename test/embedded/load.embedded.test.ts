/**
 * Many clients, many znodes, many operations: nothing is lost, nothing stays behind. Lean by
 * default; with ZKSH_FULL_LOAD set,
 * 200 clients, 100,000 znodes and a million operations.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { Flags, RawClient } from "../contract/raw-client.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { Random } from "../support/random.ts";
import { type Serving, startServing } from "./serving.ts";

const IS_FULL = process.env.ZKSH_FULL_LOAD !== undefined;
const CLIENTS = IS_FULL ? 200 : 20;
const ZNODES = IS_FULL ? 100_000 : 10_000;
const OPERATIONS = IS_FULL ? 1_000_000 : 50_000;
const FOLDERS = 100;
const IN_FLIGHT = 50;
const STEPS_A_MULTI = 100;
const WATCHED = 10;
const VISITORS = 1_000;
const CHANGES = IS_FULL ? 100 : 20;
/** What may be left of it all: compiled code, buffers kept for the next connection. */
const LEFT_OVER_MB = 4;
const FORGOTTEN_WITHIN_MS = 5_000;

let server: Serving;
beforeAll(async () => {
  server = await startServing();
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

function open(): Session {
  return openSession({ ...parseConnectString(server.address), timeoutMs: 60_000 });
}

/** Runs `count` tasks, a limited number of them at a time. */
async function pipelined(count: number, task: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, count) }, worker));
}

const path = (index: number) => `/load/${index % FOLDERS}/${index}`;

async function makeZnodes(clients: readonly Session[]): Promise<void> {
  const [first] = clients as [Session];
  await first.create("/load", null);
  for (let folder = 0; folder < FOLDERS; folder++) await first.create(`/load/${folder}`, null);
  await pipelined(ZNODES / STEPS_A_MULTI, async (batch) => {
    const steps = Array.from({ length: STEPS_A_MULTI }, (_, step) => ({
      op: "create" as const,
      path: path(batch * STEPS_A_MULTI + step),
      data: Buffer.from("a value of some length, as it is in life"),
    }));
    await clients[batch % clients.length]?.multi(steps);
  });
}

async function removeZnodes(clients: readonly Session[]): Promise<void> {
  await pipelined(FOLDERS, async (folder) => {
    const client = clients[folder % clients.length] as Session;
    const names = await client.getChildren(`/load/${folder}`);
    for (let at = 0; at < names.length; at += 1_000) {
      const steps = names
        .slice(at, at + 1_000)
        .map((name) => ({ op: "delete" as const, path: `/load/${folder}/${name}` }));
      await client.multi(steps);
    }
    await client.delete(`/load/${folder}`);
  });
  await clients[0]?.delete("/load");
}

/** Does some of everything; counts what must have been told to somebody who watches it all. */
async function work(
  client: Session,
  random: Random,
  count: number,
  told: Map<string, number>,
): Promise<void> {
  const tell = (type: string, by = 1) => told.set(type, (told.get(type) ?? 0) + by);
  const operations = {
    get: () => client.getData(path(random.index(ZNODES))),
    exists: () => client.exists(path(random.index(ZNODES))),
    set: async () => {
      await client.setData(path(random.index(ZNODES)), Buffer.from(String(random.next())));
      tell("data-changed");
    },
    "come and go": async () => {
      const made = await client.create(`/load/${random.index(FOLDERS)}/e-`, null, {
        mode: "ephemeralSequential",
      });
      tell("created");
      await client.delete(made);
      tell("deleted");
    },
    list: () => client.getChildren(`/load/${random.index(FOLDERS)}`),
    multi: async () => {
      const target = path(random.index(ZNODES));
      await client.multi([
        { op: "check", path: target },
        { op: "setData", path: target, data: Buffer.from("x") },
      ]);
      tell("data-changed");
    },
  };
  const weights = { get: 55, exists: 15, set: 20, "come and go": 4, list: 1, multi: 5 };
  await pipelined(count, () => operations[random.weighted(weights)]());
}

test(`${CLIENTS} clients, ${ZNODES} znodes, ${OPERATIONS} operations`, {
  timeout: 600_000,
}, async () => {
  const before = await server.memory();
  const clients = Array.from({ length: CLIENTS }, open);
  await Promise.all(clients.map((client) => client.connected()));
  await makeZnodes(clients);
  const filled = await server.memory();

  const observer = open();
  const seen = new Map<string, number>();
  await observer.addWatch("/load", "recursive", ({ type }) =>
    seen.set(type, (seen.get(type) ?? 0) + 1),
  );

  const told = new Map<string, number>();
  const startedAt = performance.now();
  await Promise.all(
    clients.map((client, index) => work(client, new Random(index), OPERATIONS / CLIENTS, told)),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await observer.sync("/");
  await eventually(() => expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(told)), {
    timeoutMs: 30_000,
  });
  await observer.close();

  await everyWatcherHearsEveryChange(clients);
  await removeZnodes(clients);
  await Promise.all(clients.map((client) => client.close()));
  const figures = { before, filled, operationsASecond: Math.round(OPERATIONS / seconds) };
  // Else there would be nothing that could be left over.
  expect(filled.heldMb - before.heldMb, JSON.stringify(figures)).toBeGreaterThan(ZNODES / 10_000);
  const check = async () => {
    const after = await server.memory();
    expect(after.heldMb - before.heldMb, JSON.stringify({ ...figures, after })).toBeLessThan(
      LEFT_OVER_MB,
    );
    return after;
  };
  const after = await eventually(check, { timeoutMs: FORGOTTEN_WITHIN_MS, intervalMs: 200 });
  if (IS_FULL) process.stderr.write(`${JSON.stringify({ ...figures, after })}\n`);
});

test("clients that come and go leave nothing behind", async () => {
  const visit = async (index: number) => {
    const client = await RawClient.open(server.address);
    await client.create("/visitor-", { flags: Flags.ephemeralSequential });
    await client.getChildren("/", true);
    await client.exists(`/nobody-${index}`, true);
    await client.addWatch(`/nobody-${index}`, 1);
    // Some say goodbye, some are cut off after it, and some just ask how the server is.
    if (index % 2 === 0) client.connection.drop();
    const again = index % 2 === 0 ? await client.reattach(server.address) : client;
    await again.closeSession();
    if (index % 5 === 0) await fourLetterWord(server.address, "ruok");
  };
  await pipelined(200, visit);
  const before = await server.memory();
  await pipelined(VISITORS, visit);
  const check = async () => {
    const { heldMb } = await server.memory();
    expect(heldMb - before.heldMb).toBeLessThan(1);
  };
  await eventually(check, { timeoutMs: FORGOTTEN_WITHIN_MS, intervalMs: 200 });
});

/**
 * Persistent watches: each change once. One-shot watches set anew: no state is the last one without
 * being seen.
 */
async function everyWatcherHearsEveryChange(clients: readonly Session[]): Promise<void> {
  const [writer] = clients as [Session];
  const paths = Array.from({ length: WATCHED }, (_, index) => `/watched-${index}`);
  for (const watched of paths) await writer.create(watched, null);
  const counts = clients.map(() => new Map<string, number>());
  const lastSeen = clients.map(() => 0);
  await Promise.all(
    clients.flatMap((client, index) => [
      ...paths.slice(1).map((watched) =>
        client.addWatch(watched, "persistent", () => {
          counts[index]?.set(watched, (counts[index]?.get(watched) ?? 0) + 1);
        }),
      ),
      follow(client, paths[0] ?? "", (version) => {
        lastSeen[index] = version;
      }),
    ]),
  );
  await pipelined(WATCHED * CHANGES, (index) => {
    const writing = clients[index % clients.length] as Session;
    return writing.setData(paths[index % WATCHED] ?? "", Buffer.from(String(index)));
  });
  const expected = Object.fromEntries(paths.slice(1).map((watched) => [watched, CHANGES]));
  await eventually(
    () => {
      expect(counts.map((count) => Object.fromEntries([...count].sort()))).toEqual(
        clients.map(() => expected),
      );
      expect(lastSeen).toEqual(clients.map(() => CHANGES));
    },
    { timeoutMs: 30_000 },
  );
  for (const watched of paths) await writer.delete(watched);
}

/** Reads with a one-shot watch, again whenever it has told. */
async function follow(
  client: Session,
  watched: string,
  tell: (version: number) => void,
): Promise<void> {
  const look = async () => {
    const { stat } = await client.getData(watched, {
      watch: ({ type }) => {
        if (type === "data-changed") void look();
      },
    });
    tell(stat.version);
  };
  await look();
}
