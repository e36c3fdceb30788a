import { UsageError } from "../errors.ts";
import type { PersistentWatchMode } from "../session/session.ts";
import { option, required, type ValueParser, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { shownEvents } from "./request-options.ts";

const USAGE =
  "addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - " +
  "default is PERSISTENT_RECURSIVE";

const mode: ValueParser<PersistentWatchMode> = (text) => {
  const name = text.toUpperCase();
  if (name === "PERSISTENT") return "persistent";
  if (name === "PERSISTENT_RECURSIVE") return "recursive";
  // zkCli's answer is its usage line.
  throw new UsageError(`bad mode '${text}'`, { reason: "missing-argument", hint: USAGE });
};

export const addWatch = defineCommand({
  details:
    "The shell shows the events of the znode until removewatches; a recursive watch also shows " +
    "those of all znodes below it. " +
    "The znode need not exist. Outside the shell, use watch: it keeps running and shows the new " +
    "data. Needs ZooKeeper 3.6.",
  examples: ["addWatch /app", "addWatch -m PERSISTENT /app/config"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {
    mode: option("-m", "mode", mode, "PERSISTENT or PERSISTENT_RECURSIVE (the default)"),
  },
  async run(context, { path }, { mode: wanted = "recursive" }) {
    const { session, signal } = context;
    const listener = shownEvents(
      context,
      "use watch PATH: it keeps running and shows every change",
    );
    await session().addWatch(path, wanted, listener, { signal });
    return { kind: "watch-added", path, isRecursive: wanted === "recursive" };
  },
});
