import type { ConfigResult } from "../results/shell.ts";
import type { Data } from "../session/session.ts";
import { flag } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { readOptions } from "./request-options.ts";

export const config = defineCommand({
  details:
    "config reads /zookeeper/config, also with a chroot. It is empty on a standalone server.",
  examples: ["config", "config -c"],
  effect: "read",
  args: {},
  options: {
    client: flag("-c", "print only the version and the client addresses"),
    watch: flag("-w", "report the next change (only in the shell)"),
    stat: flag("-s", "print the stat too"),
  },
  oneFlight: true,
  async run(context, _args, { client, watch, stat }) {
    const data = await context.session().getConfig(readOptions(context, watch));
    return configResult(data, { withStat: stat, isBrief: client, isNew: false });
  },
});

export function configResult(
  { data, stat }: Data,
  how: Pick<ConfigResult, "withStat" | "isBrief" | "isNew">,
): ConfigResult {
  return { kind: "config", text: data?.toString() ?? "", stat, ...how };
}
