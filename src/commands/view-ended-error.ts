import { InterruptedError } from "../errors.ts";

/**
 * A live view was left with Ctrl-C, which is its usual end: there is nothing to say to a person.
 */
export class ViewEndedError extends InterruptedError {
  constructor(cause: unknown) {
    super(undefined, { cause });
  }
}
