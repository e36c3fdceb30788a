/**
 * Asks a holder to give way, in the words that its library listens for, or removes its ticket. What
 * can be asked of whom: ours read a request in their record; Curator's revocable locks react to a
 * word; the textbook has another word; kazoo, WriteLock, and Curator's semaphores and latches
 * listen to nothing. A latch that has an id in place of a record may be ours, and then knows the
 * textbook's word. Leaves no watch behind.
 */

import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { ConflictError, NoNodeError } from "../../errors.ts";
import { baseName } from "../../session/path.ts";
import type { CallOptions, Data, Session } from "../../session/session.ts";
import {
  CURATOR_REVOKE,
  decodeRecord,
  encodeRecord,
  type RevokeRequest,
  TEXTBOOK_REVOKE,
} from "./holder-record.ts";
import type { QueueMember } from "./inspect/inspect-lock.ts";
import { parseContender } from "./queue/contender.ts";

/**
 * `asked`: it can know now. `unsure`: so it can, if it is ours. `unaskable`: it does not listen.
 * `gone`: it has given way already.
 */
export type Asked = "asked" | "unsure" | "unaskable" | "gone";

const RESEND_MS = 1_000;
/**
 * A holder writes into its own ticket once or twice; who writes more often does not want to be
 * asked.
 */
const MAX_TRIES = 10;

export async function askToYield(
  session: Session,
  { node }: QueueMember,
  request: RevokeRequest,
  options: CallOptions,
): Promise<Asked> {
  for (let tries = 1; ; tries++) {
    try {
      const data = await session.getData(node, options);
      const written = wording(node, data, request);
      if (written === undefined) return "unaskable";
      await session.setData(node, written, { ...options, version: data.stat.version });
      return decodeRecord(data.data) === undefined &&
        parseContender(baseName(node))?.claim === "latch"
        ? "unsure"
        : "asked";
    } catch (error) {
      if (error instanceof NoNodeError) return "gone";
      // The holder has just written something itself, such as when it got the lock: that has to
      // stay.
      if (!(error instanceof ConflictError)) throw error;
      if (tries >= MAX_TRIES) throw keepsChanging(node, error);
    }
  }
}

function keepsChanging(node: string, cause: ConflictError): ConflictError {
  return new ConflictError(
    "ticket-changing",
    `${node} kept changing: the request could not be written in ${MAX_TRIES} tries`,
    {
      path: node,
      cause,
    },
  );
}

function wording(node: string, { data }: Data, request: RevokeRequest): Buffer | undefined {
  const record = decodeRecord(data);
  if (record) return encodeRecord({ ...record, revoke: request });
  const contender = parseContender(baseName(node));
  if (!contender || contender.claim === "lease") return undefined;
  if (contender.claim === "latch") return Buffer.from(TEXTBOOK_REVOKE);
  const { family, uuid } = contender;
  // go-zookeeper's names are Curator's, but for the dashes in the uuid.
  if (family === "curator" && uuid?.includes("-")) return Buffer.from(CURATOR_REVOKE);
  return family === "curator" || family === "textbook" ? Buffer.from(TEXTBOOK_REVOKE) : undefined;
}

/**
 * Resolves when the holder's ticket is gone. Curator misses a request that comes before it has
 * looked at its own ticket for the first time, so that one is made again after a moment.
 */
export async function untilGone(
  session: Session,
  holder: QueueMember,
  request: RevokeRequest | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { node } = holder;
  const changed = new AutoResetEvent();
  const watch = () => changed.set();
  const again = () =>
    void (request && askToYield(session, holder, request, { signal }).catch(() => {}));
  const timer = setTimeout(again, RESEND_MS);
  try {
    while (await session.exists(node, { signal, watch })) await changed.wait(signal);
  } catch (error) {
    if (session.state !== "lost") session.removeWatch(node, watch).catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Removes all its tickets, whether it likes it or not. False when there were none any more. */
export async function evict(
  session: Session,
  { nodes }: QueueMember,
  options: CallOptions,
): Promise<boolean> {
  const removed = await Promise.all(
    nodes.map(async (node) => {
      try {
        await session.delete(node, options);
        return true;
      } catch (error) {
        if (error instanceof NoNodeError) return false;
        throw error;
      }
    }),
  );
  return removed.includes(true);
}
