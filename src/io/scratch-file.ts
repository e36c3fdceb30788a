import { lstat, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ScratchFile } from "./files.ts";

/** More than any znode holds: an editor has written something else. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Writes a file for another program to change, readable for us alone, in a directory of its own:
 * editors put backups beside it, and some replace the file by one with other permissions.
 */
export async function openScratch(name: string, data: Uint8Array): Promise<ScratchFile> {
  // Made with mode 0700.
  const directory = await mkdtemp(join(tmpdir(), "zksh-"));
  const path = join(directory, basename(name));
  const discard = () => rm(directory, { recursive: true, force: true });
  try {
    await writeFile(path, data, { mode: 0o600, flag: "wx" });
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    path,
    async read() {
      const found = await lstat(path);
      if (!found.isFile()) throw new Error(`${path} is no longer a plain file`);
      if (found.size > MAX_BYTES) throw new Error(`${path} has ${found.size} bytes`);
      return readFile(path);
    },
    truncate: (length) => truncate(path, length),
    async neighbours() {
      return (await readdir(directory)).filter((other) => other !== basename(path));
    },
    discard,
  };
}
