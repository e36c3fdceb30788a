import { constants } from "node:fs";
import { access, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file in one step: nobody sees half of it. What is no plain file (a pipe, a device) is written to, not replaced. */
export async function writeWhole(path: string, data: string): Promise<void> {
  // What a link leads to, if there is something already.
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found && !found.isFile()) return writeInto(target, data);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(draft, data);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Without waiting for somebody who reads from a pipe. */
async function writeInto(target: string, data: string): Promise<void> {
  const file = await open(target, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

/** Why that would fail, as far as can be told without trying. */
export async function cannotWrite(path: string): Promise<string | undefined> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory()) return `${path} is a directory`;
  const place = found && !found.isFile() ? target : dirname(target);
  return access(place, constants.W_OK).then(
    () => undefined,
    (error: Error) => error.message,
  );
}
