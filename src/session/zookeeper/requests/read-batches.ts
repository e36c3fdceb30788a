import type { JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import { writeMultiHeader } from "../../../wire/records.ts";
import type { Endpoint } from "../connecting/link.ts";
import { keyOf, type ServerReleases } from "../connecting/server-releases.ts";
import { knows } from "../connecting/server-version.ts";
import type { Request } from "./request.ts";
import type { Ring } from "./ring.ts";

/**
 * Fewer plain reads than this behind each other leave one by one, as in an ordinary turn. It is also
 * the size of the first batch, because the length of the answers is not known yet and the server
 * makes one buffer of them.
 */
const FEWEST = 16;
/** The most reads in a batch. From 16 to 64 saves 4 µs of CPU a read; more saves nothing. */
const MOST = 64;
/**
 * How many batches are under way at most, with nothing behind them. If their answers turn out to be
 * long, only these have to fit into the server's memory; and a turn that reads answers comes to an
 * end though their readers ask for more.
 */
const UNDER_WAY = 4;
/**
 * The same where a round trip takes longer: one batch for each of its milliseconds, or the line
 * would be mostly idle.
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
/** The average length of answers is taken over about this many. */
const MEMORY = 16;

/**
 * What is known of a server. `unknown` until a long run of reads makes it worth asking for the
 * server's version, `asked` until it has answered. While it is `untried`, one batch leaves as a
 * trial and nothing behind it: if the server refuses it or hangs up, its reads leave again one by
 * one, and nothing has overtaken them.
 */
type Support = "unknown" | "asked" | "untried" | "proved" | "refused";

interface Server {
  readonly endpoint: Endpoint;
  support: Support;
}

/**
 * Plain reads behind each other in the queue leave as one multiRead, which a server answers many
 * times as fast. This class decides how many; each read remains a request of its own, which only
 * shares its number with the others.
 */
export class ReadBatches {
  readonly #releases: ServerReleases;
  readonly #servers = new Map<string, Server>();
  #server: Server | undefined;
  #bytesPerRead = 0;
  #underWay = 0;
  #mostUnderWay = UNDER_WAY;

  constructor(releases: ServerReleases) {
    this.#releases = releases;
  }

  attach(endpoint: Endpoint): void {
    const key = keyOf(endpoint);
    this.#server = this.#servers.get(key) ?? { endpoint, support: "unknown" };
    // Another server may answer at the same address now.
    if (this.#server.support === "proved") this.#server.support = "untried";
    this.#servers.set(key, this.#server);
  }

  /** Nothing may leave before a batch is back. */
  get isFull(): boolean {
    return this.#underWay >= (this.#server?.support === "untried" ? 1 : this.#mostUnderWay);
  }

  get isHalfBack(): boolean {
    return this.#underWay <= this.#mostUnderWay / 2;
  }

  /**
   * How many requests at the head of the queue leave together, when `room` more may be on their
   * way.
   */
  ahead(queue: Ring<Request>, room: number): number {
    const support = this.#server?.support;
    if (support === undefined || support === "asked" || support === "refused") return 1;
    const run = plainReads(queue, support === "proved" ? MOST : FEWEST);
    if (run < FEWEST) return 1;
    if (support === "unknown") {
      this.#ask();
      return 1;
    }
    return Math.min(run, Math.floor(BATCH_BYTES / this.#bytesPerRead), room);
  }

  sent(): void {
    this.#underWay++;
  }

  /** A batch has come back, with answers or without. */
  returned(): void {
    this.#underWay--;
  }

  answered(tookMs: number): void {
    if (this.#server?.support === "untried") this.#become("proved");
    this.#mostUnderWay = Math.min(Math.max(UNDER_WAY, Math.ceil(tookMs)), UNDER_WAY_FAR);
  }

  /** The server cannot answer a batch: it gets no others. */
  refused(): void {
    this.#become("refused");
  }

  connectionLost(): void {
    if (this.#server?.support === "untried" && this.#underWay > 0) this.#become("refused");
    this.#underWay = 0;
  }

  /** So many reads, alone or together, were answered with so many bytes. */
  learn(bytes: number, reads: number): void {
    this.#bytesPerRead += (bytes / reads - this.#bytesPerRead) * Math.min(1, reads / MEMORY);
  }

  #become(support: Support): void {
    if (this.#server !== undefined) this.#server.support = support;
  }

  /**
   * Reads leave one by one until the server's version is known; a server that does not tell gets no
   * batches.
   */
  #ask(): void {
    const server = this.#server as Server;
    server.support = "asked";
    void this.#releases.ask(server.endpoint).then((version) => {
      server.support = version !== undefined && knows(version, "multiRead") ? "untried" : "refused";
    });
  }
}

/**
 * How many plain reads are at the head of the queue, up to `most`. A read that has lost a
 * connection goes alone: the batch may have been what broke it.
 */
function plainReads(queue: Ring<Request>, most: number): number {
  let bytes = 0;
  for (let count = 0; count < most; count++) {
    const request = queue.at(count);
    bytes += 3 * (request?.path.length ?? 0);
    if (!request?.isPlainRead || request.losses > 0 || bytes > BATCH_BYTES) return count;
  }
  return most;
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
