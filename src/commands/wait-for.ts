import { limitWait } from "../async/limit-wait.ts";
import { DeadlineError, UsageError } from "../errors.ts";
import { type Condition, waitForZnode } from "../recipes/watching/wait-for-znode.ts";
import { formatDuration } from "../text/duration.ts";
import { duration, option, optional, required, word, znodePath } from "./arguments.ts";
import { offering } from "./choices.ts";
import { defineCommand } from "./command.ts";
import { nextSession } from "./next-session.ts";

const KINDS: readonly Condition["kind"][] = ["exists", "gone", "value", "children"];

const conditionKind = offering<Condition["kind"]>(KINDS, (text) => {
  const kind = KINDS.find((one) => one === text);
  if (kind !== undefined) return kind;
  throw new UsageError(`unknown condition '${text}'`, {
    hint: "use exists, gone, value TEXT or children N",
  });
});

export const waitFor = defineCommand({
  details:
    "wait-for sets a watch and compares again when it fires; it goes on after reconnects. value " +
    "compares the exact bytes " +
    "of the data with TEXT.",
  examples: [
    "wait-for /app/config exists",
    "wait-for /deploy gone -w 5m",
    "wait-for /app/config value ready -w 30s",
    "wait-for /app/old children 0",
  ],
  effect: "read",
  args: {
    path: required(znodePath, "the znode; it need not exist"),
    condition: required(conditionKind, "exists, gone, value or children"),
    operand: optional(word, "the text of value, or the number of children"),
  },
  options: {
    wait: option("-w", "dur", duration, "wait at most this long, then end with exit code 7"),
  },
  async run(context, { path, condition: kind, operand }, { wait }) {
    const condition = conditionOf(kind, operand);
    const limited = limitWait(context.signal, wait, () => tooLate(path, condition, wait ?? 0));
    const { signal } = limited;
    try {
      await waitForZnode(path, condition, { signal, session: nextSession(context) });
    } catch (error) {
      // The pending wait throws its own abort error; the reason for the abort says more.
      throw signal.aborted ? signal.reason : error;
    } finally {
      limited.end();
    }
    return { kind: "waited", path, condition };
  },
});

function conditionOf(kind: Condition["kind"], operand: string | undefined): Condition {
  if (kind === "exists" || kind === "gone") {
    if (operand === undefined) return { kind };
    throw new UsageError(`${kind} takes no value, got '${operand}'`);
  }
  if (kind === "value") {
    if (operand !== undefined) return { kind, text: operand };
    throw new UsageError("value needs a text", { hint: "wait-for PATH value TEXT" });
  }
  if (operand !== undefined && /^\d{1,9}$/.test(operand)) return { kind, count: Number(operand) };
  const message = operand === undefined ? "children needs a number" : `bad number '${operand}'`;
  throw new UsageError(message, { hint: "wait-for PATH children N, where N is 0 or more" });
}

function tooLate(path: string, condition: Condition, ms: number): DeadlineError {
  const state = {
    exists: "does not exist",
    gone: "still exists",
    value: "does not have this value",
    children: "does not have this number of children",
  }[condition.kind];
  return new DeadlineError(`gave up after ${formatDuration(ms)}: ${path} ${state}`, { path });
}
