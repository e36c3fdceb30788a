/**
 * Opens files of the user that we run as. A file or link that another user has planted in their
 * place is neither read, written nor changed.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

const MAX_SMALL_FILE = 1024 * 1024;

export interface OwnFile {
  readonly handle: FileHandle;
  /** Where the file really is: a link of our own has been followed. */
  readonly path: string;
}

/**
 * Whether a file, or a link itself, belongs to the user that we run as. Systems without users have
 * no others.
 */
export function isOurs({ uid }: Stats): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

/**
 * Opens a file that belongs to us, in a directory that belongs to us. A link is followed only if it
 * is ours too: some people keep their settings elsewhere. Throws the system's error (ENOENT for a
 * missing file), or an error that names what belongs to another user.
 */
export async function openOwn(path: string, flags: number, mode?: number): Promise<OwnFile> {
  await mustBeOurs(dirname(path));
  const target = await followOwnLink(path);
  // A link that is put there only now is not followed, and a pipe does not make us wait for its
  // other end.
  const handle = await open(target, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new Error(`EISDIR: ${path} is a directory`);
    if (!found.isFile()) throw new Error(`${path} is not a plain file`);
    if (!isOurs(found)) throw notOurs(path);
    return { handle, path: target };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A small file as text, with its mode. Throws as {@link openOwn}. */
export async function readOwn(
  path: string,
): Promise<{ readonly text: string; readonly mode: number }> {
  const { handle } = await openOwn(path, constants.O_RDONLY);
  try {
    const { mode, size } = await handle.stat();
    if (size > MAX_SMALL_FILE) throw new Error(`${path} has more than 1 MB`);
    return { text: await handle.readFile("utf8"), mode };
  } finally {
    await handle.close();
  }
}

/** The path itself, or the target of a link that belongs to us. */
async function followOwnLink(path: string): Promise<string> {
  const found = await lstat(path).catch(unlessMissing);
  if (!found?.isSymbolicLink()) return path;
  if (!isOurs(found)) throw notOurs(path);
  const target =
    (await realpath(path).catch(unlessMissing)) ?? resolve(dirname(path), await readlink(path));
  await mustBeOurs(dirname(target));
  return target;
}

async function mustBeOurs(directory: string): Promise<void> {
  const [itself, target] = [await lstat(directory), await stat(directory)];
  if (!isOurs(itself) || !isOurs(target)) throw notOurs(directory);
}

function notOurs(path: string): Error {
  return new Error(`${path} belongs to another user`);
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
