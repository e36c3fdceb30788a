import { optional, word } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const printwatches = defineCommand({
  details: "printwatches without an argument prints the present setting.",
  examples: ["printwatches", "printwatches off"],
  effect: "none",
  args: {
    onOrOff: optional(word, "on or off; like in zkCli, any other word means off"),
  },
  options: {},
  async run({ shell }, { onOrOff }) {
    if (onOrOff !== undefined) shell.printsWatches = onOrOff === "on";
    return { kind: "watch-printing", isOn: shell.printsWatches, hasChanged: onOrOff !== undefined };
  },
});
