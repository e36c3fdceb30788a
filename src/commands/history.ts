import { UsageError } from "../errors.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

/** As many as zkCli shows, the running line among them. */
const USUAL_COUNT = 11;

const count: ValueParser<number> = (text) => {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`bad count '${text}'`, { hint: "a whole number of lines" });
};

export const history = defineCommand({
  details:
    "The shell keeps its history in $XDG_STATE_HOME/zksh/history (~/.local/state/zksh/history), without passwords; a line " +
    "that begins with a space is not kept. Ctrl-R searches, !! runs the last line again, !N or redo N line N.",
  examples: ["history", "history 50"],
  effect: "none",
  args: { count: optional(count, "how many lines (11)") },
  options: {},
  async run({ shell: { history: lines } }, { count: wanted = USUAL_COUNT }) {
    const first = Math.max(0, lines.length - wanted);
    return {
      kind: "history",
      entries: lines.slice(first).map((line, index) => ({ number: first + index, line })),
    };
  },
});
