import type { JuteWriter } from "../../wire/jute.ts";
import { Opcode } from "../../wire/protocol.ts";
import { writeMultiHeader } from "../../wire/records.ts";
import type { Endpoint } from "./link.ts";
import type { Request } from "./request.ts";
import type { Ring } from "./ring.ts";
import { keyOf, knows, type ServerVersions } from "./server-version.ts";

/** Fewer reads than this behind each other leave one by one: an ordinary turn is none of our business. */
const CROWD = 16;
/** The first batch after a rest. Nobody knows how long its answers are, and the server makes one buffer of them. */
const FIRST_BATCH = 16;
const MAX_BATCH = 64;
/** Requests and replies should stay near this length; servers refuse requests beyond jute.maxbuffer, usually 1 MB. */
const BATCH_BYTES = 256 * 1024;
/** How many answers are remembered, more or less. */
const MEMORY = 16;

/**
 * `unknown` until a crowd of reads makes it worth asking for the server's release, `asked` until it has said. The first batch
 * is a `trial`, and nothing is sent behind it: if the server refuses it or hangs up, its reads leave again one by one, and
 * nothing has overtaken them.
 */
type Standing = "unknown" | "asked" | "untried" | "trial" | "proved" | "refused";

interface Server {
  readonly endpoint: Endpoint;
  standing: Standing;
}

/**
 * Plain reads that stand behind each other in the queue leave as one multiRead, which a server answers many times as fast.
 * Here is decided how many; each read remains a request of its own, which only shares its number with the others.
 */
export class ReadBatches {
  readonly #versions: ServerVersions;
  readonly #servers = new Map<string, Server>();
  #server: Server | undefined;
  #bytesPerRead = BATCH_BYTES / FIRST_BATCH;

  constructor(versions: ServerVersions) {
    this.#versions = versions;
  }

  attach(endpoint: Endpoint): void {
    const key = keyOf(endpoint);
    this.#server = this.#servers.get(key) ?? { endpoint, standing: "unknown" };
    this.#servers.set(key, this.#server);
  }

  /** Nothing may leave before the answer has come. */
  get isOnTrial(): boolean {
    return this.#server?.standing === "trial";
  }

  /** How many requests at the head of the queue leave together, when `room` more may be on their way. */
  ahead(queue: Ring<Request>, room: number): number {
    const standing = this.#server?.standing;
    if (standing === undefined || standing === "asked" || standing === "refused") return 1;
    const most = Math.min(Math.floor(BATCH_BYTES / this.#bytesPerRead), MAX_BATCH, room);
    const crowd = countReads(queue, Math.max(most, CROWD));
    if (crowd < CROWD) return 1;
    if (standing === "unknown") {
      this.#ask();
      return 1;
    }
    return Math.min(crowd, most);
  }

  sent(): void {
    if (this.#server?.standing === "untried") this.#server.standing = "trial";
  }

  answered(): void {
    if (this.isOnTrial) this.#become("proved");
  }

  /** The server has no use for a batch: it will get none any more. */
  refused(): void {
    this.#become("refused");
  }

  connectionLost(): void {
    if (this.isOnTrial) this.#become("refused");
  }

  /** So many reads, alone or together, were answered with so many bytes. */
  learn(bytes: number, reads: number): void {
    this.#bytesPerRead += (bytes / reads - this.#bytesPerRead) * Math.min(1, reads / MEMORY);
  }

  /** Nothing is on its way, and nothing waits: what was learned with short answers may not hold for the next ones. */
  rest(): void {
    this.#bytesPerRead = Math.max(this.#bytesPerRead, BATCH_BYTES / FIRST_BATCH);
  }

  #become(standing: Standing): void {
    if (this.#server !== undefined) this.#server.standing = standing;
  }

  /** In passing: reads leave one by one until the answer is here. Who does not say what it is gets no batches. */
  #ask(): void {
    const server = this.#server as Server;
    server.standing = "asked";
    void this.#versions.ask(server.endpoint).then((version) => {
      server.standing = version !== undefined && knows(version, "multiRead") ? "untried" : "refused";
    });
  }
}

/** A read that a connection has broken under goes alone, in case it was the batch that broke it. */
function countReads(queue: Ring<Request>, most: number): number {
  let bytes = 0;
  for (let count = 0; count < most; count++) {
    const request = queue.at(count);
    bytes += 3 * (request?.path.length ?? 0);
    if (!request?.isPlainRead || request.losses > 0 || bytes > BATCH_BYTES) return count;
  }
  return most;
}

/** The body of a multiRead: what each read would have sent alone, with a header before it. */
export function writeBatch(writer: JuteWriter, reads: readonly Request[]): void {
  for (const read of reads) {
    writeMultiHeader(writer, read.type, false);
    read.encode(writer);
  }
  writeMultiHeader(writer, Opcode.error, true);
}
