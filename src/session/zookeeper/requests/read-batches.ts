import type { JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import { writeMultiHeader } from "../../../wire/records.ts";
import type { Endpoint } from "../connecting/link.ts";
import { keyOf, knows, type ServerVersions } from "../connecting/server-version.ts";
import type { Request } from "./request.ts";
import type { Ring } from "./ring.ts";

/**
 * So many reads leave together at most; fewer behind each other leave one by one, and an ordinary
 * turn is none of our business. Nobody knows how long the answers are, and the server makes one
 * buffer of them.
 */
const BATCH = 16;
/**
 * So many batches are under way at most, and nothing behind them: should their answers turn out to
 * be long, only these have to fit into the server, and a turn that reads answers comes to an end
 * though their readers ask on.
 */
const UNDER_WAY = 4;
/**
 * The same where a round trip takes longer: one for each of its milliseconds, or the way there and
 * back would be mostly idle.
 */
const UNDER_WAY_FAR = 32;
/**
 * Requests and replies should stay near this length; servers refuse requests beyond jute.maxbuffer,
 * usually 1 MB.
 */
const BATCH_BYTES = 256 * 1024;
/** The server does not know a multiRead, or cannot read it. */
const REFUSALS: ReadonlySet<number> = new Set([
  ErrorCode.unimplemented,
  ErrorCode.marshallingError,
  ErrorCode.badArguments,
]);
/** How many answers are remembered, more or less. */
const MEMORY = 16;

/**
 * `unknown` until a crowd of reads makes it worth asking for the server's release, `asked` until it has said. While it is
 * `untried` a batch is a trial, and nothing is sent behind it: if the server refuses it or hangs up, its reads leave again one
 * by one, and nothing has overtaken them.
 */
type Standing = "unknown" | "asked" | "untried" | "proved" | "refused";

interface Server {
  readonly endpoint: Endpoint;
  standing: Standing;
}

/**
 * Plain reads that stand behind each other in the queue leave as one multiRead, which a server
 * answers many times as fast. Here is decided how many; each read remains a request of its own,
 * which only shares its number with the others.
 */
export class ReadBatches {
  readonly #versions: ServerVersions;
  readonly #servers = new Map<string, Server>();
  #server: Server | undefined;
  #bytesPerRead = 0;
  #underWay = 0;
  #mostUnderWay = UNDER_WAY;

  constructor(versions: ServerVersions) {
    this.#versions = versions;
  }

  attach(endpoint: Endpoint): void {
    const key = keyOf(endpoint);
    this.#server = this.#servers.get(key) ?? { endpoint, standing: "unknown" };
    // Another server may answer at the same address now.
    if (this.#server.standing === "proved") this.#server.standing = "untried";
    this.#servers.set(key, this.#server);
  }

  /** Nothing may leave before a batch is back. */
  get isFull(): boolean {
    return this.#underWay >= (this.#server?.standing === "untried" ? 1 : this.#mostUnderWay);
  }

  get isHalfBack(): boolean {
    return this.#underWay <= this.#mostUnderWay / 2;
  }

  /**
   * How many requests at the head of the queue leave together, when `room` more may be on their
   * way.
   */
  ahead(queue: Ring<Request>, room: number): number {
    const standing = this.#server?.standing;
    if (standing === undefined || standing === "asked" || standing === "refused") return 1;
    if (!isCrowd(queue)) return 1;
    if (standing === "unknown") {
      this.#ask();
      return 1;
    }
    return Math.min(Math.floor(BATCH_BYTES / this.#bytesPerRead), BATCH, room);
  }

  sent(): void {
    this.#underWay++;
  }

  /** A batch has come back, with answers or without. */
  returned(): void {
    this.#underWay--;
  }

  answered(tookMs: number): void {
    if (this.#server?.standing === "untried") this.#become("proved");
    this.#mostUnderWay = Math.min(Math.max(UNDER_WAY, Math.ceil(tookMs)), UNDER_WAY_FAR);
  }

  /** The server has no use for a batch: it will get none any more. */
  refused(): void {
    this.#become("refused");
  }

  connectionLost(): void {
    if (this.#server?.standing === "untried" && this.#underWay > 0) this.#become("refused");
    this.#underWay = 0;
  }

  /** So many reads, alone or together, were answered with so many bytes. */
  learn(bytes: number, reads: number): void {
    this.#bytesPerRead += (bytes / reads - this.#bytesPerRead) * Math.min(1, reads / MEMORY);
  }

  #become(standing: Standing): void {
    if (this.#server !== undefined) this.#server.standing = standing;
  }

  /**
   * In passing: reads leave one by one until the answer is here. Who does not say what it is gets
   * no batches.
   */
  #ask(): void {
    const server = this.#server as Server;
    server.standing = "asked";
    void this.#versions.ask(server.endpoint).then((version) => {
      server.standing =
        version !== undefined && knows(version, "multiRead") ? "untried" : "refused";
    });
  }
}

/** A read that a connection has broken under goes alone, in case it was the batch that broke it. */
function isCrowd(queue: Ring<Request>): boolean {
  let bytes = 0;
  for (let i = 0; i < BATCH; i++) {
    const request = queue.at(i);
    if (!request?.isPlainRead || request.losses > 0) return false;
    bytes += 3 * request.path.length;
  }
  return bytes <= BATCH_BYTES;
}

/**
 * Whether this answer to a whole batch is about batches. Any other is about its reads, and alone
 * they would get the same.
 */
export function refusesBatches(code: number): boolean {
  return REFUSALS.has(code);
}

/** The body of a multiRead: what each read would have sent alone, with a header before it. */
export function writeBatch(writer: JuteWriter, reads: readonly Request[]): void {
  for (const read of reads) {
    writeMultiHeader(writer, read.type, false);
    read.encode(writer);
  }
  writeMultiHeader(writer, Opcode.error, true);
}
