/**
 * Writes a tree of znodes into a folder: a znode with children becomes a folder whose data is in a
 * file of its own, one without becomes a file. Each file appears when it is complete.
 */
import { ConflictError, InterruptedError, OperationError, UsageError } from "../errors.ts";
import type { NewZnode } from "../recipes/trees/new-znode.ts";
import { hasEqualData } from "../recipes/trees/new-znode.ts";
import { isBelow, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import { stoppedAfter, TreeInterruptedError } from "../recipes/trees/tree-interrupted.ts";
import type { TreeSink } from "../recipes/trees/tree-sink.ts";
import type { WriteTreeOptions, WrittenTree } from "../recipes/trees/write-tree.ts";
import { cannotWrite } from "../text/file-failures.ts";
import type { Context } from "./command.ts";
import { DATA_FILE, diskFull, fileFailure, isDiskFull, readFileOf } from "./folder-files.ts";

const FILES_UNDER_WAY = 32;

export interface FolderWriterOptions extends WriteTreeOptions {
  /** Nothing is written: the result tells what would be. */
  readonly dryRun: boolean;
}

type Outcome = "created" | "overwritten" | "unchanged" | "skipped";

export class FolderWriter implements TreeSink {
  readonly #files: Context["files"];
  readonly #root: string;
  readonly #options: FolderWriterOptions;
  /** Held back until it is known whether it has children. */
  #newest: NewZnode | undefined;
  readonly #failed = new Set<string>();
  readonly #failures: TreeFailure[] = [];
  readonly #counts = { created: 0, overwritten: 0, unchanged: 0, skipped: 0 };
  #underWay: Promise<void>[] = [];

  /** The paths of the znodes are relative: empty for the one that becomes `root`. */
  constructor(files: Context["files"], root: string, options: FolderWriterOptions) {
    this.#files = files;
    this.#root = root;
    this.#options = options;
  }

  async add(znodes: readonly NewZnode[]): Promise<void> {
    for (const znode of znodes) {
      const before = this.#newest;
      this.#newest = znode;
      if (before) await this.#take(before, isBelow(znode.path, before.path));
    }
  }

  async finish(): Promise<WrittenTree> {
    if (this.#newest) await this.#take(this.#newest, false);
    this.#newest = undefined;
    await this.#settle();
    return { ...this.#counts, failures: this.#failures };
  }

  async stopped(error: unknown): Promise<unknown> {
    await Promise.allSettled(this.#underWay);
    const done = this.#counts.created + this.#counts.overwritten;
    if (!(error instanceof InterruptedError)) return stoppedAfter(error, done);
    return new TreeInterruptedError(error, { done, isExact: true });
  }

  async #take(znode: NewZnode, hasChildren: boolean): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (!this.#canBeWritten(znode.path)) return;
    if (hasChildren) return this.#attempt(znode, () => this.#writeFolder(znode));
    const writing = this.#attempt(znode, () => this.#writeFile(znode, this.#fileOf(znode.path)));
    // It may fail while another one is awaited, which meets the failure in its turn.
    writing.catch(() => {});
    this.#underWay.push(writing);
    if (this.#underWay.length >= FILES_UNDER_WAY) await this.#settle();
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#underWay = [];
    this.#options.onProgress?.(this.#counts.created + this.#counts.overwritten);
  }

  /** A server could name a child `..`, and below a link everything would be written elsewhere. */
  #canBeWritten(path: string): boolean {
    const [name = "", ...above] = path.split("/").reverse();
    const parent = above.reverse().join("/");
    const isFailedBelow = path !== "" && this.#failed.has(parent);
    const isName =
      path === "" || (name !== "" && name !== "." && name !== ".." && name !== DATA_FILE);
    if (isName && !isFailedBelow && !name.includes("\0")) return true;
    const file = this.#fileOf(path);
    this.#fail(
      path,
      fileFailure(
        file,
        isName
          ? `${file} is not written, because its folder could not be`
          : `${file} cannot be the file of a znode`,
      ),
    );
    return false;
  }

  #fileOf(path: string): string {
    return `${this.#root}${path}`;
  }

  #fail(path: string, error: OperationError): void {
    this.#failed.add(path);
    this.#failures.push({ path: this.#fileOf(path), error });
  }

  async #attempt({ path }: NewZnode, work: () => Promise<Outcome>): Promise<void> {
    try {
      this.#counts[await work()] += 1;
    } catch (error) {
      if (error instanceof ConflictError || error instanceof InterruptedError) throw error;
      const message =
        error instanceof OperationError ? error.message : cannotWrite(this.#fileOf(path), error);
      if (isDiskFull(error)) throw diskFull(message, error);
      // Its folder is missing, most likely: nothing else can be written either.
      if (path === "") throw new UsageError(message, { cause: error });
      this.#fail(path, fileFailure(this.#fileOf(path), message, error));
    }
  }

  async #writeFolder(znode: NewZnode): Promise<Outcome> {
    const folder = this.#fileOf(znode.path);
    const isNew = await this.#makeFolder(folder);
    const file = `${folder}/${DATA_FILE}`;
    const isEmpty = znode.data === null || znode.data.length === 0;
    if (isEmpty && (isNew || (await this.#kind(file)) === undefined))
      return isNew ? "created" : "unchanged";
    const outcome = await this.#writeFile(znode, file);
    return isNew ? "created" : outcome === "created" ? "overwritten" : outcome;
  }

  async #makeFolder(folder: string): Promise<boolean> {
    if (!this.#options.dryRun) return this.#files.makeFolder(folder);
    const kind = await this.#kind(folder);
    if (kind === undefined || kind === "folder") return kind === undefined;
    throw fileFailure(folder, `${folder} exists and is not a folder`);
  }

  async #writeFile({ data }: NewZnode, file: string): Promise<Outcome> {
    const { onConflict, dryRun } = this.#options;
    const kind = await this.#kind(file);
    if (kind === "folder") throw fileFailure(file, `${file} exists and is a folder`);
    // A device or a pipe takes what comes.
    if (kind === "other" && (await this.#files.kind(file, { followsLink: true })) !== "other")
      throw fileFailure(file, `${file} is a link`);
    if (kind === "file" && hasEqualData(await readFileOf(this.#files, file), data))
      return "unchanged";
    if (kind === "file" && onConflict === "skip") return "skipped";
    if (kind === "file" && onConflict === "fail")
      throw new ConflictError("node-exists", `${file} exists with other data`, { path: file });
    if (!dryRun) await this.#files.write(file, data ?? Buffer.alloc(0));
    return kind === "file" ? "overwritten" : "created";
  }

  #kind(file: string) {
    return this.#files.kind(file, { followsLink: false });
  }
}
