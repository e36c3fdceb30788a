import type { HelpRow } from "../../results/help.ts";
import type { Topic } from "./help-topics.ts";

/** `help options`. */
export const optionsTopic: Topic = {
  name: "options",
  summary: "options of zksh itself",
  sections: ({ globalOptions }) => [
    {
      text:
        "Long options may stand before or behind the command word. Short ones may stand before it, and behind it where " +
        "the command has no option of that letter: lock -v is --verbose, set -v is set's own. zkCli's spellings " +
        "(-server, -timeout, -r) stand before it. A duration needs a unit (1500ms, 10s, 5m); -timeout counts milliseconds.",
    },
    {
      title: "Also on one line, at the prompt and in scripts",
      rows: globalOptions.filter(({ holdsForOneLine }) => holdsForOneLine).map(toRow),
    },
    {
      title: "For the whole program",
      rows: globalOptions.filter(({ holdsForOneLine }) => !holdsForOneLine).map(toRow),
    },
  ],
};

function toRow({ term, summary }: HelpRow): HelpRow {
  return { term, summary };
}
