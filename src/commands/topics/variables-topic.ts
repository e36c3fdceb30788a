import type { Topic } from "./help-topics.ts";

export const variablesTopic: Topic = {
  name: "variables",
  summary: "NAME = LINE and $NAME: keep the result of a line",
  sections: () => [
    {
      rows: [
        { term: "n = create -s -e /q/x-", summary: "keeps what a pipe would get: the path" },
        { term: "n = ls /q | tail -1", summary: "keeps the output of the line's command" },
        { term: "get $n", summary: `is replaced by the text; so is \${n}, also in double quotes` },
        { term: "$?", summary: "the exit code of the line before" },
        { term: "$_", summary: "the last word of the line before" },
      ],
    },
    {
      title: "Setting",
      text:
        "An assignment is a name of letters, digits and _, a blank, =, a blank and a line, at the " +
        "start of a line. The final line end of the result is left out. A line that fails leaves " +
        "the variable as it was. A result must be UTF-8 text of at most 16 MB.",
    },
    {
      title: "Using",
      text:
        "A value is always text: it is not split at blanks, and is never an option, a pipe, a " +
        "glob, stdin (-), a file (@file, file:) or another server (zk://), even if it looks like " +
        "one. So it cannot be the name of an option or of a command. A variable without a value is " +
        "an error. A $ in single quotes, " +
        "\\$ in double quotes, and a $ before anything but a name, {, ? or _ is text: set /a '$x'.",
    },
    {
      title: "Where",
      text:
        "At the prompt, in -c, in -f and in scripts on stdin; not in the arguments of zksh itself, " +
        'not with -o zkcli. txn takes them in double quotes: txn "set /a $n" "set /b $n"; the ' +
        "values are text there too, and the files that it reads have no variables. Variables end " +
        "with the shell or the script.",
    },
  ],
};
