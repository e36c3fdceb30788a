/**
 * Replaces files in one step: no reader sees half of a file, and no link that another user has
 * planted is followed.
 */
import { randomBytes } from "node:crypto";
import { constants, createReadStream, type Stats } from "node:fs";
import { access, type FileHandle, lstat, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { FileDraft } from "./files.ts";
import { isOurs } from "./own-file.ts";

/** A pipe or a device, which is written to; or a file, which is replaced. */
type Destination =
  | { readonly kind: "stream"; readonly flags: number }
  | { readonly kind: "file"; readonly mode: number | undefined };

/** Our own open files. They are links into /proc, and must be neither replaced nor truncated. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/**
 * Writes a file in one step, with the mode of the file that it replaces. A link is replaced, never
 * its target. A pipe or a terminal is written to, also through a link of our own or of root, such as
 * /dev/stdout.
 */
export async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  const destination = await destinationOf(path);
  if (destination.kind === "stream") await writeInto(path, data, destination.flags);
  else await replaceFile(path, data, destination.mode);
}

/** The reason why {@link writeWhole} would fail, as far as it is known without trying. */
export async function cannotWrite(path: string): Promise<string | undefined> {
  try {
    const { kind } = await destinationOf(path);
    await access(kind === "stream" ? path : dirname(resolve(path)), constants.W_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Puts a new file in the place of `path`; a link there is replaced, not followed. A mode left out
 * is the usual one.
 */
export async function replaceFile(
  path: string,
  data: string | Uint8Array,
  mode: number | undefined,
): Promise<void> {
  const draft = await Draft.open(path, mode);
  try {
    await draft.write(data);
    await draft.commit();
  } finally {
    await draft.discard();
  }
}

/** The same piece by piece. A pipe or a device gets each piece at once. */
export async function openDraft(path: string): Promise<FileDraft> {
  const destination = await destinationOf(path);
  if (destination.kind === "file") return Draft.open(path, destination.mode);
  const { flags } = destination;
  return {
    isFile: false,
    write: (text) => writeInto(path, text, flags),
    read: () => {
      throw new Error(`${path} cannot be read again`);
    },
    async commit() {},
    async discard() {},
  };
}

class Draft implements FileDraft {
  readonly isFile = true;
  readonly #path: string;
  readonly #name: string;
  readonly #file: FileHandle;
  readonly #mode: number | undefined;
  #isDone = false;

  private constructor(path: string, name: string, file: FileHandle, mode: number | undefined) {
    this.#path = path;
    this.#name = name;
    this.#file = file;
    this.#mode = mode;
  }

  static async open(path: string, mode: number | undefined): Promise<Draft> {
    // Beside it, because a rename cannot leave the file system. With a name that others cannot
    // prepare a link for.
    const name = join(dirname(resolve(path)), `.zksh-${randomBytes(12).toString("hex")}.tmp`);
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    const file = await open(name, flags, mode === undefined ? 0o666 : 0o600);
    return new Draft(path, name, file, mode);
  }

  async write(text: string | Uint8Array): Promise<void> {
    await this.#file.writeFile(text);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    yield* createReadStream(this.#name);
  }

  async commit(): Promise<void> {
    if (this.#mode !== undefined) await this.#file.chmod(this.#mode);
    await this.#file.close();
    this.#isDone = true;
    try {
      await rename(this.#name, this.#path);
    } catch (error) {
      await rm(this.#name, { force: true });
      throw error;
    }
  }

  async discard(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    await this.#file.close();
    await rm(this.#name, { force: true });
  }
}

/** Throws for what can be neither replaced nor written to. */
async function destinationOf(path: string): Promise<Destination> {
  const { O_NOFOLLOW, O_APPEND } = constants;
  if (DESCRIPTOR.test(resolve(path))) return { kind: "stream", flags: O_APPEND };
  const found = await unlessMissing(lstat(path));
  if (found?.isFIFO()) await refusePlantedPipe(path, found);
  if (!found?.isSymbolicLink()) {
    return isStream(path, found)
      ? { kind: "stream", flags: O_NOFOLLOW }
      : { kind: "file", mode: modeOf(found) };
  }
  const target = await unlessMissing(stat(path));
  if (isStream(path, target) && (isOurs(found) || found.uid === 0))
    return { kind: "stream", flags: 0 };
  return { kind: "file", mode: target && isOurs(target) ? modeOf(target) : undefined };
}

/**
 * Another user's pipe in a directory such as /tmp collects what others write. The rule is
 * that of Linux's fs.protected_fifos, which holds only where a file is opened to be created.
 */
async function refusePlantedPipe(path: string, pipe: Stats): Promise<void> {
  const directory = await stat(dirname(resolve(path)));
  const isShared = (directory.mode & 0o1002) === 0o1002;
  if (isShared && !isOurs(pipe) && pipe.uid !== directory.uid)
    throw new Error(`${path} is another user's pipe`);
}

function isStream(path: string, found: Stats | undefined): boolean {
  if (found?.isDirectory()) throw new Error(`${path} is a directory`);
  if (found?.isBlockDevice()) throw new Error(`${path} is a disk`);
  return found !== undefined && !found.isFile();
}

function modeOf(found: Stats | undefined): number | undefined {
  return found?.isFile() ? found.mode & 0o777 : undefined;
}

/** Without waiting for a reader of a pipe. */
async function writeInto(path: string, data: string | Uint8Array, flags: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK | flags);
  try {
    const { O_APPEND } = constants;
    // Another file may have been put in its place since we looked.
    if ((flags & O_APPEND) === 0 && !isStream(path, await file.stat()))
      throw new Error(`${path} has been replaced`);
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

async function unlessMissing(looking: Promise<Stats>): Promise<Stats | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
