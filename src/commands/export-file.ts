import { PartialError, UsageError } from "../errors.ts";
import type { FileDraft } from "../io/files.ts";
import { cannotWrite } from "../text/file-failures.ts";
import type { Context } from "./command.ts";

/** The file of an export. It appears, or replaces an older one, when it is complete. */
export class ExportFile {
  readonly #name: string;
  readonly #draft: FileDraft;

  private constructor(name: string, draft: FileDraft) {
    this.#name = name;
    this.#draft = draft;
  }

  /** Throws UsageError where a file of this name cannot be made. Call {@link discard} in any case. */
  static async open({ files }: Context, name: string): Promise<ExportFile> {
    try {
      return new ExportFile(name, await files.draft(name));
    } catch (cause) {
      throw new UsageError(cannotWrite(name, cause), { cause });
    }
  }

  /** False for a pipe or a device. */
  get isFile(): boolean {
    return this.#draft.isFile;
  }

  read(): AsyncIterable<Uint8Array> {
    return this.#draft.read();
  }

  async write(text: string): Promise<void> {
    await this.#draft.write(text).catch((cause) => this.#fail(cause));
  }

  async commit(): Promise<void> {
    await this.#draft.commit().catch((cause) => this.#fail(cause));
  }

  async discard(): Promise<void> {
    await this.#draft.discard();
  }

  /** A full disk, most often. */
  #fail(cause: unknown): never {
    const hint = this.#draft.isFile
      ? `nothing of it was kept, and ${this.#name} is as it was before`
      : `what ${this.#name} has got is not a whole export`;
    const message = `the export is not complete: ${cannotWrite(this.#name, cause)}`;
    throw new PartialError("partial", message, { hint, cause });
  }
}
