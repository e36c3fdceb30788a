import type { ConfigResult } from "../results/shell.ts";
import type { Data } from "../session/session.ts";
import { flag } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { readOptions } from "./request-options.ts";

export const config = defineCommand({
  details:
    "What /zookeeper/config says, whatever the chroot. A standalone server has nothing in it.",
  examples: ["config", "config -c"],
  effect: "read",
  args: {},
  options: {
    client: flag("-c", "only the version and where clients connect to"),
    watch: flag("-w", "watch for the next change (in the shell)"),
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
