import { opcodeName } from "../wire/protocol.ts";

/** What went over one connection, or over all of them. */
export class Traffic {
  received = 0;
  sent = 0;
}

/** What is known of a connection besides: the last thing that was done for it. */
export class ConnectionTraffic extends Traffic {
  readonly establishedAt = Date.now();
  #lastOpcode: number | undefined;
  lastXid = -1;
  lastZxid = -1n;
  lastReplyAt = 0;

  noteReply(opcode: number, xid: number, zxid: bigint): void {
    this.#lastOpcode = opcode;
    // Pings and the like have no numbers of their own.
    if (xid >= 0) this.lastXid = xid;
    this.lastZxid = zxid;
    this.lastReplyAt = Date.now();
  }

  get lastOperation(): string {
    return this.#lastOpcode === undefined ? "NA" : opcodeName(this.#lastOpcode);
  }
}
