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
    hint: "fence check SEQUENCER, or fence guard PATH TOKEN",
  });
};

const token: ValueParser<bigint> = (text) => {
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw new UsageError(`bad token '${text}'`, {
    hint: "a token is a whole number, as ZK_LOCK_TOKEN has it",
  });
};

export const fence = defineCommand({
  details:
    "check tells whether the hold of a lock that ZK_LOCK_SEQUENCER names goes on: current and exit code 0, or stale and 1. " +
    "guard keeps the highest ZK_LOCK_TOKEN seen in a znode, which is made when missing, and ends with 1 for a lower one: so " +
    "a holder that comes late is found out even where only a script can check. That znode is open to everybody unless --acl " +
    "says otherwise: a client that may write it can turn the token back, and one that may delete it can make it forget.",
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
    acl: option(
      "",
      "acl",
      acl,
      "guard: the ACL of the znode and its parents where they are missing",
    ),
  },
  oneFlight: (_context, { action: what }) => what === "check",
  run(context, { action: what, subject, token: given }, { acl: entries }) {
    if (what === "guard") return pass(context, subject, given, entries && checkedAcl(entries));
    if (entries) throw new UsageError("fence check takes no --acl: it makes no znode");
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
  { session, signal, cwd }: Context,
  subject: string,
  given: bigint | undefined,
  entries: readonly Acl[] | undefined,
): Promise<Result> {
  if (given === undefined)
    throw new UsageError("no token given", { hint: "fence guard PATH TOKEN" });
  const path = String(znodePath(subject, { cwd }));
  const before = await guard(session(), path, given, { signal, acl: entries });
  return { kind: "token", path, token: given, ...(before !== undefined && { before }) };
}
