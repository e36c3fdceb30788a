/** What `undo` can bring back: each command that destroyed something, with what it destroyed. */
import { randomBytes } from "node:crypto";

/** The folder that the entries are in. */
export interface UndoFolder {
  create(name: string): Promise<{ write(text: string): Promise<void>; close(): Promise<void> }>;
  read(name: string): Promise<string>;
  stream(name: string): AsyncIterable<Uint8Array>;
  list(): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  remove(name: string): Promise<void>;
}

export interface UndoTree {
  readonly path: string;
  /** The export, a file of the folder. */
  readonly file: string;
  readonly znodes: number;
}

export interface UndoEntry {
  readonly id: string;
  readonly command: string;
  readonly at: string;
  /** The connect string of the session. */
  readonly servers: string;
  readonly trees: readonly UndoTree[];
  /** The last transaction of the command: what is newer was made since. Left out: it was killed. */
  readonly doneAt?: string;
  /** Where mv moved the only tree to, on the same servers. */
  readonly movedTo?: string;
}

const MAX_ENTRIES = 20;
const MAX_BYTES = 512 * 1024 * 1024;
const ENTRY = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.json$/;
const FILE = /^(\d{8}T\d{9}Z-[0-9a-f]{8})(\.json|\.done|-\d+\.jsonl)$/;

export class UndoStore {
  readonly folder: UndoFolder;
  /** The bytes that are kept of one command. */
  readonly limit: number;

  constructor(folder: UndoFolder, limit: number) {
    this.folder = folder;
    this.limit = limit;
  }

  newId(): string {
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    return `${stamp}-${randomBytes(4).toString("hex")}`;
  }

  /** Makes the entry complete, and removes the oldest ones. */
  async add(entry: UndoEntry): Promise<void> {
    await this.#write(`${entry.id}.json`, JSON.stringify(entry));
    await this.#prune();
  }

  async done(id: string, doneAt: bigint): Promise<void> {
    await this.#write(`${id}.done`, String(doneAt));
  }

  /** The last entry; undefined where there is none. */
  async last(): Promise<UndoEntry | undefined> {
    const names = (await this.folder.list()).map(({ name }) => name);
    const name = names.findLast((one) => ENTRY.test(one));
    if (name === undefined) return undefined;
    const entry: UndoEntry = JSON.parse(await this.folder.read(name));
    const mark = `${entry.id}.done`;
    if (!names.includes(mark)) return entry;
    return { ...entry, doneAt: await this.folder.read(mark) };
  }

  async remove(id: string): Promise<void> {
    const files = await this.folder.list();
    for (const { name } of files) if (name.startsWith(id)) await this.folder.remove(name);
  }

  /** Keeps the newest entries, as many as fit. Files of commands that were killed go too. */
  async #prune(): Promise<void> {
    const sizes = new Map<string, number>();
    for (const { name, bytes } of await this.folder.list()) {
      const id = FILE.exec(name)?.[1];
      if (id !== undefined) sizes.set(id, (sizes.get(id) ?? 0) + bytes);
    }
    let kept = 0;
    for (const [index, [id, bytes]] of [...sizes].sort().reverse().entries()) {
      kept += bytes;
      if (index >= MAX_ENTRIES || (index > 0 && kept > MAX_BYTES)) await this.remove(id);
    }
  }

  async #write(name: string, text: string): Promise<void> {
    const file = await this.folder.create(name);
    try {
      await file.write(text);
    } finally {
      await file.close();
    }
  }
}
