import { type JuteReader, MalformedFrameError } from "./jute.ts";

/** The length of a frame exceeds the reader's limit. Nothing of the frame has been buffered. */
export class OversizedFrameError extends MalformedFrameError {
  readonly length: number;
  readonly limit: number;

  constructor(length: number, limit: number) {
    super(`a frame of ${length} bytes`);
    this.length = length;
    this.limit = limit;
  }
}

/**
 * Splits a byte stream into length-prefixed frames in linear time: a frame within one chunk is read
 * in place; a frame that spans chunks is copied once, into a buffer of its exact size.
 */
export class FrameReader {
  readonly #backlog: Buffer[] = [];
  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;
  readonly #head = Buffer.alloc(4);
  #headFilled = 0;
  #body: Buffer | undefined;
  #bodyFilled = 0;

  /**
   * Longer frames are refused. If the peer does not speak ZooKeeper's protocol, its first bytes
   * read as a length are usually huge.
   */
  maxLength: number;

  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  push(chunk: Buffer): void {
    this.#backlog.push(chunk);
  }

  /**
   * Points `reader` at the next complete frame. Returns false if more bytes are needed. Throws
   * MalformedFrameError.
   */
  next(reader: JuteReader): boolean {
    while (this.#position < this.#chunk.length || this.#nextChunk()) {
      if (this.#body !== undefined) {
        if (this.#fillBody(reader)) return true;
      } else if (this.#headFilled === 0 && this.#chunk.length - this.#position >= 4) {
        const length = this.#checked(this.#chunk.readInt32BE(this.#position));
        const start = this.#position + 4;
        if (start + length <= this.#chunk.length) {
          this.#position = start + length;
          reader.reset(this.#chunk, start, start + length);
          return true;
        }
        this.#position = start;
        this.#startBody(length);
      } else {
        this.#head[this.#headFilled++] = this.#chunk[this.#position++] ?? 0;
        if (this.#headFilled === 4) {
          this.#headFilled = 0;
          const length = this.#checked(this.#head.readInt32BE(0));
          this.#startBody(length);
          if (length === 0) return this.#fillBody(reader);
        }
      }
    }
    return false;
  }

  #nextChunk(): boolean {
    const chunk = this.#backlog.shift();
    if (chunk === undefined) return false;
    this.#chunk = chunk;
    this.#position = 0;
    return chunk.length > 0 || this.#nextChunk();
  }

  #startBody(length: number): void {
    this.#body = Buffer.allocUnsafe(length);
    this.#bodyFilled = 0;
  }

  #fillBody(reader: JuteReader): boolean {
    const body = this.#body as Buffer;
    const taken = Math.min(body.length - this.#bodyFilled, this.#chunk.length - this.#position);
    this.#chunk.copy(body, this.#bodyFilled, this.#position, this.#position + taken);
    this.#bodyFilled += taken;
    this.#position += taken;
    if (this.#bodyFilled < body.length) return false;
    this.#body = undefined;
    reader.reset(body, 0, body.length);
    return true;
  }

  #checked(length: number): number {
    if (length < 0) throw new MalformedFrameError(`a frame of ${length} bytes`);
    if (length > this.maxLength) throw new OversizedFrameError(length, this.maxLength);
    return length;
  }
}
