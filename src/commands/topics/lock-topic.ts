/** `help locks`: the options, variables and exit codes of the commands that run a program under a lock. */
import type { HelpRow } from "../../results/help.ts";
import type { Option } from "../arguments.ts";
import { sharedOptions } from "../under-lock/options.ts";
import { optionTerm } from "../usage.ts";
import type { Topic } from "./help-topics.ts";

const LOCK_EXIT_CODES: readonly HelpRow[] = [
  { term: "its own code", summary: "the command ran, and the lock was held to its end" },
  { term: "75", summary: "the lock is held, and -n was given (or the code of -E)" },
  {
    term: "120",
    summary: "the lock was lost or could no longer be proved: the command was stopped",
  },
  { term: "121", summary: "the lock was revoked: the command was stopped" },
  { term: "122", summary: "held for the whole --max-hold: the command was stopped" },
  { term: "123", summary: "ZooKeeper unreachable or not permitted: the command never started" },
  { term: "124", summary: "the time of -w passed (or the code of -E)" },
  {
    term: "125",
    summary:
      "usage, another semaphore limit, a lock inside the same lock, or no command and no stdin",
  },
  {
    term: "126, 127",
    summary: "the command is not executable, or not found; checked before queuing",
  },
  { term: "128+S", summary: "signal S ended the command, or zksh while it waited" },
];

const LOCK_VARIABLES: readonly HelpRow[] = [
  {
    term: "ZK_LOCK_PATH, ZK_LOCK_NODE",
    summary: "the path of the lock, and the ticket of this holder",
  },
  { term: "ZK_LOCK_TOKEN", summary: "the fencing token: each later holder has a higher one" },
  { term: "ZK_LOCK_SEQUENCER", summary: "the argument of fence check" },
  {
    term: "ZK_LOCK_MODE, _SESSION",
    summary: "exclusive, read, write, semaphore or leader; the session id",
  },
  {
    term: "ZK_LOCK_TIMEOUT_MS, _WAITED_MS",
    summary: "the session timeout; the time in the queue",
  },
  {
    term: "ZK_LOCK_HELD",
    summary:
      "all locks held around the command, one per line, with tabs: path, token, mode, znode, " +
      "session",
  },
  {
    term: "ZKSH_SERVER, _TIMEOUT, _TLS, …",
    summary:
      "the connection options that were given, so that a zksh in the command uses the same servers",
  },
];

/** README.md has the same lines, and a test runs them. */
export const COPROCESS: readonly HelpRow[] = [
  {
    term: "coproc LOCK { exec zksh lock /deploy; }",
    summary: "stdin of zksh is a pipe from the script",
  },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: bash reads it.
  { term: "pid=$LOCK_PID out=${LOCK[0]} in=${LOCK[1]}", summary: "" },
  { term: 'if read -r line <&"$out"; then', summary: "zksh prints a line when the lock is held" },
  { term: "  ./deploy.sh", summary: "" },
  { term: "fi", summary: "" },
  { term: "exec {in}>&-", summary: "the end of stdin releases the lock" },
  { term: 'wait "$pid"', summary: "0: held to the end; others: see below" },
];

function sharedOptionRows(options: Readonly<Record<string, Option<unknown>>>): HelpRow[] {
  return Object.entries(options).map(([key, option]) => ({
    term: optionTerm(key, option),
    summary: option.summary,
  }));
}

export const lockTopic: Topic = {
  name: "locks",
  summary: "options, variables and exit codes of lock, rwlock, sem and elect",
  sections: () => [
    {
      text:
        "The command of a lost lock is stopped before ZooKeeper can grant the lock to another " +
        "client: it gets SIGTERM while " +
        "the lock is still provably held, and SIGKILL after the grace. If its ticket is deleted " +
        "(delete, revoke --force), the " +
        "next waiter holds the lock at once, so the command gets SIGKILL without a grace, " +
        "unless --on-lost term is given. A " +
        "machine that was paused can still be late: let the resource that the command changes " +
        "check the token. With open ACLs " +
        "every client can delete a ticket and so stop the command; --acl, --path-acl and an " +
        "identity (--auth-file) prevent that.",
    },
    {
      title: "Limits",
      text:
        "zksh cannot stop a command that runs as another user (sudo, setuid): use sudo zksh " +
        "lock /x -- COMMAND. It does not stop " +
        "processes that the command starts in their own session (setsid) or elsewhere (ssh, " +
        "docker run). If zksh and its " +
        "watchdog are killed (-9) at the same " +
        "moment, the command gets SIGTERM, or SIGKILL with --on-lost kill. docs/lock-safety.md " +
        "lists all limits.",
    },
    {
      title: "In a script",
      text: "It is best to run the whole script under the lock, with this first line:",
      rows: [
        {
          term: '[ "$ZK_LOCK_PATH" = /deploy ] || exec zksh lock /deploy -- "$0" "$@"',
          summary: "",
        },
      ],
    },
    {
      text:
        "Without a command the lock is held until stdin ends. If stdin has ended already (cron, " +
        "</dev/null, a job behind &), " +
        "zksh ends with 125, because nothing would be locked. It needs a pipe that the script " +
        "keeps open: in bash a coprocess, " +
        "in sh two named pipes (README.md). zksh does not stop such a script when the lock is " +
        "lost; wait returns the exit code.",
      rows: COPROCESS,
    },
    { title: "Options", rows: sharedOptionRows(sharedOptions) },
    {
      title: "Progress",
      text:
        "On a terminal zksh prints each step of the recipe to stderr; in a pipe it does so with " +
        "-v, and with --json as events. -q " +
        "prints only warnings. --explain adds the ZooKeeper operation of each step and its reason.",
    },
    { title: "Environment of the command", rows: LOCK_VARIABLES },
    { title: "Exit codes", rows: LOCK_EXIT_CODES },
  ],
};
