/** What is said of transactions. */

import type { Stat } from "../session/session.ts";

/** One operation of a transaction, and what came of it. */
export interface TransactionStep {
  /** The line that it stands in, counted from 1. */
  readonly line: number;
  readonly op: "create" | "set" | "delete" | "check";
  /** The real path, with the number a sequential create was given. */
  readonly path: string;
  /** Where the server gives it. */
  readonly stat?: Stat;
  /** The line has -s, which prints the stat. */
  readonly withStat: boolean;
}

/** A transaction was carried out; with `isDryRun` it would be, and nothing was done. */
export interface TransactionResult {
  readonly kind: "transaction";
  readonly steps: readonly TransactionStep[];
  readonly isDryRun: boolean;
  readonly zxid?: bigint;
  /** It created ephemerals, and the session ends with this command. */
  readonly isShortLived: boolean;
}
