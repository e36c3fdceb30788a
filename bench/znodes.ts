import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Library = typeof import("../src/index.ts");

/** The package as its users get it: the bundle. */
export function loadLibrary(): Promise<Library> {
  return import(pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href);
}

const BATCH = 1_000;

/** Makes znodes with 100 bytes of data each; a parent comes before its children. */
export async function makeZnodes(address: string, paths: readonly string[]): Promise<void> {
  const { openSession, parseConnectString } = await loadLibrary();
  const session = openSession({ ...parseConnectString(address), timeoutMs: 60_000 });
  const data = Buffer.alloc(100, "x");
  try {
    for (let at = 0; at < paths.length; at += BATCH) {
      await session.multi(paths.slice(at, at + BATCH).map((path) => ({ op: "create", path, data })));
    }
  } finally {
    await session.close();
  }
}
