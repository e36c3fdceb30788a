import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Library = typeof import("../src/index.ts");
type Session = ReturnType<Library["openSession"]>;

const BATCH = 1_000;

/** The package as its users get it: the bundle. */
export function loadLibrary(): Promise<Library> {
  return import(pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href);
}

const DATA = Buffer.alloc(100, "x");

/** Makes znodes with 100 bytes of data each; a parent comes before its children. */
export function makeZnodes(
  address: string,
  paths: readonly string[],
  dataOf: (index: number) => Buffer = () => DATA,
): Promise<void> {
  return withSession(address, async (session) => {
    for (let at = 0; at < paths.length; at += BATCH) {
      const batch = paths.slice(at, at + BATCH);
      await session.multi(
        batch.map((path, index) => ({ op: "create", path, data: dataOf(at + index) })),
      );
    }
  });
}

/** How often the ACL of each znode was changed since it was made. */
export function aclVersions(address: string, paths: readonly string[]): Promise<number[]> {
  return withSession(address, async (session) => {
    const stats = await Promise.all(paths.map((path) => session.getData(path)));
    return stats.map(({ stat }) => stat.aversion);
  });
}

/**
 * So many tickets in the queue of a lock, as if somebody waited behind each, until `work` has
 * ended.
 */
export function withQueue<T>(
  address: string,
  path: string,
  tickets: number,
  work: () => Promise<T>,
): Promise<T> {
  const data = Buffer.from(
    JSON.stringify({ v: 1, tool: "zksh", mode: "exclusive", host: "bench", pid: 1 }),
  );
  return withSession(address, async (session) => {
    await session.create(path, null);
    for (let made = 0; made < tickets; made += BATCH) {
      const batch = Array.from(
        { length: Math.min(BATCH, tickets - made) },
        () => `${path}/_c_${randomUUID()}-lock-`,
      );
      await session.multi(
        batch.map((node) => ({ op: "create", path: node, data, mode: "ephemeralSequential" })),
      );
    }
    return work();
  });
}

/**
 * Sessions that read once, until the server's compiler has done its work: they are slow at first.
 */
export async function warmUp(address: string, path: string): Promise<void> {
  for (let sessions = 0; sessions < 2_000; sessions++) {
    await withSession(address, (session) => session.getData(path));
  }
}

export function countBelow(address: string, path: string): Promise<number> {
  return withSession(address, (session) => session.getAllChildrenNumber(path));
}

export function hasZnode(address: string, path: string): Promise<boolean> {
  return withSession(address, async (session) => (await session.exists(path)) !== undefined);
}

export function countChildren(address: string, path: string): Promise<number> {
  return withSession(
    address,
    async (session) => (await session.getChildren2(path)).children.length,
  );
}

async function withSession<T>(address: string, work: (session: Session) => Promise<T>): Promise<T> {
  const { openSession, parseConnectString } = await loadLibrary();
  const session = openSession({ ...parseConnectString(address), timeoutMs: 60_000 });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
