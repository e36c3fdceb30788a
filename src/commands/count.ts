import { UsageError } from "../errors.ts";
import type { ValueParser } from "./arguments.ts";

/** How often something is done: a whole number from 1 on. */
export const count: ValueParser<number> = (text) => {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new UsageError(`bad count '${text}'`, { hint: "use a whole number from 1 on" });
};
