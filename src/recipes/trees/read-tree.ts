/**
 * Reads the data and stats of a whole tree, depth first: each znode right before what is below it,
 * siblings by name. Makes nothing, watches nothing.
 *
 * The walk finds the paths; they are read in multiReads, a few of them under way at a time. A batch
 * grows while the data stays small, so that a reply stays near a megabyte: memory holds a few
 * replies and what the walk holds, never the tree. Znodes that vanish meanwhile are left out. The
 * session repeats reads that a broken connection has cost.
 */
import { NoNodeError, OperationError } from "../../errors.ts";
import type { ReadResult, Session, Stat } from "../../session/session.ts";
import { DepthFirstOrder } from "./path-order.ts";
import { type WalkOptions, walk } from "./walk.ts";

export interface TreeEntry {
  readonly path: string;
  readonly stat: Stat;
  /** null: the znode was made without data. Undefined where only stats were asked for. */
  readonly data?: Buffer | null;
}

export interface ReadTreeOptions extends WalkOptions {
  /** Stats are enough: large data is not transferred. */
  readonly statsOnly?: boolean;
}

/**
 * Sizes are unknown before a reply: a run of large znodes behind many small ones comes in batches of
 * this many, and the server makes one buffer of each reply. With 512, 250 znodes of 1 MB killed a
 * server whose heap was 1 GB.
 */
const MAX_BATCH = 64;
/** A batch of unknown size begins small, because each of its znodes may have a megabyte. */
const FIRST_BATCH = 16;
const BATCHES_UNDER_WAY = 4;
const BYTES_PER_REPLY = 1024 * 1024;
/** A server refuses requests beyond 1 MB; the chroot comes on top of every path. */
const MAX_REQUEST_LENGTH = 200_000;
/** Where data is longer than this on average, a stat alone is asked for instead (exists). */
const LARGE_DATA = 8 * 1024;
/** A stat and the lengths around it. */
const BYTES_PER_ENTRY = 88;

/** The paths of a tree, depth first, in pieces of at most a few thousand. */
export async function* treePaths(
  session: Session,
  root: string,
  options: WalkOptions,
): AsyncGenerator<string[]> {
  const order = new DepthFirstOrder();
  for await (const visits of walk(session, root, options)) yield* order.add(visits);
  yield* order.end();
}

/** Throws when the root itself cannot be listed. */
export async function* readTree(
  session: Session,
  root: string,
  options: ReadTreeOptions,
): AsyncGenerator<TreeEntry[]> {
  yield* readPaths(session, treePaths(session, root, options), options);
}

/** The same for paths from elsewhere, in their order. */
export async function* readPaths(
  session: Session,
  pieces: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  options: ReadTreeOptions,
): AsyncGenerator<TreeEntry[]> {
  const reader = new BatchReader(session, options);
  const underWay: Promise<TreeEntry[]>[] = [];
  for await (const paths of pieces) {
    for (let start = 0; start < paths.length; ) {
      const batch = reader.nextBatch(paths, start);
      start += batch.length;
      const entries = reader.read(batch);
      // It may fail while an older one is awaited; the loop meets the failure in its turn.
      entries.catch(() => {});
      underWay.push(entries);
      if (underWay.length >= BATCHES_UNDER_WAY)
        yield await (underWay.shift() as Promise<TreeEntry[]>);
    }
  }
  for (const entries of underWay) yield await entries;
}

class BatchReader {
  readonly #session: Session;
  readonly #options: ReadTreeOptions;
  /** The length that the next znode's data is expected to have. */
  #expectedBytes = BYTES_PER_REPLY / FIRST_BATCH;

  constructor(session: Session, options: ReadTreeOptions) {
    this.#session = session;
    this.#options = options;
  }

  nextBatch(paths: readonly string[], start: number): string[] {
    const most = Math.max(
      1,
      Math.min(MAX_BATCH, Math.floor(BYTES_PER_REPLY / (this.#expectedBytes + BYTES_PER_ENTRY))),
    );
    const batch: string[] = [];
    let length = 0;
    for (let i = start; i < paths.length && batch.length < most; i++) {
      const path = paths[i] as string;
      length += path.length;
      if (batch.length > 0 && length > MAX_REQUEST_LENGTH) break;
      batch.push(path);
    }
    return batch;
  }

  async read(batch: readonly string[]): Promise<TreeEntry[]> {
    const { statsOnly = false } = this.#options;
    const entries =
      statsOnly && this.#expectedBytes > LARGE_DATA
        ? await this.#readStats(batch)
        : await this.#readData(batch);
    this.#learn(entries);
    return entries;
  }

  async #readStats(batch: readonly string[]): Promise<TreeEntry[]> {
    const { signal } = this.#options;
    const stats = await Promise.all(batch.map((path) => this.#session.exists(path, { signal })));
    return batch.flatMap((path, index) => {
      const stat = stats[index];
      return stat ? [{ path, stat }] : [];
    });
  }

  async #readData(batch: readonly string[]): Promise<TreeEntry[]> {
    const { signal } = this.#options;
    let results: ReadResult[];
    try {
      results = await this.#session.multiRead(
        batch.map((path) => ({ op: "getData", path })),
        { signal },
      );
    } catch (error) {
      // One large znode among small ones: the halves are read one after the other.
      if (!isTooLong(error) || batch.length === 1) throw error;
      const middle = batch.length >> 1;
      const first = await this.#readData(batch.slice(0, middle));
      return first.concat(await this.#readData(batch.slice(middle)));
    }
    const entries: TreeEntry[] = [];
    for (const result of results) {
      if (result.op === "getData") {
        const { path, stat, data } = result;
        entries.push(this.#options.statsOnly ? { path, stat } : { path, stat, data });
      }
      if (result.op === "error" && !(result.error instanceof NoNodeError))
        this.#options.onFailure(result.path, result.error);
    }
    return entries;
  }

  #learn(entries: readonly TreeEntry[]): void {
    if (entries.length === 0) return;
    let bytes = 0;
    for (const { stat } of entries) bytes += stat.dataLength;
    const mean = bytes / entries.length;
    // Long data is believed at once, short data step by step: a batch at most doubles.
    this.#expectedBytes = Math.max(mean, this.#expectedBytes / 2);
  }
}

function isTooLong(error: unknown): boolean {
  return error instanceof OperationError && error.reason === "reply-too-long";
}
