import { UsageError } from "../errors.ts";
import { fencedWriter, type Writer } from "../recipes/locks/fence.ts";
import { flag } from "./arguments.ts";
import type { Context } from "./command.ts";

export const fencedFlag = flag("", "only while the lock that this runs under is held");

/**
 * Where a command writes to: with --fenced only while the locks of the environment are held. Throws
 * UsageError without any.
 */
export function writerOf({ session, env }: Context, isFenced: boolean): Writer {
  if (!isFenced) return session();
  const tickets = ticketsAround(env);
  if (tickets.length === 0) {
    throw new UsageError(
      "--fenced needs a lock, and there is none around: ZK_LOCK_NODE is not set",
      {
        hint: "lock PATH -- zksh … runs it under one",
      },
    );
  }
  const unique = tickets.find(({ path, node }) => node === path);
  if (unique) {
    throw new UsageError(
      `--fenced cannot work under the unique lock ${unique.node}: every holder's znode has that path`,
      {
        hint: "use a queue lock (leave out --recipe unique), or compare tokens (fence guard)",
      },
    );
  }
  return fencedWriter(session(), [...new Set(tickets.map(({ node }) => node))]);
}

interface LockAround {
  readonly path: string | undefined;
  readonly node: string;
}

/**
 * Those of the session that runs this command; what programs further out hold is theirs to fence.
 */
function ticketsAround(env: Context["env"]): LockAround[] {
  const [node, session] = [env("ZK_LOCK_NODE"), env("ZK_LOCK_SESSION")];
  const tickets: LockAround[] = node ? [{ path: env("ZK_LOCK_PATH"), node }] : [];
  for (const line of (env("ZK_LOCK_HELD") ?? "").split("\n")) {
    const [path, , , of, owner] = line.split("\t");
    if (of && owner && owner === session) tickets.push({ path, node: of });
  }
  return tickets;
}
