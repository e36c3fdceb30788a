/**
 * Quotas as they are stored: text in two znodes below /zookeeper/quota, written by clients, counted
 * by servers.
 */
import { joinPath } from "./path.ts";
import { QUOTA_ROOT } from "./system-path.ts";

/**
 * -1 is no limit. The hard limits are left out where the text has none: clients before 3.7 wrote
 * it.
 */
export interface QuotaNumbers {
  readonly count: bigint;
  readonly bytes: bigint;
  readonly countHardLimit?: bigint;
  readonly byteHardLimit?: bigint;
}
export type QuotaKey = keyof QuotaNumbers;

/** Where the quota of a znode is kept. */
export function quotaPath(path: string): string {
  return path === "/" ? QUOTA_ROOT : QUOTA_ROOT + path;
}

export function limitsPath(path: string): string {
  return joinPath(quotaPath(path), "zookeeper_limits");
}

export function usagePath(path: string): string {
  return joinPath(quotaPath(path), "zookeeper_stats");
}

/**
 * Reads `count=2,bytes=-1` and `count=2,bytes=-1=;byteHardLimit=5;countHardLimit=-1`. What is not
 * there is -1.
 */
export function parseQuota(data: Buffer | null): QuotaNumbers {
  const found: Partial<Record<string, bigint>> = {};
  for (const part of (data?.toString() ?? "").split(/[,;]+/)) {
    const [key = "", value = ""] = part.split("=");
    found[key.trim()] = /^-?\d+$/.test(value.trim()) ? BigInt(value) : -1n;
  }
  const { count = -1n, bytes = -1n, countHardLimit, byteHardLimit } = found;
  return {
    count,
    bytes,
    ...(countHardLimit !== undefined && { countHardLimit }),
    ...(byteHardLimit !== undefined && { byteHardLimit }),
  };
}

/**
 * The stray `=` behind the bytes is what lets clients before 3.7 read a text that has hard limits.
 */
export function formatQuota({ count, bytes, countHardLimit, byteHardLimit }: QuotaNumbers): string {
  const hard = [
    byteHardLimit === undefined ? "" : `;byteHardLimit=${byteHardLimit}`,
    countHardLimit === undefined ? "" : `;countHardLimit=${countHardLimit}`,
  ].join("");
  return `count=${count},bytes=${bytes}${hard === "" ? "" : `=${hard}`}`;
}
