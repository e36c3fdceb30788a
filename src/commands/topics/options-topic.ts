import type { HelpRow } from "../../results/help.ts";
import type { Topic } from "./help-topics.ts";

/** `help options`. */
export const optionsTopic: Topic = {
  name: "options",
  summary: "the global options of zksh",
  sections: ({ globalOptions }) => [
    {
      text:
        "Long options may stand before or after the command word. Short options may stand " +
        "before it; after it only if the " +
        "command has no option with that letter: lock -v is --verbose, but set -v is an option " +
        "of set. zkCli's spellings " +
        "(-server, -timeout, -r) stand before the command word. A duration needs a unit " +
        "(1500ms, 10s, 5m), except that " +
        "-timeout counts milliseconds.",
    },
    {
      title: "For the whole program, or for one line at the prompt and in scripts",
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
