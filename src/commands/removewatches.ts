import { ConnectionError, OperationError, UsageError } from "../errors.ts";
import type { RemoveWatchOptions } from "../session/session.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { shownEvents } from "./request-options.ts";

const NO_WATCHER = -121;

export const removeWatches = defineCommand({
  details:
    "Watches are set by addWatch, and by -w of get, ls, stat and config. Needs ZooKeeper 3.5.",
  examples: ["removewatches /app", "removewatches /app/config -d"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {
    children: flag("-c", "remove only the watch on its children"),
    data: flag("-d", "remove only the watch on its data"),
    persistent: flag("-p", "remove only the persistent watch that is not recursive"),
    recursive: flag("-r", "remove only the persistent recursive watch"),
    all: flag("-a", "remove watches of every kind (the default)"),
    local: flag("-l", "remove them in zksh even if no server can be reached"),
  },
  async run(context, { path }, { local, ...kinds }) {
    const [kind, ...more] = (
      ["children", "data", "persistent", "recursive", "all"] as const
    ).filter((one) => kinds[one]);
    if (more.length > 0) throw new UsageError("only one of -c, -d, -p, -r and -a can be given");
    const { session, signal } = context;
    const listener = shownEvents(context, "watches exist only inside the shell");
    const options: RemoveWatchOptions = {
      signal,
      ...(kind !== undefined && kind !== "all" && { kind }),
    };
    const removed = await session()
      .removeWatch(path, listener, options)
      .catch((error: unknown) => {
        // The session has forgotten the watch already, and the server forgets it with the connection.
        if (local && error instanceof ConnectionError) return [];
        throw error;
      });
    if (removed.length === 0 && !local) {
      throw new OperationError("no-watcher", `no such watch: ${path} (NoWatcher)`, {
        code: NO_WATCHER,
        path,
      });
    }
    return { kind: "watches-removed", path, removed, printsWatches: context.shell.printsWatches };
  },
});
