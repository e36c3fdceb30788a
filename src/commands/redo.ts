import { UsageError } from "../errors.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

/** Decimal, 0x… or 0…, as zkCli reads it. */
const lineNumber: ValueParser<number> = (text) => {
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  if (/^(-?\d+|0x[\da-f]+)$/i.test(text)) return Number(text);
  throw new UsageError(`bad line number '${text}'`, { hint: "history shows the numbers" });
};

export const redo = defineCommand({
  examples: ["redo 3"],
  effect: "none",
  args: {
    number: optional(lineNumber, "the number of the line in history (default: the last line)"),
  },
  options: {},
  async run({ shell: { history } }, { number = history.length - 2 }) {
    const line = number < history.length - 1 ? history[number] : undefined;
    if (line === undefined)
      throw new UsageError("Command index out of range", { hint: "history shows the numbers" });
    if (/^\s*redo(\s|$)/.test(line)) throw new UsageError("No redoing redos");
    return { kind: "again", line };
  },
});
