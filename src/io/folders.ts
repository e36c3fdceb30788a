/** Folders of the file system, for commands that copy trees to and from them. */
import type { Dirent } from "node:fs";
import { lstat, mkdir, readdir, stat } from "node:fs/promises";
import type { FileKind, FolderEntry } from "./files.ts";

/** What is there; a link below a folder is `other`: it may lead anywhere. */
export async function kindOf(
  path: string,
  { followsLink }: { readonly followsLink: boolean },
): Promise<FileKind | undefined> {
  try {
    return kindOfEntry(await (followsLink ? stat(path) : lstat(path)));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Sorted by UTF-16 unit, as the children of a znode are. */
export async function listFolder(path: string): Promise<FolderEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOfEntry(entry) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Makes a folder in one that exists; false where there is a folder already. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (exists && (await kindOf(path, { followsLink: false })) === "folder") return false;
    throw exists ? new Error("it is not a folder", { cause: error }) : error;
  }
}

function kindOfEntry(entry: Pick<Dirent, "isFile" | "isDirectory">): FileKind {
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}
