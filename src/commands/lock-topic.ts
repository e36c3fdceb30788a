/** `help locks`: what the commands that run a program under a lock have in common. */
import type { HelpRow } from "../results/help.ts";
import type { Option } from "./arguments.ts";
import type { Topic } from "./help-topics.ts";
import { sharedOptions } from "./under-lock/options.ts";
import { optionTerm } from "./usage.ts";

const LOCK_EXIT_CODES: readonly HelpRow[] = [
  { term: "its own code", summary: "the command ran, and the lock was held to the end" },
  { term: "75", summary: "busy, with -n (or the code given with -E)" },
  { term: "120", summary: "lost, or no longer provably held: the command was stopped" },
  { term: "121", summary: "revoked: the command was stopped" },
  { term: "123", summary: "no ZooKeeper, or not permitted: the command never started" },
  { term: "124", summary: "waited as long as -w says (or the code given with -E)" },
  { term: "125", summary: "usage, another limit, a lock inside the same lock" },
  { term: "126, 127", summary: "the command cannot be run, or does not exist; found out before queuing" },
  { term: "128+S", summary: "the command, or zksh while it waited, was ended by signal S" },
];

const LOCK_VARIABLES: readonly HelpRow[] = [
  { term: "ZK_LOCK_PATH, ZK_LOCK_NODE", summary: "what is locked, and our znode there" },
  { term: "ZK_LOCK_TOKEN", summary: "the fencing token: higher for every later holder" },
  { term: "ZK_LOCK_SEQUENCER", summary: "for fence check" },
  { term: "ZK_LOCK_MODE, _SESSION", summary: "exclusive, read, write, semaphore or leader; the session id" },
  { term: "ZK_LOCK_TIMEOUT_MS, _WAITED_MS", summary: "the session timeout; how long it has queued" },
  {
    term: "ZK_LOCK_HELD",
    summary: "all that is held around the command, a line each, with tabs: path, token, mode, znode, session",
  },
  {
    term: "ZKSH_SERVER, _TIMEOUT, _TLS, …",
    summary: "where the lock is, and how to connect, as given by options: a zksh in the command needs none",
  },
];

function sharedOptionRows(options: Readonly<Record<string, Option<unknown>>>): HelpRow[] {
  return Object.entries(options).map(([key, option]) => ({ term: optionTerm(key, option), summary: option.summary }));
}

export const lockTopic: Topic = {
  name: "locks",
  summary: "a command under a lock: options, variables, codes",
  sections: () => [
    {
      text:
        "For lock, rwlock, sem and elect. The command is stopped before ZooKeeper can give a lost lock to anybody else: " +
        "SIGTERM while the lock is still provably held, SIGKILL after the grace. A paused machine can still be late: " +
        "let whatever the command changes check the token.",
    },
    { title: "Options", rows: sharedOptionRows(sharedOptions) },
    { title: "In the command's environment", rows: LOCK_VARIABLES },
    { title: "Exit codes", rows: LOCK_EXIT_CODES },
  ],
};
