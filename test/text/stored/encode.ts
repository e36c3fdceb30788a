/** Bytes of the kinds that other systems store, encoded by hand. */

export function varint(value: bigint | number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

export function varintField(number: number, value: bigint | number): Buffer {
  return Buffer.concat([varint(number << 3), varint(value)]);
}

/** A length-delimited field: text, bytes or a message. */
export function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

export function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

export const PBUF = Buffer.from("PBUF");

/** What HBase puts before its data: 0xff, a length, the process, eight random bytes. */
export function hbaseMetadata(writer: string): Buffer {
  const id = Buffer.concat([Buffer.from(writer), Buffer.from("0123456789abcdef", "hex")]);
  const head = Buffer.alloc(5, 0xff);
  head.writeUInt32BE(id.length, 1);
  return Buffer.concat([head, id]);
}

/** As ObjectOutputStream writes a short string of ASCII. */
export function javaString(text: string): Buffer {
  const head = Buffer.from("aced00057400ff", "hex");
  head.writeUInt16BE(text.length, 5);
  return Buffer.concat([head, Buffer.from(text)]);
}
