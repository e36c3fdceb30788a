import { optional, word } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const printwatches = defineCommand({
  examples: ["printwatches", "printwatches off"],
  effect: "none",
  args: {
    onOrOff: optional(word, "on or off (anything but on is off); left out: which of them it is"),
  },
  options: {},
  async run({ shell }, { onOrOff }) {
    if (onOrOff !== undefined) shell.printsWatches = onOrOff === "on";
    return { kind: "watch-printing", isOn: shell.printsWatches, hasChanged: onOrOff !== undefined };
  },
});
