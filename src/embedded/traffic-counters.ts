import { Opcode } from "../wire/protocol.ts";

/** What went over one connection, or over all of them. */
export class TrafficCounters {
  received = 0;
  sent = 0;
  authFailures = 0;
}

/** The names that `cons` has for operations. */
const SHORT_NAMES: ReadonlyMap<number, string> = new Map([
  [Opcode.create, "CREA"],
  [Opcode.create2, "CREA"],
  [Opcode.createContainer, "CREA"],
  [Opcode.createTtl, "CREA"],
  [Opcode.delete, "DELE"],
  [Opcode.exists, "EXIS"],
  [Opcode.getData, "GETD"],
  [Opcode.setData, "SETD"],
  [Opcode.getAcl, "GETA"],
  [Opcode.setAcl, "SETA"],
  [Opcode.getChildren, "GETC"],
  [Opcode.getChildren2, "GETC"],
  [Opcode.getAllChildrenNumber, "GETACN"],
  [Opcode.getEphemerals, "GETE"],
  [Opcode.sync, "SYNC"],
  [Opcode.ping, "PING"],
  [Opcode.check, "CHEC"],
  [Opcode.multi, "MULT"],
  [Opcode.multiRead, "MLTR"],
  [Opcode.reconfig, "RECO"],
  [Opcode.setWatches, "SETW"],
  [Opcode.setWatches2, "STW2"],
  [Opcode.addWatch, "ADDW"],
  [Opcode.checkWatches, "CHKW"],
  [Opcode.removeWatches, "REMW"],
  [Opcode.whoAmI, "HOMI"],
  [Opcode.closeSession, "CLOS"],
]);

/** What is known of a connection besides: the last thing that was done for it. */
export class ConnectionTraffic extends TrafficCounters {
  readonly establishedAt = Date.now();
  /** Every session begins with its own creation. */
  lastOperation = "SESS";
  lastXid = 0;
  lastZxid = 0n;
  lastReplyAt = 0;

  noteReply(opcode: number, xid: number, zxid: bigint): void {
    this.lastOperation = SHORT_NAMES.get(opcode) ?? "NA";
    // Pings and the like have no numbers of their own.
    if (xid >= 0) this.lastXid = xid;
    this.lastZxid = zxid;
    this.lastReplyAt = Date.now();
  }
}
