/**
 * Finds the ephemerals of a session by looking at every znode: for servers that tell them by no
 * word. Sets no watches and creates no znodes. Ends at a limit, because the tree may be large.
 */
import { kindOf } from "../../session/node-kind.ts";
import type { Session } from "../../session/session.ts";
import { isSameId } from "../../text/hex-id.ts";
import { readTree } from "../trees/read-tree.ts";

export interface FoundEphemerals {
  readonly paths: readonly string[];
  /** How many znodes were looked at. */
  readonly znodes: number;
  /** The limit was reached: there may be more. */
  readonly isPartial: boolean;
  /** How many znodes could not be listed. */
  readonly unreadable: number;
}

export interface FindEphemeralsOptions {
  readonly signal: AbortSignal;
  readonly limit: number;
  readonly onProgress?: ((znodes: number) => void) | undefined;
}

export async function findEphemerals(
  session: Session,
  owner: bigint,
  { signal, limit, onProgress }: FindEphemeralsOptions,
): Promise<FoundEphemerals> {
  const paths: string[] = [];
  let znodes = 0;
  let unreadable = 0;
  const onFailure = () => {
    unreadable += 1;
  };
  for await (const entries of readTree(session, "/", { signal, statsOnly: true, onFailure })) {
    znodes += entries.length;
    for (const { path, stat } of entries)
      if (kindOf(stat) === "ephemeral" && isSameId(stat.ephemeralOwner, owner)) paths.push(path);
    onProgress?.(znodes);
    if (znodes >= limit) return { paths, znodes, isPartial: true, unreadable };
  }
  return { paths, znodes, isPartial: false, unreadable };
}
