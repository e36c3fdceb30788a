/**
 * A server that answers every request with what its seed says: hostile contents, wrong numbers, and
 * now and then garbage.
 */
import { JuteReader, JuteWriter } from "../../src/wire/jute.ts";
import { Opcode } from "../../src/wire/protocol.ts";
import {
  readMultiHeader,
  type StatRecord,
  writeAcl,
  writeMultiHeader,
  writeStat,
} from "../../src/wire/records.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  startFakeServer,
} from "../support/fake-server.ts";
import { Random } from "../support/random.ts";
import { Hostile, mutated } from "./hostile.ts";

/** Levels below the root that have children: a tree without an end could be walked for ever. */
const MAX_DEPTH = 4;
/** Per item. Later requests are answered with NoNode. */
const MAX_REQUESTS = 3_000;

const MNTR = [
  "version",
  "server_state",
  "packets_received",
  "packets_sent",
  "watch_count",
  "znode_count",
  "cnt_readlatency",
  "sum_readlatency",
];

interface Mood {
  /** How likely an answer is an error, and how likely it is garbage. */
  readonly error: number;
  readonly garbage: number;
  readonly event: number;
}

const MOODS: readonly Mood[] = [
  { error: 0, garbage: 0, event: 0.1 },
  { error: 0, garbage: 0, event: 0.1 },
  { error: 0.1, garbage: 0, event: 0.3 },
  { error: 0.1, garbage: 0.1, event: 0.1 },
];

export class HostileServer {
  readonly fake: FakeServer;
  #hostile = new Hostile(new Random(0));
  #mood: Mood = { error: 0, garbage: 0, event: 0 };
  #requests = 0;
  /** Tickets that were created in this item: their makers expect them in later listings. */
  readonly #created = new Set<string>();
  readonly #watched = new Set<string>();
  /** Data that was sent, for tests that compare it with the output. */
  readonly sent: Buffer[] = [];

  static async start(): Promise<HostileServer> {
    return new HostileServer(await startFakeServer());
  }

  private constructor(fake: FakeServer) {
    this.fake = fake;
    fake.options.onRequest = (request, reply) => this.#answer(request, reply);
  }

  /** Begins an item: from here on the seed and the requests determine every answer. */
  reseed(seed: number): void {
    const random = new Random(seed);
    this.#hostile = new Hostile(random);
    this.#mood = this.#hostile.pick(MOODS);
    this.#requests = 0;
    this.#created.clear();
    this.#watched.clear();
    this.sent.length = 0;
    for (const connection of this.fake.connections.splice(0)) connection.close();
    this.fake.zxid = this.#hostile.pick([1n, 0x1_0000_0000n, 2n ** 62n, 0n, -5n]);
    this.fake.options.srvr = this.#srvr();
    this.fake.options.word = (word) => this.#wordAnswer(word);
    this.fake.options.handshake = random.chance(0.05) ? () => this.#handshake() : "normal";
  }

  #wordAnswer(word: string): string | undefined {
    const { random } = this.#hostile;
    const text = () => this.#line();
    const id = () => this.#hostile.pick(["0x1", "0xffffffffffffffff", "0x100000634cc0000", text()]);
    if (random.chance(0.1)) return undefined;
    if (random.chance(0.1)) return `${word} is not executed because it is not in the whitelist.\n`;
    if (random.chance(0.2)) return text();
    if (word === "mntr") {
      const number = () => this.#hostile.pick(["0", "-1", "1e9", "9".repeat(18), text()]);
      return MNTR.map((name) => `zk_${name}\t${number()}\n`).join("");
    }
    if (word === "cons")
      return ` /${text()}[1](queued=${text()},recved=1,sid=${id()},to=${text()})\n /1.2.3.4:5[1](sid=${id()})\n`;
    const sessions = `SessionTracker dump:\nSession Sets (1)/(1):\n\t${id()}\n${id()}\t30000ms\n`;
    const owners = `${id()}:\n\t/${text()}\n\t/${text()}\n${id()}:\n\t/lock/lock-0000000001\n`;
    return `${sessions}ephemeral nodes dump:\nSessions with Ephemerals (2):\n${owners}Connections dump:\n\tip: /${text()} sessionId: ${id()}\n`;
  }

  /** The lines of an answer are the server's own: `word` shows them as they are. */
  #line(): string {
    return this.#hostile.text().replaceAll("\n", "\u0085");
  }

  #srvr(): string {
    const { random } = this.#hostile;
    if (random.chance(0.2)) return this.#line();
    return `Zookeeper version: 3.${4 + random.index(6)}.1-${this.#line()}\nMode: ${this.#line()}\n`;
  }

  #handshake(): Buffer {
    const body = written((writer) => {
      writer.int(this.#hostile.int());
      writer.int(this.#hostile.pick([4_000, 0, -1, 1, 0x7fff_ffff]));
      writer.long(this.#hostile.long());
      writer.buffer(this.#hostile.bytes());
      writer.boolean(this.#hostile.random.chance(0.3));
    });
    return this.#hostile.random.chance(0.3) ? mutated(body, this.#hostile.random) : body;
  }

  #answer(request: FakeRequest, reply: FakeReply): unknown {
    const { random } = this.#hostile;
    const isOver = ++this.#requests > MAX_REQUESTS;
    if (request.opcode === Opcode.closeSession) return false;
    if (request.opcode === Opcode.setWatches || request.opcode === Opcode.setWatches2) return false;
    if (isOver) return reply.error(-101);
    this.#note(request);
    if (random.chance(this.#mood.error)) return reply.error(this.#hostile.errorCode());
    const body = this.#body(request);
    if (random.chance(this.#mood.garbage)) reply.ok(mutated(body, random));
    else reply.ok(body);
    if (random.chance(this.#mood.event)) this.#event(reply);
    return undefined;
  }

  #note({ opcode, body }: FakeRequest): void {
    const reads: readonly number[] = [
      Opcode.exists,
      Opcode.getData,
      Opcode.getChildren,
      Opcode.getChildren2,
    ];
    const isWatch = reads.includes(opcode) && body.at(-1) === 1;
    if (isWatch || opcode === Opcode.addWatch) this.#watched.add(new JuteReader(body).text());
  }

  #event(reply: FakeReply): void {
    const { random } = this.#hostile;
    const path = random.chance(0.8)
      ? this.#hostile.pick([...this.#watched, "/"])
      : `/${this.#hostile.text()}`;
    const below = random.chance(0.3) ? `/${this.#hostile.text()}` : "";
    const type = random.chance(0.8) ? 1 + random.index(4) : this.#hostile.int();
    reply.event(type, random.chance(0.8) ? 3 : this.#hostile.int(), path + below);
  }

  #body({ opcode, body }: FakeRequest): Buffer {
    const reader = new JuteReader(body);
    return written((writer) => {
      if (opcode === Opcode.multi) return this.#multi(reader, writer);
      if (opcode === Opcode.multiRead) return this.#multiRead(reader, writer);
      this.#result(opcode, reader, writer);
    });
  }

  #result(opcode: number, reader: JuteReader, writer: JuteWriter): void {
    const stat = () => writeStat(writer, this.#stat());
    const texts = (count: number) =>
      writer.vector(Array(count).fill(""), () => writer.buffer(this.#hostile.bytes()));
    switch (opcode) {
      case Opcode.create:
        return this.#create(reader, writer);
      case Opcode.create2:
      case Opcode.createContainer:
      case Opcode.createTtl:
        this.#create(reader, writer);
        return stat();
      case Opcode.exists:
      case Opcode.setData:
      case Opcode.setAcl:
        return stat();
      case Opcode.getData:
      case Opcode.reconfig:
        writer.buffer(this.#data());
        return stat();
      case Opcode.getAcl:
        writer.vector(this.#hostile.acl(), (entry) => writeAcl(writer, entry));
        return stat();
      case Opcode.getChildren:
        return this.#children(reader.text(), writer);
      case Opcode.getChildren2:
        this.#children(reader.text(), writer);
        return stat();
      case Opcode.sync:
        return writer.buffer(this.#hostile.bytes());
      case Opcode.getEphemerals:
        return texts(this.#hostile.random.index(5));
      case Opcode.getAllChildrenNumber:
        return writer.int(this.#hostile.int());
      case Opcode.whoAmI:
        return writer.vector(Array(this.#hostile.random.index(4)).fill(0), () => {
          writer.buffer(this.#hostile.bytes());
          writer.buffer(this.#hostile.bytes());
        });
      default:
        return undefined;
    }
  }

  #stat(): StatRecord {
    return this.#hostile.stat();
  }

  #data(): Buffer | null {
    const data = this.#hostile.data();
    if (data) this.sent.push(data);
    return data;
  }

  /** Mostly the name that a real server gives; else any. */
  #create(reader: JuteReader, writer: JuteWriter): void {
    const asked = reader.text();
    reader.buffer();
    reader.vector(() => [reader.int(), reader.string(), reader.string()]);
    const isSequential = (reader.int() & 2) !== 0;
    const path = isSequential
      ? `${asked}${String(this.#hostile.random.index(20)).padStart(10, "0")}`
      : asked;
    this.#created.add(path);
    writer.buffer(this.#hostile.random.chance(0.9) ? Buffer.from(path) : this.#hostile.bytes());
  }

  #children(path: string, writer: JuteWriter): void {
    const { random } = this.#hostile;
    const depth = path === "/" ? 0 : path.split("/").length - 1;
    const count = depth >= MAX_DEPTH ? 0 : random.chance(0.003) ? 130_000 : random.index(6);
    const own = [...this.#created].filter((created) => created.startsWith(`${path}/`));
    const known = random.chance(0.8) ? own.map((created) => created.slice(path.length + 1)) : [];
    const names = Array.from({ length: count }, (_, index) =>
      index < 100 ? this.#hostile.name() : Buffer.from(`n${index}`),
    );
    writer.vector([...known.map((name) => Buffer.from(name)), ...names], (name) =>
      writer.buffer(name),
    );
  }

  #multi(reader: JuteReader, writer: JuteWriter): void {
    const fails = this.#hostile.random.chance(this.#mood.error);
    for (let header = readMultiHeader(reader); !header.done; header = readMultiHeader(reader)) {
      const { type } = header;
      writeMultiHeader(writer, fails ? -1 : type, false, 0);
      const answer = fails ? new JuteWriter() : writer;
      if (type === Opcode.check) reader.text();
      if (type === Opcode.delete) reader.text();
      if (type === Opcode.setData) [reader.text(), reader.buffer()];
      if (type === Opcode.check || type === Opcode.delete || type === Opcode.setData) reader.int();
      else this.#create(reader, answer);
      if (type === Opcode.createTtl) reader.long();
      if (type !== Opcode.check && type !== Opcode.delete && type !== Opcode.create)
        writeStat(answer, this.#stat());
      if (fails) writer.int(this.#hostile.errorCode());
    }
    writeMultiHeader(writer, -1, true);
  }

  #multiRead(reader: JuteReader, writer: JuteWriter): void {
    for (let header = readMultiHeader(reader); !header.done; header = readMultiHeader(reader)) {
      const path = reader.text();
      reader.boolean();
      const fails = this.#hostile.random.chance(this.#mood.error);
      writeMultiHeader(writer, fails ? -1 : header.type, false, 0);
      if (fails) writer.int(this.#hostile.errorCode());
      else if (header.type === Opcode.getChildren) this.#children(path, writer);
      else {
        writer.buffer(this.#data());
        writeStat(writer, this.#stat());
      }
    }
    writeMultiHeader(writer, -1, true);
  }
}

function written(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  write(writer);
  return writer.take();
}
