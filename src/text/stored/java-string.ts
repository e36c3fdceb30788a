/** Strings as Java's ObjectOutputStream writes them. */
import { beginning, NotOfKindError } from "./not-of-kind.ts";

const KIND = "a Java-serialised string";
const STREAM_MAGIC = 0xaced0005;
const TYPE_STRING = 0x74;
const TYPE_LONG_STRING = 0x7c;

export interface JavaString {
  readonly text: string;
  /** Bytes of further objects in the same stream, which are not read. */
  readonly bytesBehind: number;
}

export function isJavaStream(bytes: Buffer): boolean {
  return bytes.length >= 5 && bytes.readUInt32BE(0) === STREAM_MAGIC;
}

/** Throws NotOfKindError for other objects, and for a string that is cut off. */
export function parseJavaString(bytes: Buffer): JavaString {
  if (!isJavaStream(bytes)) throw new NotOfKindError(KIND, beginning(bytes));
  const type = bytes[4];
  if (type !== TYPE_STRING && type !== TYPE_LONG_STRING)
    throw new NotOfKindError(KIND, `it is another Java object (type ${type?.toString(16)})`);
  const start = type === TYPE_STRING ? 7 : 13;
  if (bytes.length < start) throw new NotOfKindError(KIND, "its length is cut off");
  const length = type === TYPE_STRING ? bytes.readUInt16BE(5) : Number(bytes.readBigUInt64BE(5));
  const end = start + length;
  if (end > bytes.length)
    throw new NotOfKindError(KIND, `${end - bytes.length} of its ${length} bytes are missing`);
  return {
    text: decodeModifiedUtf8(bytes.subarray(start, end)),
    bytesBehind: bytes.length - end,
  };
}

/**
 * Java's own UTF-8: each UTF-16 unit for itself in one to three bytes, so that a character beyond
 * the basic plane takes six, and the unit 0 takes two.
 */
function decodeModifiedUtf8(bytes: Buffer): string {
  const units = Buffer.alloc(bytes.length * 2);
  let written = 0;
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const size = first < 0x80 ? 1 : first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : 0;
    if (size === 0 || at + size > bytes.length) throw badCharacter(at);
    let unit = size === 1 ? first : first & (size === 2 ? 0x1f : 0x0f);
    for (let next = at + 1; next < at + size; next++) {
      const byte = bytes[next] as number;
      if (byte >> 6 !== 0b10) throw badCharacter(at);
      unit = (unit << 6) | (byte & 0x3f);
    }
    written = units.writeUInt16LE(unit, written);
    at += size;
  }
  return units.toString("utf16le", 0, written);
}

function badCharacter(at: number): NotOfKindError {
  return new NotOfKindError(KIND, `byte ${at} of its text is not in Java's UTF-8`);
}
