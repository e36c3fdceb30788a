/** The bytes are not what they were read as, or are cut off. */
export class NotOfKindError extends Error {
  /** `gzip`, `JSON`, … as messages name it. */
  readonly kind: string;

  constructor(kind: string, why: string, options?: ErrorOptions) {
    super(why, options);
    this.name = "NotOfKindError";
    this.kind = kind;
  }
}

/** The first bytes in hexadecimal, for messages. */
export function beginning(bytes: Buffer): string {
  if (bytes.length === 0) return "there is no data";
  return `the data begins with ${bytes.toString("hex", 0, 4).replace(/(..)(?=.)/g, "$1 ")}`;
}
