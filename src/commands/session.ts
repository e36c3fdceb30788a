import { UsageError } from "../errors.ts";
import { type ToldSession, toldSessions } from "../recipes/servers/told-sessions.ts";
import type { Result } from "../results/result.ts";
import { isSameId } from "../text/hex-id.ts";
import { quoteWord } from "../text/quote-word.ts";
import { flag, optional, type ValueParser } from "./arguments.ts";
import { askedServers } from "./asked-servers.ts";
import { type Context, defineCommand } from "./command.ts";
import {
  describeOwnSession,
  describeSession,
  MAX_SEARCHED,
  nothingTold,
} from "./describe-session.ts";

const sessionId: ValueParser<bigint | "me"> = (text) => {
  if (text === "me") return text;
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) return BigInt.asIntN(64, BigInt(text));
  throw new UsageError(`bad session id '${text}'`, {
    hint: text.startsWith("/")
      ? `stat ${quoteWord(text)} shows its session as ephemeralOwner`
      : "use me, or an id as stat and whoholds show it: 0x100006285b70000; --all lists them",
  });
};

export const session = defineCommand({
  details:
    "session prints the ephemerals of a session, the locks that it holds and waits for, and its " +
    "client. For sessions other than this one it asks all servers of the list for the four-letter " +
    "words cons and dump; where the servers allow no dump it searches the tree for the ephemerals, " +
    `${MAX_SEARCHED.toLocaleString("en-US")} znodes at most. Exit code 1: there is no such session.`,
  examples: ["session", "session 0x100006285b70000", "session --all"],
  effect: "read",
  args: { id: optional(sessionId, "0x…, or me (default: this session)") },
  options: { all: flag("-a", "list all sessions that the servers tell") },
  async run(context, { id = "me" }, { all }): Promise<Result> {
    if (all) return listAll(context);
    const own = context.session();
    await own.connected({ signal: context.signal });
    return id === "me" || isSameId(id, own.id)
      ? describeOwnSession(context)
      : describeSession(context, id);
  },
});

async function listAll(context: Context): Promise<Result> {
  const { sessions, gaps, hasEphemerals } = await toldSessions(await askedServers(context));
  if (sessions.size === 0 && gaps.length > 0)
    throw nothingTold("no server tells its sessions", gaps);
  const order = (a: ToldSession, b: ToldSession) =>
    (a.server ?? "~").localeCompare(b.server ?? "~", "en") ||
    (BigInt.asUintN(64, a.session) < BigInt.asUintN(64, b.session) ? -1 : 1);
  return { kind: "sessions", sessions: [...sessions.values()].sort(order), gaps, hasEphemerals };
}
