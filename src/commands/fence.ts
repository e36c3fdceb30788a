import { UsageError } from "../errors.ts";
import { guard, isCurrent, parseSequencer } from "../recipes/locks/fence.ts";
import type { Result } from "../results/result.ts";
import { checkedAcl } from "../session/acl.ts";
import type { Acl } from "../session/session.ts";
import { acl, option, optional, required, type ValueParser, word, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";

const action: ValueParser<"check" | "guard"> = (text) => {
  if (text === "check" || text === "guard") return text;
  throw new UsageError(`unknown fence action '${text}': use check or guard`, {
    hint: "use fence check SEQUENCER or fence guard PATH TOKEN",
  });
};

const token: ValueParser<bigint> = (text) => {
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw new UsageError(`bad token '${text}'`, {
    hint: "a token is a whole number, as in ZK_LOCK_TOKEN",
  });
};

export const fence = defineCommand({
  details:
    "check takes a ZK_LOCK_SEQUENCER and tells whether that lock is still held: it prints " +
    "current (exit code 0) or stale " +
    "(1). guard takes a ZK_LOCK_TOKEN, keeps the highest token seen in a znode, and ends with 1 " +
    "for a lower one: a script " +
    "that calls it before it writes finds out that a later holder was there. The default ACL of " +
    "that znode is open, and a " +
    "client that may write or delete it can reset the token: give it an ACL.",
  examples: [
    "fence check exclusive:0x1f:/deploy/_c_6b0e-lock-0000000003",
    "fence guard /fences/db 8589934607",
  ],
  effect: "write",
  args: {
    action: required(action, "check or guard"),
    subject: required(word, "check: the sequencer; guard: the znode that keeps the token"),
    token: optional(token, "guard: the token, a whole number"),
  },
  options: {
    acl: option("", "acl", acl, "guard: the ACL of the znode and its parents when created"),
  },
  oneFlight: (_context, { action: what }) => what === "check",
  run(context, { action: what, subject, token: given }, { acl: entries }) {
    if (what === "guard") return pass(context, subject, given, entries && checkedAcl(entries));
    if (entries) throw new UsageError("fence check takes no --acl: it creates no znode");
    return check(context, subject, given);
  },
});

async function check(
  { session, signal }: Context,
  subject: string,
  given: bigint | undefined,
): Promise<Result> {
  if (given !== undefined) throw new UsageError("fence check takes no token");
  const sequencer = parseSequencer(subject);
  const { node, czxid } = sequencer;
  return {
    kind: "sequencer",
    node,
    czxid,
    isCurrent: await isCurrent(session(), sequencer, { signal }),
  };
}

async function pass(
  { session, signal, shell }: Context,
  subject: string,
  given: bigint | undefined,
  entries: readonly Acl[] | undefined,
): Promise<Result> {
  if (given === undefined)
    throw new UsageError("no token given", { hint: "fence guard PATH TOKEN" });
  const path = String(znodePath(subject, { cwd: shell.cwd }));
  const before = await guard(session(), path, given, { signal, acl: entries });
  return { kind: "token", path, token: given, ...(before !== undefined && { before }) };
}
