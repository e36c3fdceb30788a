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

/** Takes requests that the connection's state allows; their callbacks are set. */
export interface RequestSink {
  add(request: Request): void;
}

/** The state of a session's connection, and whether a request may be made in it. */
export class ConnectionState {
  readonly #manager: ConnectionManager;

  /** `onChange` is called behind every change. */
  constructor(sink: RequestSink, onChange: () => void) {
    // The server list is ours (ServerList): the package takes [::1]:2181 for a host called "[".
    const unused = { servers: "localhost", options: { sessionTimeout: 0, spinDelay: 0 } };
    this.#manager = new ConnectionManager(unused.servers, unused.options, onChange);
    this.#manager.packetQueue = {
      push: ({ request, callback }) => {
        request.callback = callback;
        sink.add(request);
      },
    };
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

  ended(reason: LostReason): void {
    this.#manager.setState(ENDED[reason]);
  }

  /** Hands the request on, or calls `callback` with a failure when the session is over. */
  queue(request: Request, callback: Callback): void {
    this.#manager.queue(request, callback);
  }
}
