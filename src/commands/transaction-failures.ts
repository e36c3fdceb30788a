/** Names the line of a transaction that failed. */
import {
  ConflictError,
  NoNodeError,
  OperationError,
  PermissionError,
  RefusedError,
  UsageError,
  ZkshError,
} from "../errors.ts";
import { parentPath } from "../session/path.ts";
import type { MultiOp } from "../session/session.ts";
import { quoteWord } from "../text/quote-word.ts";
import { formatSize } from "../text/size.ts";
import type { TransactionLine } from "./transaction-lines.ts";

/** A command that shows whether the transaction was carried out. */
export function waysToLook(ops: readonly MultiOp[]): string | undefined {
  const telling =
    ops.find((op) => op.op === "create" && !/sequential/i.test(op.mode ?? "")) ??
    ops.find(({ op }) => op !== "check");
  if (telling === undefined) return undefined;
  const isSequential = telling.op === "create" && /sequential/i.test(telling.mode ?? "");
  const look = isSequential
    ? `ls ${quoteWord(parentPath(telling.path))}`
    : `${telling.op === "setData" ? "stat" : "exists"} ${quoteWord(telling.path)}`;
  return `it was carried out as a whole or not at all, and is not repeated; look with: ${look}`;
}

/** The error with the line that it is about. The class, and so the exit code, stays. */
export function explained(
  error: unknown,
  lines: readonly TransactionLine[],
  index: number | undefined,
): unknown {
  if (error instanceof UsageError && error.reason === "request-too-large")
    return tooLarge(error, lines);
  if (!(error instanceof ZkshError) || index === undefined) return error;
  const places = lines.flatMap((line) => line.ops.map((op) => ({ line, op })));
  const place = places[index];
  const Family = FAMILIES.find((one) => error instanceof one);
  if (place === undefined || Family === undefined) return error;
  const hint = hintFor(error, place.op);
  return new Family(
    error.reason,
    `nothing was done: ${place.line.name}: ${says(error, place.op)}`,
    {
      opIndex: index,
      cause: error,
      ...(error.code !== undefined && { code: error.code }),
      ...(error.path !== undefined && { path: error.path }),
      ...(hint !== undefined && { hint }),
    },
  );
}

type Family = typeof NoNodeError | typeof OperationError;

const FAMILIES: readonly Family[] = [
  NoNodeError,
  PermissionError,
  ConflictError,
  OperationError,
  RefusedError,
];

function says(error: ZkshError, op: MultiOp): string {
  const expected = "version" in op ? op.version : undefined;
  if (error.reason === "bad-version" && expected !== undefined)
    return `${op.path} is not at version ${expected} (BadVersion)`;
  if (error.reason === "no-node" && op.op === "create")
    return `its parent ${parentPath(op.path)} does not exist (NoNode)`;
  if (error.reason === "bad-arguments" && op.path === "/") return `/ cannot be ${DONE[op.op]}`;
  return error.message;
}

const DONE = { create: "created", setData: "changed", delete: "deleted", check: "checked" };

function hintFor(error: ZkshError, op: MultiOp): string | undefined {
  if (error.reason === "no-node" && op.op === "create")
    return `a line before it can create the parent: create ${quoteWord(parentPath(op.path))}`;
  return error.hint;
}

/** A request that the session refused to send. */
function tooLarge(error: UsageError, lines: readonly TransactionLine[]): UsageError {
  const sizes = lines.map(({ name, ops }) => ({ name, bytes: sum(ops.map(lengthOf)) }));
  const largest = sizes.toSorted((a, b) => b.bytes - a.bytes)[0];
  const named = largest === undefined ? "" : `; the largest is ${largest.name}: `;
  const size = largest === undefined ? "" : formatSize(largest.bytes);
  return new UsageError(`nothing was sent: ${error.message}`, {
    reason: error.reason,
    cause: error,
    hint: `${lines.length} lines are one request${named}${size}`,
  });
}

function lengthOf(op: MultiOp): number {
  const data = "data" in op ? (op.data?.length ?? 0) : 0;
  return data + Buffer.byteLength(op.path);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
