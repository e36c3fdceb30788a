/** A folder of our own for files that no other user may read, such as what `undo` brings back. */
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isOurs, openOwn, readOwn } from "./own-file.ts";

export interface PrivateDraft {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

export class PrivateFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** A new file. Throws where the folder, or a link in its place, belongs to another user. */
  async create(name: string): Promise<PrivateDraft> {
    await this.#make();
    // O_EXCL follows no link.
    const handle = await open(join(this.#path, name), "wx", 0o600);
    return {
      write: async (text) => void (await handle.appendFile(text)),
      close: () => handle.close(),
    };
  }

  async read(name: string): Promise<string> {
    return (await readOwn(join(this.#path, name))).text;
  }

  async *stream(name: string): AsyncGenerator<Uint8Array> {
    const { handle } = await openOwn(join(this.#path, name), constants.O_RDONLY);
    try {
      for await (const chunk of handle.createReadStream({ autoClose: false })) yield chunk;
    } finally {
      await handle.close();
    }
  }

  /** Names and sizes, in the order of the names. Empty without the folder. */
  async list(): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
    const names = await readdir(this.#path).catch(() => []);
    const files = await Promise.all(
      names.sort().map(async (name) => ({
        name,
        bytes: await lstat(join(this.#path, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      })),
    );
    return files;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#path, name), { force: true });
  }

  async #make(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
    const found = await lstat(this.#path);
    if (!found.isDirectory() || !isOurs(found))
      throw new Error(`${this.#path} is not a folder of this user`);
    if ((found.mode & 0o077) !== 0) throw new Error(`other users can enter ${this.#path}`);
  }
}
