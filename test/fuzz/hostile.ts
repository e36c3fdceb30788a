/**
 * What a neighbour or a hostile server may send: names, data, records, ACLs, stats and numbers,
 * from one seed.
 */
import { ErrorCode } from "../../src/wire/protocol.ts";
import type { AclRecord, StatRecord } from "../../src/wire/records.ts";
import { Random } from "../support/random.ts";

/**
 * Begins a line of its own wherever a line end in a name, a record or an id is written as it is.
 */
export const FORGED = "FORGED";
/** A control sequence that no terminal library writes. */
export const TRACE = "\u001b[31337m";

const SEQUENCES = [
  "\u001b]52;c;cm0gLXJmIH4=\u0007",
  TRACE,
  "\u001bP1$r\u001b\\",
  "\u009b2J",
  "\u001b]0;x\u001b\\",
];
const INVISIBLE = [
  ..."\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2066",
  ..."\u2069\u206f\u3164\ufe0f\ufeff\uffa0\ufff9\u{1d173}\u{e0001}\u{e0041}\u{e0100}",
];
const VISIBLE = [
  "a",
  "deploy",
  "é",
  "漢字",
  "e\u0301",
  "\u0338",
  "\u0301".repeat(30),
  "\u00a0",
  "\u2800",
  "👩‍💻",
  "1️⃣",
  "🏳️‍🌈",
  " ",
  "'",
  '"',
  "\\",
  "$&",
  "%s",
  "`id`",
  "~",
];
const WORDS = [
  "__proto__",
  "constructor",
  "toString",
  "null",
  "undefined",
  "[object Object]",
  "..",
  ".",
  "-0",
  "{}",
];

const TIMES = [
  "2026-11-18T12:00:00Z",
  "9999999-01-01",
  "+275760-09-13T00:00:00.000Z",
  "-271821-04-20",
  "-1",
  "now",
];
/** Kinds that shall be more likely are repeated. */
const PIECES =
  "visible visible visible visible visible control control line sequence invisible invisible word any".split(
    " ",
  );
const VALUES = "text text text text time time number number null boolean list object odd".split(
  " ",
);

export class Hostile {
  /** Most texts are taken from these: 100,000 records are to take seconds. */
  static readonly #texts = Array.from({ length: 2_000 }, (_, seed) =>
    new Hostile(new Random(seed)).#newText(),
  );

  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random.index(items.length)] as T;
  }

  /**
   * A text for one line, such as a name: all that must not be written as it is, among ordinary
   * characters.
   */
  text(): string {
    return this.random.chance(0.8) ? this.pick(Hostile.#texts) : this.#newText();
  }

  #newText(): string {
    const length = this.random.chance(0.01) ? this.random.index(1_000) : this.random.index(6);
    let text = "";
    for (let i = 0; i <= length; i++) text += this.#piece();
    return text;
  }

  #piece(): string {
    const kind = this.pick(PIECES);
    if (kind === "visible") return this.pick(VISIBLE);
    if (kind === "control")
      return String.fromCharCode(this.pick([this.random.index(32), 127 + this.random.index(33)]));
    if (kind === "line") return `${this.pick(["\n", "\r\n", "\r", "\u0085", "\u2028"])}${FORGED}`;
    if (kind === "sequence") return this.pick(SEQUENCES);
    if (kind === "invisible") return this.pick(INVISIBLE);
    if (kind === "word") return this.pick(WORDS);
    return String.fromCodePoint(this.random.index(0x11_0000));
  }

  /** The bytes of a text, some of which are no UTF-8. */
  bytes(): Buffer {
    const bytes = Buffer.from(this.text());
    if (this.random.chance(0.1) && bytes.length > 0)
      bytes[this.random.index(bytes.length)] = this.random.index(256);
    return this.random.chance(0.05)
      ? Buffer.concat([bytes, Buffer.from("eda080c328", "hex")])
      : bytes;
  }

  /** A child's name; many of them are tickets of one library or another. */
  name(): Buffer {
    if (this.random.chance(0.01))
      return Buffer.from(this.text() + "x".repeat(this.random.index(300_000)));
    return this.random.chance(0.5) ? this.bytes() : Buffer.from(this.ticket());
  }

  ticket(): string {
    const number = String(this.random.index(20)).padStart(10, "0");
    const uuid = this.pick(["00000000-0000-0000-0000-000000000000", "0".repeat(32), this.text()]);
    const kinds = [
      "lock-",
      "__READ__",
      "__WRIT__",
      "lease-",
      "latch-",
      "__lock__",
      "x-72057594037927936-",
      this.text(),
    ];
    return this.pick([
      `_c_${uuid}-${this.pick(kinds)}${number}`,
      `${uuid}${this.pick(kinds)}${number}`,
      "leases",
      "locks",
    ]);
  }

  /** Data of a znode, from nothing to a megabyte. */
  data(): Buffer | null {
    const kind = this.random.weighted({
      none: 1,
      record: 6,
      text: 3,
      lines: 2,
      binary: 1,
      nested: 1,
      quota: 2,
      large: 0.3,
    });
    if (kind === "none") return null;
    if (kind === "record") return this.record();
    if (kind === "text")
      return this.random.chance(0.1) ? this.#binary(50) : Buffer.from(this.#lines());
    if (kind === "lines")
      return Buffer.from(`server.1=${this.#lines()}\nversion=${this.#lines()}\n`);
    if (kind === "binary") return this.#binary(this.random.index(2_000));
    if (kind === "nested") return this.#nested();
    if (kind === "quota")
      return Buffer.from(
        `count=${this.#number()},bytes=${this.#number()}=;byteHardLimit=${this.#lines()}`,
      );
    return this.pick([
      () => this.#binary(700_000),
      () => Buffer.from(`${this.#lines()}${"y".repeat(900_000)}`),
      () => Buffer.from("\n".repeat(500_000)),
      () => Buffer.from("\u001b".repeat(500_000)),
      () => Buffer.from(JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i))),
    ])();
  }

  /** Data may have lines. */
  #lines(): string {
    return this.text().replaceAll(FORGED, "line");
  }

  #binary(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.random.index(256)));
  }

  #nested(): Buffer {
    const depth = this.random.chance(0.2)
      ? 9_000 + this.random.index(100_000)
      : this.random.index(200);
    const [open, close] = this.pick([
      ["[", "]"],
      ['{"a":', "}"],
      ['[{"\\u001b":', "}]"],
    ] as const);
    const half = Math.floor(depth / 2);
    return Buffer.from(`${open.repeat(half)}1${this.random.chance(0.8) ? close.repeat(half) : ""}`);
  }

  /** A holder record: as zksh writes it, with fields of any shape, or with its bytes changed. */
  record(): Buffer {
    const record: Record<string, unknown> = {
      v: 1,
      tool: "zksh",
      who: "ann@web3",
      host: "web3",
      pid: 4711,
    };
    const keys = [
      ..."v tool who host pid cmd why mode session id queued acquired revoke within by".split(" "),
      this.text(),
    ];
    for (let changes = this.random.index(5); changes > 0; changes--) {
      const key = this.pick(keys);
      record[key] = this.random.chance(0.7) ? this.#fitting(key) : this.value(3);
    }
    const bytes = Buffer.from(this.#json(record));
    return this.random.chance(0.2) ? mutated(bytes, this.random) : bytes;
  }

  /** With keys that JSON.stringify cannot write, such as a `__proto__` of its own. */
  #json(record: Record<string, unknown>): string {
    const text = JSON.stringify(record);
    if (this.random.chance(0.05))
      return text.replace("{", `{"__proto__":${JSON.stringify(this.value(2) ?? null)},`);
    if (this.random.chance(0.02))
      return text.replace("{", `{"revoke":${'{"by":'.repeat(4_000)}1${"}".repeat(4_000)},`);
    return this.random.chance(0.02)
      ? text.replace(/}$/, `,"why":"${"y".repeat(this.random.index(20_000))}"}`)
      : text;
  }

  /** Of the type that the field has, as far as it has one. */
  #fitting(key: string): unknown {
    if (key === "v" || key === "pid") return this.pick([1, this.#number()]);
    if (key === "revoke") return { by: this.text(), at: this.pick(TIMES), reason: this.text() };
    if (key === "within")
      return Array.from({ length: this.random.index(70) }, () => String(this.random.index(1e9)));
    return key === "queued" || key === "acquired" ? this.pick(TIMES) : this.text();
  }

  value(depth: number): unknown {
    const kind = this.pick(
      depth > 0 ? VALUES : VALUES.filter((one) => one !== "list" && one !== "object"),
    );
    if (kind === "text") return this.text();
    if (kind === "time") return this.pick(TIMES);
    if (kind === "number") return this.#number();
    if (kind === "boolean") return this.random.chance(0.5);
    if (kind === "list")
      return Array.from({ length: this.random.index(6) }, () => this.value(depth - 2));
    if (kind === "object")
      return { [this.text()]: this.value(depth - 1), by: this.value(depth - 1), at: this.text() };
    return kind === "odd"
      ? this.pick<object>([{ toString: null }, { toJSON: 1 }, { length: 1e9 }, [[]]])
      : null;
  }

  #number(): number {
    return this.pick([
      0,
      -1,
      1,
      4711,
      0.5,
      -0.5,
      2 ** 31,
      2 ** 32,
      2 ** 53,
      1e21,
      -1e21,
      1e308,
      this.random.index(1e9),
    ]);
  }

  int(): number {
    return this.pick([0, 1, -1, 7, 31, 0x7fff_ffff, -0x8000_0000, this.random.index(2 ** 32) | 0]);
  }

  long(): bigint {
    const all = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), BigInt(Date.now()), 0x1_0000_0005n];
    return this.random.chance(0.2) ? BigInt(this.int()) * 2n ** 31n : this.pick(all);
  }

  /** A time in any of 64 bits. */
  time(): number {
    return this.pick([Date.now(), 0, -1, 8.64e15, 8.64e15 + 1, -8.64e15 - 1, 2 ** 62, -(2 ** 62)]);
  }

  stat(): StatRecord {
    const isPlain = this.random.chance(0.5);
    const number = () => (isPlain ? this.random.index(10) : this.int());
    const long = () => (isPlain ? BigInt(this.random.index(1_000)) : this.long());
    const time = () => (isPlain ? Date.now() - this.random.index(1e9) : this.time());
    return {
      czxid: long(),
      mzxid: long(),
      ctime: time(),
      mtime: time(),
      version: number(),
      cversion: number(),
      aversion: number(),
      ephemeralOwner: this.random.chance(0.5) ? 0n : long(),
      dataLength: number(),
      numChildren: number(),
      pzxid: long(),
    };
  }

  acl(): AclRecord[] {
    const schemes = ["world", "digest", "ip", "x509", "auth", ""];
    return Array.from({ length: this.random.index(4) }, () => ({
      perms: this.random.chance(0.5) ? 31 : this.int(),
      scheme: this.random.chance(0.7) ? this.pick(schemes) : this.text(),
      id: this.random.chance(0.3) ? "anyone" : this.text(),
    }));
  }

  /** An error number: of ZooKeeper's table, or any other. */
  errorCode(): number {
    const code = this.random.chance(0.8) ? this.pick(Object.values(ErrorCode)) : this.int();
    return code === 0 ? -1 : code;
  }
}

/** One or more things that go wrong: bits, bytes, lengths, ends. */
export function mutated(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return bytes;
  const changed = Buffer.from(bytes);
  for (let count = 1 + random.index(4); count > 0; count--) {
    const at = random.index(changed.length);
    const way = random.weighted({ bit: 4, byte: 3, number: 2 });
    if (way === "bit") changed[at] = (changed[at] ?? 0) ^ (1 << random.index(8));
    else if (way === "byte") changed[at] = random.index(256);
    else if (at + 4 <= changed.length) {
      const numbers = [-1, 0, 1, 0x7fff_ffff, -0x8000_0000, 0xffff, 1_048_576];
      changed.writeInt32BE(numbers[random.index(numbers.length)] ?? 0, at);
    }
  }
  return random.chance(0.2) ? changed.subarray(0, random.index(changed.length)) : changed;
}
