/** How a tree of znodes is kept in a folder, for `cp`, `diff` and places that begin with `file:`. */
import { OperationError, PartialError } from "../errors.ts";
import { cannotRead } from "../text/file-failures.ts";
import type { Context } from "./command.ts";

/** The data of a znode that has children: the znode itself is a folder. */
export const DATA_FILE = ".data";

/** No server takes as much; a file that is larger is not read into memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The whole of a file. Throws OperationError. */
export async function readFileOf(files: Context["files"], path: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of files.stream(path)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BYTES) throw fileFailure(path, `${path} is larger than any znode`);
    }
  } catch (cause) {
    if (cause instanceof OperationError) throw cause;
    throw fileFailure(path, cannotRead(path, cause), cause);
  }
  return Buffer.concat(chunks);
}

export function fileFailure(path: string, message: string, cause?: unknown): OperationError {
  return new OperationError("file", message, { path, ...(cause !== undefined && { cause }) });
}

/** Whether no other file can be written either. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || code === "EROFS";
}

export function diskFull(message: string, cause: unknown): PartialError {
  return new PartialError("partial", `the copy is not complete: ${message}`, {
    hint: "the same command goes on where it stopped",
    cause,
  });
}
