import { UsageError } from "../errors.ts";
import { longName } from "./usage.ts";

/**
 * For a line of `txn`: throws UsageError if one of these options is given, which need requests of
 * their own.
 */
export function refuseInTransaction(
  command: string,
  options: Readonly<Record<string, unknown>>,
  refused: readonly string[],
): void {
  const given = refused.find((key) => options[key] === true);
  if (given === undefined) return;
  const hint =
    given === "parents"
      ? "write a create line for each parent"
      : given === "fenced"
        ? "give it to the whole transaction: txn --fenced"
        : undefined;
  throw new UsageError(`${command} ${longName(given)} is not possible in a transaction`, {
    ...(hint !== undefined && { hint }),
  });
}
