import { UsageError } from "../errors.ts";
import type { PersistentWatchMode } from "../session/session.ts";
import { option, required, type ValueParser, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { shownEvents } from "./request-options.ts";

const USAGE =
  "addWatch [-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE";

const mode: ValueParser<PersistentWatchMode> = (text) => {
  const name = text.toUpperCase();
  if (name === "PERSISTENT") return "persistent";
  if (name === "PERSISTENT_RECURSIVE") return "recursive";
  // zkCli's answer is its usage line.
  throw new UsageError(`bad mode '${text}'`, { reason: "missing-argument", hint: USAGE });
};

export const addWatch = defineCommand({
  details:
    "The znode need not exist. Its events are shown until removewatches; a recursive watch tells of everything below " +
    "it too. Outside the shell use watch, which stays and shows the new data as well. Needs a server from 3.6 on.",
  examples: ["addWatch /app", "addWatch -m PERSISTENT /app/config"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {
    mode: option("-m", "mode", mode, "PERSISTENT or PERSISTENT_RECURSIVE (PERSISTENT_RECURSIVE)"),
  },
  async run(context, { path }, { mode: wanted = "recursive" }) {
    const { session, signal } = context;
    const listener = shownEvents(context, "watch stays and shows every change");
    await session().addWatch(path, wanted, listener, { signal });
    return { kind: "watch-added", path, isRecursive: wanted === "recursive" };
  },
});
