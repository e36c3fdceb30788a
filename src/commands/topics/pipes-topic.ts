import type { Topic } from "./help-topics.ts";

export const pipesTopic: Topic = {
  name: "pipes",
  summary: "LINE | COMMAND: pass results to a command of the system",
  sections: () => [
    {
      rows: [
        { term: "ls / | wc -l", summary: "counts the children of /" },
        { term: "get /a | jq .port", summary: "passes on the exact bytes, without colours" },
        { term: "ls -R / | less", summary: "lends the terminal to the command until it ends" },
      ],
    },
    {
      title: "Where",
      text:
        "At the prompt, in -c, in -f and in scripts on stdin; not in the arguments of zksh itself, " +
        "which the system shell has split already, and not with -o zkcli.",
    },
    {
      title: "The command",
      text:
        "Everything behind the first | that follows a blank and is not quoted goes to sh -c as it " +
        "was written, up to a line end, or a ; outside quotes and parentheses. That is also so " +
        "behind the -- of lock and of other commands that run a program: what the program prints " +
        "goes into the pipe. Quote a | that is text: set /a 'x | y'. The command has " +
        "ZKSH_SERVER, so that a zksh in it uses the same servers.",
    },
    {
      title: "Exit codes",
      text:
        "A line that fails ends with its own code, otherwise with the code of its command (128 + N " +
        "after signal N), as with pipefail in bash. A command that stops reading (| head) ends the " +
        "line without an error.",
    },
    {
      title: "Ctrl-C",
      text:
        "Ctrl-C at the prompt ends the line and the command. A command that goes on after Ctrl-C, " +
        "such as a pager, is stopped by the second one.",
    },
  ],
};
