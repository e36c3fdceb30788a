/** Reads ASN.1 in BER, of which DER is a part: what PKCS #12 files are made of (X.690). */

export const TAG = {
  integer: 0x02,
  octets: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
  /** Context-specific, constructed, with the number 0. */
  context0: 0xa0,
} as const;

const CONSTRUCTED = 0x20;
/** The form with an end mark instead of a length. */
const INDEFINITE = 0x80;
/** No file nests deeper; a hostile one must not exhaust the stack. */
const MAX_DEPTH = 32;

/** The bytes are not what they should be. */
export class MalformedBerError extends Error {}

/** One value: its tag, the bytes behind tag and length, and all of its bytes. */
export class Ber {
  readonly tag: number;
  readonly body: Buffer;
  readonly whole: Buffer;
  readonly #depth: number;

  constructor(tag: number, body: Buffer, whole: Buffer, depth: number) {
    this.tag = tag;
    this.body = body;
    this.whole = whole;
    this.#depth = depth;
  }

  /** The first value in `bytes`; what is behind it does not count. */
  static read(bytes: Buffer): Ber {
    return readAt(bytes, 0, 0).value;
  }

  get children(): Ber[] {
    if ((this.tag & CONSTRUCTED) === 0) throw new MalformedBerError("a value without parts");
    const children: Ber[] = [];
    for (let offset = 0; offset < this.body.length; ) {
      const { value, end } = readAt(this.body, offset, this.#depth + 1);
      children.push(value);
      offset = end;
    }
    return children;
  }

  /** The only child, as an explicit tag has it. */
  get inner(): Ber {
    const [inner] = this.children;
    if (inner === undefined) throw new MalformedBerError("an empty value");
    return inner;
  }

  /** The parts of a sequence or set. */
  parts(tag: number = TAG.sequence): Ber[] {
    return this.expect(tag).children;
  }

  expect(tag: number): this {
    if (this.tag === tag) return this;
    throw new MalformedBerError(`tag ${this.tag} where ${tag} should be`);
  }

  /** `1.2.840.113549.1.7.1` */
  get oid(): string {
    const arcs: number[] = [];
    let arc = 0;
    for (const byte of this.expect(TAG.oid).body) {
      arc = arc * 128 + (byte & 0x7f);
      if (byte & 0x80) continue;
      if (arcs.length === 0) arcs.push(Math.min(Math.trunc(arc / 40), 2));
      arcs.push(arcs.length === 1 ? arc - 40 * (arcs[0] ?? 0) : arc);
      arc = 0;
    }
    return arcs.join(".");
  }

  /** A small number, not below 0. */
  get number(): number {
    const { body } = this.expect(TAG.integer);
    if (body.length === 0 || body.length > 5 || (body[0] ?? 0) > 0x7f)
      throw new MalformedBerError("a number out of range");
    return body.readUIntBE(0, body.length);
  }

  /** Octets, which may be in pieces, under the tag of their own or under an implicit one. */
  get octets(): Buffer {
    if ((this.tag & CONSTRUCTED) === 0) return this.body;
    return Buffer.concat(this.children.map((piece) => piece.octets));
  }
}

function readAt(bytes: Buffer, offset: number, depth: number): { value: Ber; end: number } {
  if (depth > MAX_DEPTH) throw new MalformedBerError("nested too deeply");
  const tag = byteAt(bytes, offset);
  const first = byteAt(bytes, offset + 1);
  if ((tag & 0x1f) === 0x1f) throw new MalformedBerError("a tag of several bytes");
  if (first === INDEFINITE) return readIndefinite(bytes, offset, depth);
  const lengthBytes = first < INDEFINITE ? 0 : first - INDEFINITE;
  if (lengthBytes > 4) throw new MalformedBerError("a length of more than 4 bytes");
  const start = offset + 2 + lengthBytes;
  if (start > bytes.length) throw new MalformedBerError("the end is missing");
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes);
  const end = start + length;
  if (end > bytes.length) throw new MalformedBerError("the end is missing");
  const value = new Ber(tag, bytes.subarray(start, end), bytes.subarray(offset, end), depth);
  return { value, end };
}

function readIndefinite(bytes: Buffer, offset: number, depth: number): { value: Ber; end: number } {
  const tag = byteAt(bytes, offset);
  if ((tag & CONSTRUCTED) === 0) throw new MalformedBerError("a value without a length");
  const start = offset + 2;
  let end = start;
  while (byteAt(bytes, end) !== 0 || byteAt(bytes, end + 1) !== 0)
    end = readAt(bytes, end, depth + 1).end;
  const whole = bytes.subarray(offset, end + 2);
  return { value: new Ber(tag, bytes.subarray(start, end), whole, depth), end: end + 2 };
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw new MalformedBerError("the end is missing");
  return byte;
}
