import { UsageError } from "../errors.ts";
import type { QuotaKey } from "../session/quota.ts";
import type { ValueParser } from "./arguments.ts";

const MAX = { count: 2n ** 31n - 1n, bytes: 2n ** 63n - 1n };

/** A number of znodes: at least 1, because the znode itself counts. */
export const countLimit: ValueParser<bigint> = (text) => {
  const limit = whole(text, MAX.count);
  if (limit > 0n) return limit;
  throw new UsageError("the num quota must be greater than zero", {
    hint: "delquota removes a limit",
  });
};

/** A number of bytes. */
export const bytesLimit: ValueParser<bigint> = (text) => {
  const limit = whole(text, MAX.bytes);
  if (limit >= 0n) return limit;
  throw new UsageError("the bytes quota must be greater than or equal to zero", {
    hint: "delquota removes a limit",
  });
};

function whole(text: string, max: bigint): bigint {
  const number = /^[-+]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
  if (number !== undefined && number <= max) return number;
  throw new UsageError(`bad limit '${text}'`, {
    reason: "bad-number",
    hint: `use a whole number up to ${max}`,
  });
}

/** How zkCli spells the four limits of a quota. */
const LETTERS: Readonly<Record<QuotaKey, string>> = {
  count: "n",
  bytes: "b",
  countHardLimit: "N",
  byteHardLimit: "B",
};

/** Returns the limit that was given, if any. Throws UsageError for two: zkCli takes only one. */
export function namedLimits<T>(
  given: Readonly<Record<QuotaKey, T | undefined | false>>,
): [QuotaKey, T][] {
  const named = (Object.keys(LETTERS) as QuotaKey[]).flatMap((key): [QuotaKey, T][] => {
    const value = given[key];
    return value === undefined || value === false ? [] : [[key, value]];
  });
  const [first, second] = named.map(([key]) => LETTERS[key]);
  if (first === undefined || second === undefined) return named;
  throw new UsageError(`give one limit at a time, not both -${first} and -${second}`, {
    reason: "exclusive-options",
  });
}
