import type { JuteWriter } from "../../../wire/jute.ts";
import { Opcode, Xid } from "../../../wire/protocol.ts";
import type { Credentials } from "../connecting/credentials.ts";
import type { Link } from "../connecting/link.ts";
import type { Liveness } from "../lifetime/liveness.ts";
import type { ConnectionState } from "../node-zookeeper-client-adapter.ts";
import type { SaslLogin } from "../sasl/sasl-login.ts";
import type { SetWatchesPiece } from "../watches/watch-registry.ts";
import type { Callback, Request } from "./request.ts";
import type { RequestQueue } from "./request-queue.ts";
import { Ring } from "./ring.ts";

/** The answer is not read, so any number will do. */
const LAST_XID = 1;

/**
 * What leaves on the connection of the moment, in the right order and in as few writes as possible.
 */
export class RequestWriter {
  readonly #requests: RequestQueue;
  readonly #state: ConnectionState;
  readonly #credentials: Credentials;
  readonly #liveness: Liveness;
  readonly #pings = new Ring<number>();
  #link: Link | undefined;
  #isWritable = false;
  #isScheduled = false;

  constructor(
    requests: RequestQueue,
    state: ConnectionState,
    credentials: Credentials,
    liveness: Liveness,
  ) {
    this.#requests = requests;
    this.#state = state;
    this.#credentials = credentials;
    this.#liveness = liveness;
  }

  get link(): Link | undefined {
    return this.#link;
  }

  /**
   * Starts on a new connection: the end of the login first, then credentials, then watches, and
   * only then what was queued, all with the {@link flush} that must follow.
   */
  attach(link: Link, watches: readonly SetWatchesPiece[], login: SaslLogin | undefined): void {
    this.#link = link;
    this.#isWritable = true;
    login?.load(this.#requests.writer);
    this.#credentials.load(this.#requests.writer, this.#liveness.now());
    this.#loadWatches(watches);
  }

  detach(): void {
    this.#link = undefined;
    this.#pings.drain();
  }

  /**
   * Sends a request in its turn, where the connection's state allows it; `callback` is called once,
   * with the reply or a failure.
   */
  add(request: Request, callback: Callback): void {
    this.#state.queue(request, callback);
    this.schedule();
  }

  /** Sends at the end of this turn, so that everything asked for in it leaves together. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Answers may have made room for requests that wait. */
  refill(): void {
    this.#requests.readOut();
    if (this.#requests.wantsRefill) this.schedule();
  }

  drained(): void {
    this.#isWritable = true;
    this.flush();
  }

  flush(): void {
    const link = this.#link;
    if (link === undefined || !this.#isWritable) return;
    const now = this.#liveness.now();
    this.#credentials.load(this.#requests.writer, now);
    do {
      this.#requests.load(now);
      this.#write(link);
    } while (this.#isWritable && this.#requests.canLoad);
  }

  /** Sends a request that only the leader can answer, past everything that waits in the queue. */
  beat(request: Request): void {
    if (this.#link === undefined) return;
    // On another connection its answer would prove nothing: it is never repeated.
    request.abandoned = true;
    this.#requests.loadFirst(request, this.#liveness.now());
    this.#write(this.#link);
  }

  /** The heartbeat on a read-only server, which has no leader to ask. */
  ping(): void {
    if (this.#link === undefined) return;
    const now = this.#liveness.now();
    this.#frame(Xid.ping, Opcode.ping, () => {});
    this.#pings.push(now);
    this.#write(this.#link);
  }

  pingAnswered(): void {
    const sentAt = this.#pings.shift();
    // There is no leader to hear of it; the read-only server's word is all there is.
    if (sentAt !== undefined)
      this.#liveness.answered(sentAt, { byLeader: true, isCommitted: false });
  }

  /** Sends closeSession on a connection about to be left, past everything that waits. */
  closeSession(): void {
    if (this.#link === undefined) return;
    this.#frame(LAST_XID, Opcode.closeSession, () => {});
    this.#write(this.#link);
  }

  setWatches(watches: readonly SetWatchesPiece[]): void {
    if (this.#link === undefined) return;
    this.#loadWatches(watches);
    this.#write(this.#link);
  }

  #loadWatches(watches: readonly SetWatchesPiece[]): void {
    for (const piece of watches) {
      this.#frame(
        Xid.setWatches,
        piece.needsSetWatches2 ? Opcode.setWatches2 : Opcode.setWatches,
        (writer) => piece.write(writer),
      );
    }
  }

  #frame(xid: number, opcode: number, body: (writer: JuteWriter) => void): void {
    const { writer } = this.#requests;
    const frame = writer.beginFrame();
    writer.int(xid);
    writer.int(opcode);
    body(writer);
    writer.endFrame(frame);
  }

  #write(link: Link): void {
    const { writer } = this.#requests;
    if (writer.length === 0) return;
    this.#isWritable = link.write(writer.take());
  }
}
