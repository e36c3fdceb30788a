/** Words that stand for a znode's data. */
import { UsageError } from "../errors.ts";
import { flag, Outside, type Reader, type ValueParser } from "./arguments.ts";

/**
 * Bytes for a znode: `-` is stdin and `@file` a file, byte for byte; `@@x` is the text `@x`; all
 * else is UTF-8 text. A script that passes on a value it does not know puts `--` or `--literal`
 * before it: `@/etc/passwd` would upload that file.
 */
export const data: ValueParser<Buffer> = (text, { isVerbatim = false, isLiteral = false }) => {
  if (isVerbatim || isLiteral) return Buffer.from(text);
  if (text === "-") return new Outside((reader) => reader.stdin());
  if (text.startsWith("@@")) return Buffer.from(text.slice(1));
  if (text.startsWith("@")) return new Outside((reader) => uploaded(text.slice(1), reader));
  return Buffer.from(text);
};

async function uploaded(file: string, reader: Reader): Promise<Buffer> {
  try {
    return await reader.file(file);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const hint = `to store the text @${file}, write @@${file}`;
    throw new UsageError(error.message, { cause: error.cause, hint });
  }
}

/** Parses a word after data: if it is invalid, it is mostly the second word of unquoted data. */
export function behindData<T>(parse: ValueParser<T>): ValueParser<T> {
  return (text, where) => {
    try {
      return parse(text, where);
    } catch (error) {
      if (!(error instanceof UsageError) || where.isVerbatim) throw error;
      const hint = error.hint === undefined ? QUOTE_DATA : `${error.hint}; ${QUOTE_DATA}`;
      throw new UsageError(error.message, { reason: error.reason, hint, cause: error });
    }
  };
}

/** For the commands that take data; the parsers look for it before they read the data. */
export const literalFlag = flag("", "take the data as text, even - or @x (as after --)");

export const QUOTE_DATA = "data with spaces needs quotes";

/** The bytes that standard base64 text stands for; blanks and line ends do not count. */
export function decodeBase64(text: Buffer): Buffer {
  const compact = text.toString("latin1").replace(/\s+/g, "");
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(
    compact,
  );
  if (!isBase64) throw new UsageError("the data is not valid base64");
  return Buffer.from(compact, "base64");
}
