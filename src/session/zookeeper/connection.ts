import { ErrorCode } from "../../wire/protocol.ts";
import type { Aborts } from "../aborts.ts";
import type { SessionOptions } from "../options.ts";
import type { SessionState } from "../session.ts";
import type { Chroot } from "./chroot.ts";
import type { Endpoint } from "./connecting/link.ts";
import type { ServerVersions } from "./connecting/server-version.ts";
import { type ConnectionParts, connectionParts } from "./connection-parts.ts";
import type { Liveness } from "./lifetime/liveness.ts";
import type { Loss } from "./lifetime/loss.ts";
import { SessionLife } from "./lifetime/session-life.ts";
import type { Callback, Request } from "./requests/request.ts";
import type { WatchRegistry } from "./watches/watch-registry.ts";

/** What the operations of a session need of it: somewhere to queue requests, and its state. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #life: SessionLife;

  /** Starts looking for a server at once. */
  constructor(options: SessionOptions) {
    this.#parts = connectionParts(options);
    this.#life = new SessionLife(this.#parts);
    this.#life.start();
  }

  get liveness(): Liveness {
    return this.#parts.liveness;
  }

  get aborts(): Aborts {
    return this.#parts.aborts;
  }

  get chroot(): Chroot {
    return this.#parts.chroot;
  }

  get versions(): ServerVersions {
    return this.#parts.versions;
  }

  get watches(): WatchRegistry {
    return this.#parts.watches;
  }

  get id(): bigint {
    return this.#life.id;
  }

  /** The lowest that any server has granted; before the first, the requested timeout. */
  get timeoutMs(): number {
    return this.#life.timeoutMs;
  }

  get lastZxid(): bigint {
    return this.#life.lastZxid;
  }

  get isReadOnly(): boolean {
    return this.#life.isReadOnly;
  }

  /** The server attached to. */
  get endpoint(): Endpoint | undefined {
    return this.#life.endpoint;
  }

  get isClosing(): boolean {
    return this.#life.isClosing;
  }

  get lost(): Loss | undefined {
    return this.#life.lost;
  }

  get state(): SessionState {
    return this.#life.state;
  }

  /** Listens to changes of the state; returns the function that stops listening. */
  onState(listener: () => void): () => void {
    return this.#life.onState(listener);
  }

  /** Settles when a server has accepted the session; rejects when the session ends first. */
  whenConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      let stop = () => {};
      const look = () => {
        if (this.state === "suspended") return;
        stop();
        if (this.lost === undefined) resolve();
        else reject(this.lost.error);
      };
      stop = this.onState(look);
      look();
    });
  }

  /** Sends a request in its turn; `callback` is called once, with the reply or a failure. */
  queue(request: Request, callback: Callback): void {
    this.#life.queue(request, callback);
  }

  /** Ends the session behind every request already made; `done` is called once, in any case. */
  close(done: () => void): void {
    this.#life.close(done);
  }

  /**
   * Proves an identity now and on every connection to come; returns the function that takes it back
   * if it is still unsent.
   */
  addCredential(
    scheme: string,
    credential: Buffer,
    settle: (failure: { code: number } | null) => void,
  ): () => void {
    if (this.lost !== undefined) {
      settle({ code: ErrorCode.sessionExpired });
      return () => {};
    }
    this.#parts.writer.schedule();
    return this.#parts.credentials.add(scheme, credential, settle);
  }

  /**
   * From now on the session's life is its lease, and heartbeats check these znodes of the server.
   * Returns the function that ends it.
   */
  keepLease(nodes: readonly string[], onMissing: () => void): () => void {
    const { leases, liveness } = this.#parts;
    const end = leases.keep(nodes, onMissing);
    liveness.isLeased = true;
    return () => {
      end();
      liveness.isLeased = !leases.isEmpty;
    };
  }

  /**
   * Sets the watches of one of the server's paths again: removing one kind may have taken the
   * others with it.
   */
  reregister(serverPath: string): void {
    if (this.endpoint === undefined) return;
    const { reregistration, writer } = this.#parts;
    writer.setWatches(reregistration.one(serverPath, this.lastZxid));
  }
}
