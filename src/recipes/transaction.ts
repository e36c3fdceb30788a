/** Several writes as one multi: all of them or none. */
import { randomUUID } from "node:crypto";
import { within } from "../async/within.ts";
import { ConflictError, ConnectionError, InterruptedError, ZkshError } from "../errors.ts";
import type { Committed, MultiOp, Session } from "../session/session.ts";

export interface TransactionOptions {
  readonly signal: AbortSignal;
  /** Tickets that must exist: the locks that the writes are made under. */
  readonly tickets?: readonly string[];
}

/** How long an interrupted transaction is waited for: its answer may be on the way. */
const LATE_MS = 1_000;

/**
 * Carries out all operations or none. The error of a refused operation has its index among `ops` as
 * `opIndex`. A request whose answer was lost is not repeated, because it may have been carried out:
 * the error says so, and `howToLook` is its hint.
 */
export async function transact(
  session: Session,
  ops: readonly MultiOp[],
  { howToLook, ...options }: TransactionOptions & { readonly howToLook?: string | undefined },
): Promise<Committed> {
  const { signal, tickets = [] } = options;
  try {
    const { results, zxid } = await session.multi([...checksOf(tickets), ...ops], { signal });
    return { results: results.slice(tickets.length), zxid };
  } catch (error) {
    throw withFate(lockGone(error, tickets), await fateOf(error), howToLook);
  }
}

/**
 * Asks the server whether it would carry out the operations, and changes nothing: the multi ends
 * with a check that cannot succeed, and only that check may fail. Throws what {@link transact}
 * would throw.
 */
export async function tryTransaction(
  session: Session,
  ops: readonly MultiOp[],
  { signal, tickets = [] }: TransactionOptions,
): Promise<void> {
  const impossible: MultiOp = { op: "check", path: `/zksh-dry-run-${randomUUID()}` };
  const asked = [...checksOf(tickets), ...ops];
  try {
    await session.multi([...asked, impossible], { signal });
  } catch (error) {
    if (error instanceof ZkshError && error.opIndex === asked.length) return;
    throw lockGone(error, tickets);
  }
}

/** The index of the operation that was refused, among the operations of the caller. */
export function refusedIndex(error: unknown, { tickets = [] }: Partial<TransactionOptions>) {
  if (!(error instanceof ZkshError) || error.opIndex === undefined) return undefined;
  const index = error.opIndex - tickets.length;
  return index < 0 ? undefined : index;
}

function checksOf(tickets: readonly string[]): MultiOp[] {
  return tickets.map((path) => ({ op: "check", path }));
}

function lockGone(error: unknown, tickets: readonly string[]): unknown {
  if (!(error instanceof ZkshError) || error.opIndex === undefined) return error;
  const node = tickets[error.opIndex];
  if (node === undefined) return error;
  return new ConflictError("lock-gone", `the lock ${node} is gone: nothing was written`, {
    path: node,
    hint: "its session expired, or a client deleted it",
    cause: error,
  });
}

type Fate = "done" | "refused" | "unknown";

/** Undefined for an error that leaves no doubt: the server refused, or nothing was sent. */
async function fateOf(error: unknown): Promise<Fate | undefined> {
  if (error instanceof ConnectionError) return error.sent ? "unknown" : undefined;
  if (!(error instanceof InterruptedError) || error.outcome === undefined) return undefined;
  const outcome = error.outcome.then(
    (): Fate => "done",
    async (late: unknown): Promise<Fate> => {
      const isUnclear = late instanceof InterruptedError || late instanceof ConnectionError;
      return isUnclear ? ((await fateOf(late)) ?? "refused") : "refused";
    },
  );
  return (await within(LATE_MS, outcome)) ?? "unknown";
}

const FATES: Readonly<Record<Fate, string>> = {
  done: "the transaction was carried out",
  refused: "nothing was done",
  unknown: "the transaction may have been carried out",
};

function withFate(error: unknown, fate: Fate | undefined, howToLook: string | undefined): unknown {
  if (fate === undefined) return error;
  const told = (message: string) => `${message}; ${FATES[fate]}`;
  const hint = fate === "unknown" ? howToLook : undefined;
  if (error instanceof InterruptedError) {
    const details = { cause: error, ...(hint !== undefined && { hint }) };
    return new InterruptedError(told(error.message), details);
  }
  if (!(error instanceof ConnectionError)) return error;
  const { reason, message, sent, isOversized, code, path } = error;
  const ownHint = isOversized ? error.hint : hint;
  return new ConnectionError(reason, told(message), {
    sent,
    isOversized,
    cause: error,
    ...(code !== undefined && { code }),
    ...(path !== undefined && { path }),
    ...(ownHint !== undefined && { hint: ownHint }),
  });
}
