/** What can go wrong around a command under a lock, and the test that shows what then happens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

type Shown = readonly [file: string, title: string];

interface FailureMode {
  readonly row: number;
  readonly what: string;
  readonly shown?: readonly Shown[];
  /** Where there is no test, or where less is offered than one could wish for. */
  readonly reason?: string;
}

const [CHILD, END, WAITING, LOST, ENSEMBLE, TERMINAL, SIBLINGS] = [
  "e2e/lock-child.integration",
  "e2e/lock-end.integration",
  "e2e/lock-waiting.integration",
  "e2e/lock-lost.integration",
  "e2e/lock-ensemble.integration",
  "e2e/lock-terminal.integration",
  "e2e/rwlock-sem-elect.integration",
] as const;

const modes: readonly FailureMode[] = [
  {
    row: 1,
    what: "the session expires while the program runs",
    shown: [
      [
        LOST,
        "a command whose zksh is cut off gets TERM, then KILL before another holder gets the lock",
      ],
      [ENSEMBLE, "$part: stopped before another holder gets the lock"],
    ],
  },
  {
    row: 2,
    what: "suspended: the session may live",
    shown: [
      [LOST, "2 s in which $how: the program hears nothing of it"],
      [
        LOST,
        "--on-suspend stop freezes the program while no server answers, then lets it continue",
      ],
      [LOST, "--on-suspend term ends the program as soon as no server answers"],
    ],
  },
  {
    row: 3,
    what: "nobody tells the client of the expiry",
    shown: [
      [
        LOST,
        "a command that ends on TERM after the cut ends long before the lease, and the exit code is 120",
      ],
      [
        "session/ensemble-expiry.integration",
        "when the follower is cut off from the leader and goes on answering",
      ],
    ],
  },
  {
    row: 4,
    what: "somebody deletes the ticket",
    shown: [[END, "120 when the ticket is deleted, and nothing but SIGKILL"]],
  },
  {
    row: 5,
    what: "a shell in between takes the signal",
    shown: [
      [
        END,
        "a holder that gets a revoke request in the form that is $how ends with 121, and its processes with it",
      ],
    ],
  },
  {
    row: 6,
    what: "HUP, QUIT, USR1 to zksh",
    shown: [[CHILD, "signals to zksh reach the program, and its exit code becomes ours"]],
  },
  { row: 7, what: "zksh is killed", shown: [[LOST, "zksh is $how"]] },
  {
    row: 8,
    what: "the lock is released before the program is dead",
    shown: [[END, "ends all processes first, then the ticket, then the session"]],
  },
  {
    row: 9,
    what: "a signal while waiting",
    shown: [
      [WAITING, "$signal while queued: $code at once, and no ticket stays"],
      [
        TERMINAL,
        "a status line names the holder during the wait, then the lock, before the program writes; Ctrl-C ends the wait",
      ],
    ],
  },
  {
    row: 10,
    what: "a signal between the lock and the start",
    shown: [[CHILD, "a signal between the lock and the start prevents the start"]],
  },
  {
    row: 11,
    what: "the reply to the create is lost",
    shown: [
      [WAITING, "a ticket whose reply was lost is found again: one contender, and it is served"],
    ],
  },
  {
    row: 12,
    what: "-n or -w leaves a ticket behind",
    shown: [[WAITING, "$words on a lock that is held: code $code, and the holder named"]],
  },
  {
    row: 13,
    what: "the session expires while queued",
    shown: [
      [
        WAITING,
        "a session that expires while queued: zksh queues again, says so, and gets the lock in the end",
      ],
    ],
    reason: "there is no option that would rather fail than queue again",
  },
  {
    row: 14,
    what: "the program fails, and the next host must not go on",
    reason: "--hold-on-failure is not offered",
  },
  {
    row: 15,
    what: "a job so short that another host runs it again",
    shown: [[END, "waits for --min-hold"]],
  },
  {
    row: 16,
    what: "no such command, after an hour",
    shown: [[CHILD, "$code before anything is queued: $how"]],
  },
  {
    row: 17,
    what: "a lock inside the same lock",
    shown: [
      [
        CHILD,
        "a lock inside the same lock exits with 125, and with --reentrant it runs under the outer one",
      ],
      [LOST, "what runs under $what inside the lock goes with the outer one"],
    ],
  },
  {
    row: 18,
    what: "two locks in opposite orders",
    shown: [[SIBLINGS, "two locks in opposite orders do not wait for each other"]],
  },
  {
    row: 19,
    what: "two ideas of a semaphore's limit",
    shown: [
      [
        SIBLINGS,
        "sem runs as many commands as there are permits, and exits with 125 for another limit",
      ],
    ],
  },
  {
    row: 20,
    what: "a lock and a semaphore on one path",
    shown: [[SIBLINGS, "a lock on the path of $what warns that neither respects the other"]],
    reason:
      "the lock warns and goes on; the semaphore, which looks only at its own folders, says nothing",
  },
  {
    row: 21,
    what: "who holds it?",
    shown: [
      [WAITING, "$words on a lock that is held: code $code, and the holder named"],
      ["commands/whoholds.integration", "--json has everything, ids and tokens as strings"],
    ],
  },
  {
    row: 22,
    what: "the holder is a Curator or kazoo program",
    shown: [
      [
        "recipes/locks/inspect/inspect-lock.integration",
        "is read from a real kazoo lock, and a real Curator mutex behind another",
      ],
      [
        "peers/lock.integration",
        "zksh and Curator exclude each other, in the order of their tickets",
      ],
    ],
  },
  {
    row: 23,
    what: "the session lives, the process hangs",
    shown: [
      [
        "commands/revoke.integration",
        "--wait ends with 7 when it is not; with --force it is then taken away",
      ],
    ],
  },
  {
    row: 24,
    what: "a request to give way erases what the holder has written",
    shown: [["commands/revoke.integration", "adds a request to our record"]],
  },
  {
    row: 25,
    what: "a pause longer than the session",
    shown: [
      [LOST, "zksh is $how"],
      [LOST, "a zksh that is frozen between the lock and the start does not start the program"],
    ],
    reason: "a pause of the whole machine cannot be made here; the fencing token is for that",
  },
  {
    row: 26,
    what: "Ctrl-Z stops the heartbeats",
    shown: [
      [TERMINAL, "Ctrl-Z says how long the lock will be held"],
      [
        "processes/guarded-terminal.integration",
        "Ctrl-Z stops the program and us, fg lets both go on",
      ],
      [
        "processes/guarded-signals.embedded",
        "SIGCONT does not continue a program whose lease has ended",
      ],
    ],
  },
  {
    row: 27,
    what: "the terminal stays raw",
    shown: [
      [
        "processes/guarded-terminal.integration",
        "a terminal is as it was after a program that $how",
      ],
    ],
  },
  {
    row: 28,
    what: "stdout is mixed with ours",
    shown: [[CHILD, "stdout and stderr of the program pass through unchanged, byte for byte"]],
  },
  {
    row: 29,
    what: "secrets in the holder's record",
    shown: [[CHILD, "the ticket names the program, never its arguments"]],
  },
  {
    row: 30,
    what: "an exit code that could mean anything",
    shown: [[END, "held 0, busy 75, timeout 124, interrupted 143"]],
  },
  {
    row: 31,
    what: "the link is down at the release",
    shown: [
      [
        LOST,
        "a release without a connection: the program's exit code, a warning, and the session's expiry deletes the ticket",
      ],
    ],
  },
  {
    row: 32,
    what: "a read-only server",
    shown: [
      [
        SIBLINGS,
        "a read-only session is refused, and a session timeout that was not granted is told",
      ],
    ],
    reason: "without --read-only the session asks for servers that take writes",
  },
  {
    row: 33,
    what: "the sequence numbers end, or begin again",
    shown: [
      [WAITING, "tokens grow from holder to holder, also when the path was deleted in between"],
      ["recipes/locks/queue/sequence.embedded", "a number that another ticket has too is refused"],
    ],
  },
  {
    row: 34,
    what: "clocks at different rates, very short timeouts",
    shown: [
      [CHILD, "$code before anything is queued: $how"],
      [
        SIBLINGS,
        "a read-only session is refused, and a session timeout that was not granted is told",
      ],
    ],
    reason:
      "clocks cannot be made to run at different rates here; the session keeps a margin of 5 %",
  },
];

test("every failure mode has a test, or a reason why not", () => {
  expect(modes.map(({ row }) => row)).toEqual(Array.from({ length: 34 }, (_, index) => index + 1));
  const unshown = modes.filter(({ shown, reason }) => !shown && !reason).map(({ row }) => row);
  expect(unshown).toEqual([]);
  const isThere = ([file, title]: Shown) =>
    readFileSync(join(import.meta.dirname, "..", `${file}.test.ts`), "utf8").includes(`"${title}"`);
  const missing = modes.flatMap(({ shown = [] }) => shown.filter((one) => !isThere(one)));
  expect(missing).toEqual([]);
});
