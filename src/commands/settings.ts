import { flag } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const settings = defineCommand({
  details:
    "An option of the command line wins over the environment, that over the profile, that over the " +
    "rest of the settings file ($XDG_CONFIG_HOME/zksh/config.json), that over the default. help " +
    "settings-file explains the file. Passwords are not shown. After connect @NAME the settings of " +
    "that profile are listed.",
  examples: ["settings", "settings --show-origin"],
  effect: "none",
  args: {},
  options: { showOrigin: flag("", "name the origin of each value") },
  async run(context, _args, { showOrigin }) {
    return { kind: "settings", ...(await context.settings()), showsOrigin: showOrigin };
  },
});
