import { loadLibrary } from "./znodes.ts";

const BATCH = 2_000;
const BATCHES_UNDER_WAY = 8;

/** `/parent/node-0000000` and the following. */
export function numbered(parent: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${parent}/node-${String(i).padStart(7, "0")}`);
}

/** Creates the paths, a parent before its children; throws if not all of them are there then. */
export async function plantChecked(
  address: string,
  root: string,
  paths: readonly string[],
  data: Buffer | null = null,
): Promise<void> {
  const { openSession, parseConnectString } = await loadLibrary();
  const session = openSession({ ...parseConnectString(address), timeoutMs: 60_000 });
  const underWay: Promise<unknown>[] = [];
  for (let at = 0; at < paths.length; at += BATCH) {
    const ops = paths.slice(at, at + BATCH).map((path) => ({ op: "create", path, data }) as const);
    underWay.push(session.multi(ops));
    if (underWay.length >= BATCHES_UNDER_WAY) await underWay.shift();
  }
  await Promise.all(underWay);
  const planted = await session.getAllChildrenNumber(root);
  await session.close();
  if (planted !== paths.length - 1)
    throw new Error(`${root} has ${planted} below it instead of ${paths.length - 1}`);
}
