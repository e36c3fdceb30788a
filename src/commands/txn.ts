import { refusedIndex, transact, tryTransaction } from "../recipes/transaction.ts";
import type { TransactionStep } from "../results/transactions.ts";
import type { MultiOp, MultiResult } from "../session/session.ts";
import { flag, option, rest } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { fencedFlag, fencingTickets } from "./fenced.ts";
import { explained, waysToLook } from "./transaction-failures.ts";
import {
  type TransactionLine,
  transactionFile,
  transactionLine,
  transactionLines,
} from "./transaction-lines.ts";

export const txn = defineCommand({
  details:
    "Each line is create, set, delete or check PATH [VERSION], quoted as one word; a file has one " +
    "line each, with # comments. The error names the line that ZooKeeper refuses, with its exit " +
    "code. In a pipe txn prints the operation, the path and the new version of each line, " +
    "separated by tabs. --dry-run sends the lines with a check that cannot succeed, so that the " +
    "server checks them all and changes nothing.",
  examples: [
    "txn 'create /app/new 1' 'set -v 3 /app/config on' 'delete /app/old'",
    "txn 'check /app/config 3' 'create -s /app/job- x'",
    "txn --dry-run --file release.zk",
  ],
  effect: "write",
  args: { lines: rest(transactionLine, "one operation each; - reads lines from stdin") },
  options: {
    file: option("", "file", transactionFile, "read the lines from this file"),
    dryRun: flag("", "ask the server whether it would work, and change nothing"),
    fenced: fencedFlag,
  },
  async run(context, { lines: groups }, { file, dryRun, fenced }) {
    const lines = await transactionLines(file === undefined ? groups : [...groups, file]);
    const ops = lines.flatMap((line) => line.ops);
    const tickets = fenced ? fencingTickets(context) : [];
    const options = { signal: context.signal, tickets };
    try {
      if (dryRun) {
        await tryTransaction(context.session(), ops, options);
        return { kind: "transaction", isDryRun: true, isShortLived: false, steps: steps(lines) };
      }
      const howToLook = waysToLook(ops);
      const done = await transact(context.session(), ops, { ...options, howToLook });
      const isShortLived = context.shell.isOneShot && ops.some(isEphemeral);
      return {
        kind: "transaction",
        isDryRun: false,
        isShortLived,
        zxid: done.zxid,
        steps: steps(lines, done.results),
      };
    } catch (error) {
      throw explained(error, lines, refusedIndex(error, options));
    }
  },
});

function steps(lines: readonly TransactionLine[], results: readonly MultiResult[] = []) {
  let next = 0;
  return lines.flatMap(({ number, ops, withStat }) =>
    ops.map((op): TransactionStep => {
      const result = results[next++];
      const path = result?.op === "create" ? result.path : op.path;
      const stat = result && "stat" in result ? result.stat : undefined;
      return { line: number, op: OPERATIONS[op.op], path, withStat, ...(stat && { stat }) };
    }),
  );
}

const OPERATIONS = { create: "create", setData: "set", delete: "delete", check: "check" } as const;

function isEphemeral(op: MultiOp): boolean {
  return op.op === "create" && (op.mode ?? "").startsWith("ephemeral");
}
