import { UsageError } from "../errors.ts";

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Reads `65536`, `64k`, `64m`, `1g` (also `64MB`) as bytes. Throws UsageError. */
export function parseSize(text: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])i?b?|b)?$/i.exec(text) ?? [];
  if (digits === undefined) {
    throw new UsageError(`bad size '${text}'`, {
      reason: "bad-size",
      hint: "use for example 65536, 64k, 64m or 1g",
    });
  }
  return Math.round(Number(digits) * (UNITS[unit.toLowerCase()] ?? 1));
}

/** Formats a size for messages: `812 bytes`, `680 KB`, `1.5 GB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const units = ["KB", "MB", "GB"];
  let size = bytes / 1024;
  while (Math.round(size) >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return `${size < 10 ? Math.round(size * 10) / 10 : Math.round(size)} ${units[0]}`;
}
