import { UsageError } from "../errors.ts";
import type { Environment } from "../processes/child-requests.ts";
import { fencedWriter, type Writer } from "../recipes/locks/fence.ts";
import { flag } from "./arguments.ts";
import type { Context } from "./command.ts";

export const fencedFlag = flag("", "write only while the lock around this command is held");

/**
 * Returns what a command writes with: the session, or with --fenced a writer that checks the
 * tickets named in the environment in the same transaction. Throws UsageError if the environment
 * names no ticket.
 */
export function writerOf(context: Context, isFenced: boolean): Writer {
  if (!isFenced) return context.session();
  return fencedWriter(context.session(), fencingTickets(context));
}

/**
 * The tickets that a fenced write checks. Throws UsageError if the environment names none, or one
 * that proves nothing.
 */
export function fencingTickets({ program }: Context): readonly string[] {
  const tickets = ticketsAround(program.env);
  if (tickets.length === 0) {
    throw new UsageError(
      "--fenced works only in a command run by zksh lock (ZK_LOCK_NODE is not set)",
      {
        hint: "run it under a lock: zksh lock PATH -- COMMAND",
      },
    );
  }
  const unique = tickets.find(({ path, node }) => node === path);
  if (unique) {
    throw new UsageError(
      `--fenced does not work under the unique lock ${unique.node}: all its holders create the same znode`,
      {
        hint: "leave out --recipe unique, or compare tokens with fence guard",
      },
    );
  }
  return [...new Set(tickets.map(({ node }) => node))];
}

interface LockAround {
  readonly path: string | undefined;
  readonly node: string;
}

/**
 * Returns the tickets of the innermost `zksh lock`. Its session owns all of them; a lock further
 * out belongs to another session, and its own command fences with it.
 */
function ticketsAround(env: Environment): LockAround[] {
  const [node, session] = [env.ZK_LOCK_NODE, env.ZK_LOCK_SESSION];
  const tickets: LockAround[] = node ? [{ path: env.ZK_LOCK_PATH, node }] : [];
  for (const line of (env.ZK_LOCK_HELD ?? "").split("\n")) {
    const [path, , , of, owner] = line.split("\t");
    if (of && owner && owner === session) tickets.push({ path, node: of });
  }
  return tickets;
}
