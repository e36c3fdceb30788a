/// <reference path="./buffer-fast-paths.d.ts" />
/**
 * Jute, ZooKeeper's serialisation: big-endian integers, length-prefixed strings and buffers (length
 * -1 is null), inline records. For throughput one writer collects the frames of a turn of the event
 * loop, and one reader reads a received chunk in place.
 */

/** A frame that ends early or has a wrong count. The rest of its connection cannot be parsed. */
export class MalformedFrameError extends Error {
  override readonly name: string = "MalformedFrameError";
}

const NULL_LENGTH = -1;
/**
 * Below this size data is copied out of the receive buffer, so that a short value does not keep 64
 * KB alive.
 */
const COPY_BELOW = 4096;
/**
 * Data below this share of its memory is copied too: a stored value then keeps at most twice its
 * length alive.
 */
const COPY_BELOW_SHARE = 0.5;
const INITIAL_SIZE = 4096;
/** A buffer that has grown past this size is not reused in the next turn. */
const KEEP_BELOW = 1 << 20;

export class JuteWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_SIZE);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Starts a frame; pass the result to {@link endFrame}. */
  beginFrame(): number {
    this.int(0);
    return this.#length;
  }

  endFrame(start: number): void {
    this.#buffer.writeInt32BE(this.#length - start, start - 4);
  }

  /** Removes everything written since {@link length} was `length`. */
  cutBack(length: number): void {
    this.#length = length;
  }

  /** Throws RangeError: Buffer would write 0 for NaN, and 0 is a version like any other. */
  int(value: number): void {
    if (value !== (value | 0)) throw new RangeError(`${value} is not a 32-bit integer`);
    this.#reserve(4);
    this.#length = this.#buffer.writeInt32BE(value, this.#length);
  }

  long(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigInt64BE(value, this.#length);
  }

  /** A 64-bit value that fits a double: times, never ids. */
  time(value: number): void {
    this.#reserve(8);
    this.#buffer.writeInt32BE(Math.floor(value / 0x1_0000_0000), this.#length);
    this.#length = this.#buffer.writeUInt32BE(value >>> 0, this.#length + 4);
  }

  boolean(value: boolean): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value ? 1 : 0;
  }

  buffer(value: Uint8Array | null): void {
    if (value === null) return this.int(NULL_LENGTH);
    this.#reserve(4 + value.length);
    this.#length = this.#buffer.writeInt32BE(value.length, this.#length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  string(value: string | null): void {
    if (value === null) return this.int(NULL_LENGTH);
    // A UTF-16 unit takes at most three bytes in UTF-8.
    this.#reserve(4 + value.length * 3);
    const written = this.#buffer.utf8Write(value, this.#length + 4);
    this.#buffer.writeInt32BE(written, this.#length);
    this.#length += 4 + written;
  }

  vector<T>(items: readonly T[], write: (item: T) => void): void {
    this.int(items.length);
    for (const item of items) write(item);
  }

  /** Returns the bytes collected since the last call, and empties the writer. */
  take(): Buffer {
    // A copy: the socket may keep the bytes while the writer fills its buffer again.
    const taken = Buffer.allocUnsafe(this.#length);
    this.#buffer.copy(taken, 0, 0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > KEEP_BELOW) this.#buffer = Buffer.allocUnsafe(INITIAL_SIZE);
    return taken;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

export class JuteReader {
  #buffer: Buffer;
  #position: number;
  #end: number;

  constructor(buffer: Buffer = Buffer.alloc(0), start = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#position = start;
    this.#end = end;
  }

  /** Points the reader at another frame. */
  reset(buffer: Buffer, start: number, end: number): void {
    this.#buffer = buffer;
    this.#position = start;
    this.#end = end;
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  /** Returns a second reader at the same position, to look ahead. */
  fork(): JuteReader {
    return new JuteReader(this.#buffer, this.#position, this.#end);
  }

  int(): number {
    return this.#buffer.readInt32BE(this.#advance(4));
  }

  long(): bigint {
    return this.#buffer.readBigInt64BE(this.#advance(8));
  }

  /** Writes a 64-bit value that a double can hold: times, never ids. */
  time(): number {
    const at = this.#advance(8);
    return this.#buffer.readInt32BE(at) * 0x1_0000_0000 + this.#buffer.readUInt32BE(at + 4);
  }

  boolean(): boolean {
    return this.#buffer[this.#advance(1)] !== 0;
  }

  buffer(): Buffer | null {
    const length = this.int();
    if (length === NULL_LENGTH) return null;
    const start = this.#advance(length);
    const isShort =
      length < COPY_BELOW || length < this.#buffer.buffer.byteLength * COPY_BELOW_SHARE;
    if (!isShort) return this.#buffer.subarray(start, start + length);
    const copy = Buffer.allocUnsafe(length);
    this.#buffer.copy(copy, 0, start, start + length);
    return copy;
  }

  string(): string | null {
    const length = this.int();
    if (length === NULL_LENGTH) return null;
    const start = this.#advance(length);
    return this.#buffer.utf8Slice(start, start + length);
  }

  /** A string that the protocol never sends as null. */
  text(): string {
    const value = this.string();
    if (value === null) throw new MalformedFrameError("a string is missing");
    return value;
  }

  vector<T>(read: () => T): T[] {
    const count = this.int();
    if (count === NULL_LENGTH) return [];
    // Every item has at least four bytes. A count that cannot fit into the frame is wrong and must
    // not size an array.
    if (count < 0 || count > this.remaining / 4)
      throw new MalformedFrameError(`a vector of ${count} in ${this.remaining} bytes`);
    const items = new Array<T>(count);
    for (let i = 0; i < count; i++) items[i] = read();
    return items;
  }

  #advance(bytes: number): number {
    const start = this.#position;
    const next = start + bytes;
    if (bytes < 0 || next > this.#end) {
      throw new MalformedFrameError(`${bytes} bytes wanted, ${this.#end - start} left`);
    }
    this.#position = next;
    return start;
  }
}
