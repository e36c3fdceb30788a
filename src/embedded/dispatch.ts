/** Finds the handler of a request and turns its outcome into a reply. */
import type { JuteReader } from "../wire/jute.ts";
import { ErrorCode, Opcode } from "../wire/protocol.ts";
import type { Body, Handler, RequestSource } from "./handler.ts";
import { multi, multiRead, UnknownOperation } from "./multi.ts";
import * as reads from "./reads.ts";
import { Refusal } from "./refusal.ts";
import type { ServerState } from "./server-state.ts";
import * as watching from "./watch-requests.ts";
import { writeHandlers } from "./writes.ts";

const HANDLERS: ReadonlyMap<number, Handler> = new Map([
  ...writeHandlers,
  [Opcode.exists, reads.exists],
  [Opcode.getData, reads.getData],
  [Opcode.getAcl, reads.getAcl],
  [Opcode.getChildren, reads.getChildren],
  [Opcode.getChildren2, reads.getChildren2],
  [Opcode.getAllChildrenNumber, reads.getAllChildrenNumber],
  [Opcode.getEphemerals, reads.getEphemerals],
  [Opcode.whoAmI, reads.whoAmI],
  [Opcode.sync, reads.sync],
  [Opcode.multi, multi],
  [Opcode.multiRead, multiRead],
  [Opcode.setWatches, watching.setWatches],
  [Opcode.setWatches2, watching.setWatches2],
  [Opcode.addWatch, watching.addWatch],
  [Opcode.checkWatches, watching.checkWatches],
  [Opcode.removeWatches, watching.removeWatches],
  [Opcode.ping, () => undefined],
  [Opcode.closeSession, closeSession],
]);

export interface Answer {
  readonly zxid: bigint;
  readonly err: number;
  readonly body: Body | undefined;
}

/**
 * Serves one request. Returns undefined for an unknown operation, `hang-up` where one in a
 * transaction is unknown to the server that is played.
 */
export function dispatch(
  keeper: ServerState,
  caller: RequestSource,
  opcode: number,
  request: JuteReader,
): Answer | "hang-up" | undefined {
  const handler = HANDLERS.get(opcode);
  if (handler === undefined) return undefined;
  try {
    const body = handler(keeper, caller, request);
    return { zxid: keeper.lastZxid, err: 0, body };
  } catch (error) {
    if (error instanceof UnknownOperation) return "hang-up";
    // Any other failure of a request is reported as a marshalling error, as ZooKeeper
    // does.
    const { code, body } =
      error instanceof Refusal ? error : new Refusal(ErrorCode.marshallingError);
    return { zxid: keeper.lastZxid, err: code, body };
  }
}

function closeSession(keeper: ServerState, { session }: RequestSource): undefined {
  keeper.endSession(session);
}
