/** Reads an export; a file that cannot be read is an error of the line, not of the program. */
import { UsageError } from "../errors.ts";
import { readTreeFile, type TreeFile } from "../recipes/trees/tree-file.ts";
import { cannotRead } from "../text/file-failures.ts";
import type { Context } from "./command.ts";

/** `-` is stdin. */
export async function openTreeFile({ files, input }: Context, file: string): Promise<TreeFile> {
  const name = file === "-" ? "stdin" : file;
  const bytes = file === "-" ? input.chunks() : files.stream(file);
  return readTreeFile(name, namedErrors(bytes, name));
}

async function* namedErrors(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (cause) {
    throw new UsageError(cannotRead(name, cause), { cause });
  }
}
