import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Library = typeof import("../src/index.ts");
type Session = ReturnType<Library["openSession"]>;

const BATCH = 1_000;

/** The package as its users get it: the bundle. */
export function loadLibrary(): Promise<Library> {
  return import(pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href);
}

/** Makes znodes with 100 bytes of data each; a parent comes before its children. */
export function makeZnodes(address: string, paths: readonly string[]): Promise<void> {
  const data = Buffer.alloc(100, "x");
  return withSession(address, async (session) => {
    for (let at = 0; at < paths.length; at += BATCH) {
      await session.multi(paths.slice(at, at + BATCH).map((path) => ({ op: "create", path, data })));
    }
  });
}

export function countChildren(address: string, path: string): Promise<number> {
  return withSession(address, async (session) => (await session.getChildren2(path)).children.length);
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
