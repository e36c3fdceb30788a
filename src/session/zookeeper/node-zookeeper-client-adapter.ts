/// <reference path="./node-zookeeper-client.d.ts" />
/**
 * The only file that imports node-zookeeper-client (docs/adr/0001 has the reasons). What runs of
 * the package is its ConnectionManager, reached by its file because the package's index hides it,
 * and of that
 *
 * - the constructor, which sets the state to DISCONNECTED and takes the listener;
 * - `setState`, which keeps the connection's state and tells the listener of each change, once;
 * - `queue`, which accepts a request or refuses it with the error number of the state.
 *
 * Nothing else of it is called, and what it knows is kept nowhere else: `connected`, `suspended`
 * and `lost` are read from its state.
 */
import ConnectionManager from "node-zookeeper-client/lib/ConnectionManager.js";
import { ErrorCode } from "../../wire/protocol.ts";
import type { LostReason, SessionState } from "../session.ts";
import type { Callback, Request } from "./requests/request.ts";

const { STATES } = ConnectionManager;

const ENDED: Readonly<Record<LostReason, number>> = {
  closed: STATES.CLOSED,
  unreachable: STATES.CLOSED,
  expired: STATES.SESSION_EXPIRED,
  "auth-failed": STATES.AUTHENTICATION_FAILED,
};

// A release that renames one of them must not start: the state would be kept nowhere.
for (const method of ["setState", "queue"] as const) {
  if (typeof ConnectionManager.prototype[method] !== "function") {
    throw new Error(
      `node-zookeeper-client has no ConnectionManager.${method}: zksh needs version 1.1.3`,
    );
  }
}

/** The state of a session's connection, and whether a request may be made in it. */
export class ConnectionState {
  readonly #manager: ConnectionManager;
  readonly #listeners = new Set<() => void>();
  #isClosing = false;

  /** `requests` takes those that the state allows; their callbacks are set. */
  constructor(requests: { push(request: Request): void }) {
    // The server list is ours (ServerList): the package takes [::1]:2181 for a host called "[".
    const unused = { servers: "localhost", options: { sessionTimeout: 0, spinDelay: 0 } };
    const changed = () => this.#tellListeners();
    this.#manager = new ConnectionManager(unused.servers, unused.options, changed);
    this.#manager.packetQueue = {
      push: ({ request, callback }) => {
        request.callback = callback;
        requests.push(request);
      },
    };
  }

  /** Calls `listener` behind every change; returns the function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get sessionState(): SessionState {
    switch (this.#manager.state) {
      case STATES.CONNECTED:
      case STATES.CONNECTED_READ_ONLY:
        return "connected";
      case STATES.DISCONNECTED:
      case STATES.CONNECTING:
        return "suspended";
      default:
        return "lost";
    }
  }

  /** Attached to a server without a quorum. */
  get isReadOnly(): boolean {
    return this.#manager.state === STATES.CONNECTED_READ_ONLY;
  }

  connecting(): void {
    this.#manager.setState(STATES.CONNECTING);
  }

  connected({ isReadOnly }: { isReadOnly: boolean }): void {
    this.#manager.setState(isReadOnly ? STATES.CONNECTED_READ_ONLY : STATES.CONNECTED);
  }

  disconnected(): void {
    this.#manager.setState(STATES.DISCONNECTED);
  }

  /** closeSession is queued: nothing is accepted behind it. */
  closing(): void {
    this.#isClosing = true;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  ended(reason: LostReason): void {
    this.#manager.setState(ENDED[reason]);
  }

  /** Queues the request, or calls `callback` with a failure when the session is over or closing. */
  queue(request: Request, callback: Callback): void {
    if (this.#isClosing) callback({ code: ErrorCode.connectionLoss }, null, 0n);
    else this.#manager.queue(request, callback);
  }

  /** While the session is closing, only its end is news. */
  #tellListeners(): void {
    if (this.#isClosing && this.sessionState !== "lost") return;
    for (const listener of [...this.#listeners]) listener();
  }
}
