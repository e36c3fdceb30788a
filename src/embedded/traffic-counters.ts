import { Opcode } from "../wire/protocol.ts";

/** Counts packets of one connection, or of all connections. */
export class TrafficCounters {
  received = 0;
  sent = 0;
  authFailures = 0;
}

/** The operation names in the answer to `cons`. */
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

/** Also records the last operation of a connection. */
export class ConnectionTraffic extends TrafficCounters {
  readonly establishedAt = Date.now();
  /** The first operation of every connection is the handshake. */
  lastOperation = "SESS";
  lastXid = 0;
  lastZxid = 0n;
  lastReplyAt = 0;

  noteReply(opcode: number, xid: number, zxid: bigint): void {
    this.lastOperation = SHORT_NAMES.get(opcode) ?? "NA";
    // Pings and other special requests have negative xids.
    if (xid >= 0) this.lastXid = xid;
    this.lastZxid = zxid;
    this.lastReplyAt = Date.now();
  }
}
