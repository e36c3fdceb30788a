/**
 * Protocol Buffers without their schema: fields by number and wire type. What a length-delimited
 * field holds (text, a message or bytes) is guessed, as `protoc --decode_raw` does.
 */
import { isReadable } from "../readable.ts";
import { beginning, NotOfKindError } from "./not-of-kind.ts";

const KIND = "protobuf";
/** Each level reads its bytes once: the work is at most the length of the data times this. */
const MAX_DEPTH = 16;
const MAX_BYTES = 4 * 1024 * 1024;
/** A field of two bytes becomes an object of a hundred. */
const MAX_FIELDS = 100_000;
const MAX_FIELD_NUMBER = 2 ** 29 - 1;
const MAX_UINT64 = 2n ** 64n;

export type ProtobufValue =
  | { readonly wire: "varint" | "fixed32" | "fixed64"; readonly value: bigint }
  | { readonly wire: "text"; readonly value: string }
  | { readonly wire: "message"; readonly fields: readonly ProtobufField[] }
  | { readonly wire: "bytes"; readonly value: Buffer };

export interface ProtobufField {
  readonly number: number;
  readonly value: ProtobufValue;
}

export interface ProtobufMessage {
  /** The data began with `PBUF`, the mark of HBase and Hadoop. */
  readonly hasMagic: boolean;
  /** The process that wrote it, as HBase puts it before its data: `master:16000`. */
  readonly writer?: string;
  readonly fields: readonly ProtobufField[];
}

/** Reads a message, behind the mark and the metadata of HBase where it has them. */
export function parseStoredProtobuf(
  bytes: Buffer,
  { needsMagic }: { readonly needsMagic: boolean },
): ProtobufMessage {
  const { writer, data } = splitMetadata(bytes);
  const hasMagic = data.toString("latin1", 0, 4) === "PBUF";
  if (bytes.length === 0 || (needsMagic && !hasMagic))
    throw new NotOfKindError(KIND, beginning(bytes));
  const message = hasMagic ? data.subarray(4) : bytes;
  if (message.length > MAX_BYTES) throw new NotOfKindError(KIND, "it is larger than 4 MB");
  const fields = readMessage(message, 1, { left: MAX_FIELDS });
  if (fields === undefined) throw new NotOfKindError(KIND, "its fields cannot be read to the end");
  return { hasMagic, ...(hasMagic && writer !== undefined && { writer }), fields };
}

/**
 * HBase writes 0xff, the length of an id, the id and the data. The last eight bytes of the id are
 * random, the rest names the process.
 */
function splitMetadata(bytes: Buffer): { readonly writer?: string; readonly data: Buffer } {
  if (bytes[0] !== 0xff || bytes.length < 5) return { data: bytes };
  const end = 5 + bytes.readUInt32BE(1);
  if (end > bytes.length) return { data: bytes };
  const name = bytes.subarray(5, Math.max(5, end - 8));
  return {
    ...(name.length > 0 && isReadable(name) && { writer: name.toString() }),
    data: bytes.subarray(end),
  };
}

/** How many more fields are read, in the whole message. */
interface Budget {
  left: number;
}

/** Undefined for bytes that are not a sequence of fields up to the last one. */
function readMessage(
  bytes: Buffer,
  depth: number,
  budget: Budget,
): readonly ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (tag === undefined) return undefined;
    const number = Number(tag.value >> 3n);
    if (number < 1 || number > MAX_FIELD_NUMBER) return undefined;
    const read = readValue(bytes, tag.end, Number(tag.value & 7n), depth, budget);
    if (read === undefined) return undefined;
    if (budget.left-- === 0)
      throw new NotOfKindError(KIND, `it has more than ${MAX_FIELDS} fields`);
    fields.push({ number, value: read.value });
    at = read.end;
  }
  return fields;
}

interface Read<Value> {
  readonly value: Value;
  /** The offset behind it. */
  readonly end: number;
}

function readValue(
  bytes: Buffer,
  at: number,
  wireType: number,
  depth: number,
  budget: Budget,
): Read<ProtobufValue> | undefined {
  if (wireType === 0) {
    const read = readVarint(bytes, at);
    return read && { value: { wire: "varint", value: read.value }, end: read.end };
  }
  if (wireType === 1) {
    if (at + 8 > bytes.length) return undefined;
    return { value: { wire: "fixed64", value: bytes.readBigUInt64LE(at) }, end: at + 8 };
  }
  if (wireType === 5) {
    if (at + 4 > bytes.length) return undefined;
    return { value: { wire: "fixed32", value: BigInt(bytes.readUInt32LE(at)) }, end: at + 4 };
  }
  // Groups (3 and 4) were given up before the systems that are read here were written.
  if (wireType !== 2) return undefined;
  const length = readVarint(bytes, at);
  if (length === undefined || length.value > BigInt(bytes.length - length.end)) return undefined;
  const end = length.end + Number(length.value);
  return { value: guess(bytes.subarray(length.end, end), depth, budget), end };
}

/**
 * Text without any control character is text. A message always has some, unless its numbers and
 * lengths are all above 31; text with line ends is only told apart by not being a message.
 */
function guess(bytes: Buffer, depth: number, budget: Budget): ProtobufValue {
  const isText = isReadable(bytes);
  if (!isText || bytes.some((byte) => byte < 0x20)) {
    const fields = depth < MAX_DEPTH ? readMessage(bytes, depth + 1, budget) : undefined;
    if (fields !== undefined) return { wire: "message", fields };
  }
  return isText ? { wire: "text", value: bytes.toString() } : { wire: "bytes", value: bytes };
}

function readVarint(bytes: Buffer, start: number): Read<bigint> | undefined {
  let value = 0n;
  for (let at = start; at < bytes.length && at < start + 10; at++) {
    const byte = bytes[at] as number;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return value < MAX_UINT64 ? { value, end: at + 1 } : undefined;
  }
  return undefined;
}
