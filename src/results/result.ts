/**
 * Everything a command can say. Fields are values of the domain, never formatted text: renderers do
 * the formatting.
 */

import type { AccessResult } from "./access.ts";
import type { DoctorResult } from "./doctor.ts";
import type { HelpPageResult } from "./help.ts";
import type { LockReportResult } from "./lock-reports.ts";
import type { LockResult } from "./locks.ts";
import type { QuotasResult } from "./quotas.ts";
import type { ServerResult } from "./servers.ts";
import type { ShellResult } from "./shell.ts";
import type { TransactionResult } from "./transactions.ts";
import type { TreeResult } from "./trees.ts";
import type { WatchResult } from "./watches.ts";
import type { ZnodeResult } from "./znodes.ts";

export type Result =
  | ZnodeResult
  | TreeResult
  | TransactionResult
  | AccessResult
  | DoctorResult
  | QuotasResult
  | LockResult
  | LockReportResult
  | WatchResult
  | ServerResult
  | HelpPageResult
  | ShellResult;

/** The result of one kind; renderers are maps from every kind to a function of its result. */
export type ResultOf<Kind extends Result["kind"]> = Extract<Result, { readonly kind: Kind }>;

/**
 * What a command wants of the shell instead of showing something: to end, an empty screen, or an
 * earlier line again.
 */
export type Control =
  | { readonly kind: "exit" }
  | { readonly kind: "clear" }
  | { readonly kind: "again"; readonly line: string };

export function isControl(output: Result | Control): output is Control {
  return output.kind === "exit" || output.kind === "clear" || output.kind === "again";
}
