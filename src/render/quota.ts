import type { QuotaChangedResult, QuotaResult } from "../results/quotas.ts";
import { formatQuota, limitsPath, type QuotaNumbers } from "../session/quota.ts";
import type { Rendered } from "./renderer.ts";

/** `znodes: 4 used, limit 5, hard limit none`, and the same for bytes. */
export function textQuota({ limits, usage }: QuotaResult): string {
  const line = (what: string, used: bigint | undefined, soft: bigint, hard: bigint | undefined) =>
    `${what}: ${used ?? "unknown"} used, limit ${limit(soft)}, hard limit ${limit(hard)}\n`;
  return (
    line("znodes", usage?.count, limits.count, limits.countHardLimit) +
    line("bytes", usage?.bytes, limits.bytes, limits.byteHardLimit)
  );
}

/** One line for each kind of limit that is below what is used already. */
export function quotaWarnings({ exceeded, usage }: QuotaChangedResult): string {
  return exceeded
    .map(
      (kind) =>
        `[Warning]: the ${kind} quota you create is less than the existing ${kind}:${usage[kind]}\n`,
    )
    .join("");
}

export function zkcliQuota(
  { path: of, limits, usage }: QuotaResult,
  name: (text: string) => string,
): Rendered {
  const path = name(of);
  const stat = usage === undefined ? "" : `Output stat for ${path} ${formatQuota(usage)}\n`;
  return {
    out: `Output quota for ${path} ${formatQuota(limits)}\n${stat}`,
    err: `absolute path is ${name(limitsPath(of))}\n`,
  };
}

/** `null` is no limit. */
export function jsonQuota({ count, bytes, countHardLimit, byteHardLimit }: QuotaNumbers): object {
  return {
    count: jsonLimit(count),
    bytes: jsonLimit(bytes),
    countHardLimit: jsonLimit(countHardLimit),
    byteHardLimit: jsonLimit(byteHardLimit),
  };
}

/** The statistics of use have no hard limits. */
export function jsonUsage({ count, bytes }: QuotaNumbers): object {
  return { count: Number(count), bytes: Number(bytes) };
}

function jsonLimit(value = -1n): number | null {
  return value < 0n ? null : Number(value);
}

function limit(value = -1n): string {
  return value < 0n ? "none" : String(value);
}
