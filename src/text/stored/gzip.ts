import { gunzipSync } from "node:zlib";
import { beginning, NotOfKindError } from "./not-of-kind.ts";

/** A few kilobytes can unpack to gigabytes. */
const MAX_UNPACKED = 64 * 1024 * 1024;

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Throws NotOfKindError for bytes that are not gzip, are cut off or unpack to more than 64 MB. */
export function unpackGzip(bytes: Buffer): Buffer {
  if (!isGzip(bytes)) throw new NotOfKindError("gzip", beginning(bytes));
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === "ERR_BUFFER_TOO_LARGE" ? "it unpacks to more than 64 MB" : message;
    throw new NotOfKindError("gzip", why, { cause });
  }
}
