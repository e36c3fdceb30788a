/**
 * Reads a folder as a tree of znodes, depth first with siblings by name: a folder is a znode with
 * children, a file one without. Links and devices are not followed.
 */
import { UsageError, type ZkshError } from "../errors.ts";
import { validatePath } from "../session/path.ts";
import type { Context } from "./command.ts";
import { DATA_FILE, fileFailure, readFileOf } from "./folder-files.ts";

export interface FolderZnode {
  /** Relative: empty for the folder itself, `/a/b` below it. */
  readonly path: string;
  readonly data: Buffer | null;
}

export interface ReadFolderOptions {
  readonly signal: AbortSignal;
  /** Told of each file that is no znode. */
  readonly onFailure: (file: string, error: ZkshError) => void;
}

const ZNODES_PER_PIECE = 64;
const BYTES_PER_PIECE = 1024 * 1024;

/** A single file is a tree of one znode. Throws UsageError where nothing can be read. */
export async function* readFolder(
  files: Context["files"],
  root: string,
  options: ReadFolderOptions,
): AsyncGenerator<FolderZnode[]> {
  let piece: FolderZnode[] = [];
  let bytes = 0;
  for await (const znode of new FolderReader(files, root, options).znodes()) {
    piece.push(znode);
    bytes += znode.data?.length ?? 0;
    if (piece.length < ZNODES_PER_PIECE && bytes < BYTES_PER_PIECE) continue;
    yield piece;
    piece = [];
    bytes = 0;
  }
  yield piece;
}

class FolderReader {
  readonly #files: Context["files"];
  readonly #root: string;
  readonly #options: ReadFolderOptions;

  constructor(files: Context["files"], root: string, options: ReadFolderOptions) {
    this.#files = files;
    this.#root = root;
    this.#options = options;
  }

  async *znodes(): AsyncGenerator<FolderZnode> {
    const kind = await this.#files.kind(this.#root, { followsLink: true });
    if (kind === "folder") return yield* this.#folder("");
    try {
      yield { path: "", data: await readFileOf(this.#files, this.#root) };
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      throw new UsageError(cause.message, { cause });
    }
  }

  async *#folder(path: string): AsyncGenerator<FolderZnode> {
    const { signal } = this.#options;
    const folder = `${this.#root}${path}`;
    const entries = await this.#attempt(folder, () => this.#files.list(folder));
    if (!entries) return;
    const hasData = entries.some(({ name, kind }) => name === DATA_FILE && kind === "file");
    const data = hasData ? await this.#read(`${path}/${DATA_FILE}`) : null;
    if (data !== undefined) yield { path, data };
    for (const { name, kind } of entries) {
      signal.throwIfAborted();
      const below = `${path}/${name}`;
      if (name === DATA_FILE && kind === "file") continue;
      if (!this.#canBeZnode(name, `${this.#root}${below}`)) continue;
      if (kind === "folder") yield* this.#folder(below);
      else {
        const data = await this.#read(below, kind);
        if (data !== undefined) yield { path: below, data };
      }
    }
  }

  #read(path: string, kind = "file"): Promise<Buffer | undefined> {
    const file = `${this.#root}${path}`;
    return this.#attempt(file, async () => {
      if (kind !== "file") throw fileFailure(file, `${file} is neither a file nor a folder`);
      return readFileOf(this.#files, file);
    });
  }

  async #attempt<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onFailure(file, fileFailure(file, why, cause));
      return undefined;
    }
  }

  #canBeZnode(name: string, file: string): boolean {
    try {
      validatePath(`/${name}`);
      return true;
    } catch (cause) {
      const message = `${file} cannot be a znode: its name has characters that ZooKeeper refuses`;
      this.#options.onFailure(file, fileFailure(file, message, cause));
      return false;
    }
  }
}
