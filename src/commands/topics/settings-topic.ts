import type { Topic } from "./help-topics.ts";

export const settingsTopic: Topic = {
  name: "settings-file",
  summary: "profiles, aliases and other settings in a file",
  sections: () => [
    {
      text:
        "$XDG_CONFIG_HOME/zksh/config.json (default ~/.config/zksh/config.json) is JSON with comments " +
        "and trailing commas, mode 0600. --no-config starts without it. For example: " +
        '{ "profiles": { "prod": { "server": "zk1:2181,zk2:2181" } }, "aliases": { "ll": "ls -l" } }',
    },
    {
      rows: [
        { term: "zksh @prod ls /", summary: "with a profile; also --profile prod, ZKSH_PROFILE" },
        {
          term: "connect @prod",
          summary: "at the prompt and in scripts; connect alone asks which",
        },
        { term: "cp -r @prod:/app /app", summary: "a place on the servers of a profile" },
        { term: "settings --show-origin", summary: "what is in use, and its origin" },
      ],
    },
    {
      title: "In a profile, or outside for all of them",
      rows: [
        { term: "server", summary: '"zk1:2181,zk2:2181"' },
        {
          term: "timeout, tlsCa, …",
          summary:
            'each option that says how to connect, in camel case or in an object: "tls": { "ca": "FILE" }, ' +
            '"sasl": "digest:USER", "authFile": "FILE"; relative files start at the settings file',
        },
        { term: "readOnly", summary: "true refuses every write; --write allows it" },
      ],
    },
    {
      title: "Only in a profile",
      rows: [
        { term: "chroot", summary: '"/app": what the profile sees as /; needs server beside it' },
        { term: "label, colour", summary: "a word in the prompt, and its colour" },
        {
          term: "protect",
          summary:
            '["/kafka/**"]: refuses writes to what matches and below it; --write allows them. Tickets of locks are no such writes',
        },
        {
          term: "confirm",
          summary:
            "true: the question before deleteall, mv, import --prune, revoke, undo, setAcl -R or a glob wants the path, not y; --yes answers it",
        },
      ],
    },
    {
      title: "Only outside",
      rows: [
        { term: "profiles", summary: '{ "prod": { … } }' },
        { term: "profile", summary: "the profile for lines that name neither one nor a server" },
        {
          term: "aliases",
          summary:
            '{ "ll": "ls -l" }: one line; never the name of a command; help and TAB list them',
        },
        { term: "output, color", summary: "as --output and --color" },
        { term: "pager", summary: '"less -FRX", or false; ZKSH_PAGER and PAGER win over it' },
        { term: "history", summary: "the number of lines that are kept (5000), or false: none" },
        { term: "undo", summary: '"64m": what undo keeps of one command at most, or false' },
      ],
    },
    {
      title: "What wins",
      text:
        "An option of the command line, then the environment, then the profile, then the rest of the " +
        "file. Where @NAME is on the command line, ZKSH_SERVER does not count. TLS is never off where " +
        "any of them asks for it: two that disagree are an error.",
    },
  ],
};
