import { UsageError } from "../errors.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

/** The number that zkCli shows, which includes the running line. */
const USUAL_COUNT = 11;

const count: ValueParser<number> = (text) => {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`bad count '${text}'`, { hint: "use a whole number" });
};

export const history = defineCommand({
  details:
    "The shell keeps its history in $XDG_STATE_HOME/zksh/history (default " +
    "~/.local/state/zksh/history), without passwords and " +
    "without lines that begin with a space. Ctrl-R searches it. !! runs the last line again; !N " +
    "or redo N runs line N.",
  examples: ["history", "history 50"],
  effect: "none",
  args: { count: optional(count, "the number of lines (default 11)") },
  options: {},
  async run({ shell: { history: lines } }, { count: wanted = USUAL_COUNT }) {
    const first = Math.max(0, lines.length - wanted);
    return {
      kind: "history",
      entries: lines.slice(first).map((line, index) => ({ number: first + index, line })),
    };
  },
});
