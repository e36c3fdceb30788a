/** What is said of quotas. */

import type { QuotaNumbers } from "../session/quota.ts";

/** A quota and what is used of it; `usage` is left out where the server keeps none. */
export interface QuotaResult {
  readonly kind: "quota";
  readonly path: string;
  readonly limits: QuotaNumbers;
  readonly usage?: QuotaNumbers;
}

export interface QuotaChangedResult {
  readonly kind: "quota-changed";
  readonly path: string;
  readonly limits: QuotaNumbers;
  readonly usage: QuotaNumbers;
  /** What the new limits are below already. */
  readonly exceeded: readonly ("count" | "bytes")[];
}

interface QuotaDeletedResult {
  readonly kind: "quota-deleted";
  readonly path: string;
}

export type QuotasResult = QuotaResult | QuotaChangedResult | QuotaDeletedResult;
