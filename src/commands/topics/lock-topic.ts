/** `help locks`: what the commands that run a program under a lock have in common. */
import type { HelpRow } from "../../results/help.ts";
import type { Option } from "../arguments.ts";
import { sharedOptions } from "../under-lock/options.ts";
import { optionTerm } from "../usage.ts";
import type { Topic } from "./help-topics.ts";

const LOCK_EXIT_CODES: readonly HelpRow[] = [
  { term: "its own code", summary: "the command ran, and the lock was held to the end" },
  { term: "75", summary: "busy, with -n (or the code given with -E)" },
  { term: "120", summary: "lost, or no longer provably held: the command was stopped" },
  { term: "121", summary: "revoked: the command was stopped" },
  { term: "123", summary: "no ZooKeeper, or not permitted: the command never started" },
  { term: "124", summary: "waited as long as -w says (or the code given with -E)" },
  {
    term: "125",
    summary: "usage, another limit, a lock inside the same lock, nothing to run or to wait for",
  },
  {
    term: "126, 127",
    summary: "the command cannot be run, or does not exist; found out before queuing",
  },
  { term: "128+S", summary: "the command, or zksh while it waited, was ended by signal S" },
];

const LOCK_VARIABLES: readonly HelpRow[] = [
  { term: "ZK_LOCK_PATH, ZK_LOCK_NODE", summary: "what is locked, and our znode there" },
  { term: "ZK_LOCK_TOKEN", summary: "the fencing token: higher for every later holder" },
  { term: "ZK_LOCK_SEQUENCER", summary: "for fence check" },
  {
    term: "ZK_LOCK_MODE, _SESSION",
    summary: "exclusive, read, write, semaphore or leader; the session id",
  },
  {
    term: "ZK_LOCK_TIMEOUT_MS, _WAITED_MS",
    summary: "the session timeout; how long it has queued",
  },
  {
    term: "ZK_LOCK_HELD",
    summary:
      "all that is held around the command, a line each, with tabs: path, token, mode, znode, session",
  },
  {
    term: "ZKSH_SERVER, _TIMEOUT, _TLS, …",
    summary:
      "where the lock is, and how to connect, as given by options: a zksh in the command needs none",
  },
];

/** README.md has the same lines, and a test runs them. */
export const COPROCESS: readonly HelpRow[] = [
  {
    term: "coproc LOCK { exec zksh lock /deploy; }",
    summary: "its stdin is a pipe from the script",
  },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: bash reads it.
  { term: "pid=$LOCK_PID out=${LOCK[0]} in=${LOCK[1]}", summary: "" },
  { term: 'if read -r line <&"$out"; then', summary: "a line comes when the lock is held" },
  { term: "  ./deploy.sh", summary: "" },
  { term: "fi", summary: "" },
  { term: "exec {in}>&-", summary: "the end of its stdin gives it back" },
  { term: 'wait "$pid"', summary: "0: held to the end; else see below" },
];

function sharedOptionRows(options: Readonly<Record<string, Option<unknown>>>): HelpRow[] {
  return Object.entries(options).map(([key, option]) => ({
    term: optionTerm(key, option),
    summary: option.summary,
  }));
}

export const lockTopic: Topic = {
  name: "locks",
  summary: "a command under a lock: options, variables, codes",
  sections: () => [
    {
      text:
        "For lock, rwlock, sem and elect. The command is stopped before ZooKeeper can give a lost lock to anybody else: " +
        "SIGTERM while the lock is still provably held, SIGKILL after the grace. A ticket that is deleted (delete, revoke " +
        "--force) is the next holder's at once: SIGKILL without a grace, unless --on-lost term is given. A paused machine " +
        "can still be late: let the resource that the command changes check the token. With open ACLs every client can delete " +
        "a ticket and so stop the command: --acl, --path-acl and an identity (--auth-file) keep others out.",
    },
    {
      title: "Limits",
      text:
        "A command that runs as another user (sudo, setuid) cannot be stopped: use sudo zksh lock /x -- COMMAND. What it starts " +
        "in a session of its own (setsid) is not stopped with it. zksh and its watchdog killed (-9) at the same moment: the command " +
        "gets SIGTERM, and with --on-lost kill SIGKILL. docs/lock-safety.md has them all.",
    },
    {
      title: "In a script",
      text: "Best is the whole script under the lock, by its first line:",
      rows: [
        {
          term: '[ "$ZK_LOCK_PATH" = /deploy ] || exec zksh lock /deploy -- "$0" "$@"',
          summary: "",
        },
      ],
    },
    {
      text:
        "Without a command the lock is held until stdin ends, and a stdin that has ended already (cron, </dev/null, a job " +
        "behind &) is exit code 125, because nothing would be locked. zksh needs a pipe that the script keeps open: in bash a " +
        "coprocess, in sh two named pipes (README.md). Such a script is not stopped when the lock is lost; wait tells it.",
      rows: COPROCESS,
    },
    { title: "Options", rows: sharedOptionRows(sharedOptions) },
    {
      title: "Progress",
      text:
        "On a terminal each step of the recipe is told, on stderr; in a pipe with -v, with --json as events; -q keeps to warnings. " +
        "--explain names the ZooKeeper operation of each step and the reason for it.",
    },
    { title: "In the command's environment", rows: LOCK_VARIABLES },
    { title: "Exit codes", rows: LOCK_EXIT_CODES },
  ],
};
