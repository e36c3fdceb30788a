import { ErrorCode } from "../wire/protocol.ts";
import type { Body } from "./handler.ts";

/**
 * The server refuses one request. Not an Error: its stack is never read, and taking one costs
 * more than the request.
 */
export class Refusal {
  readonly code: number;
  /** Follows the error; hardly ever there. */
  readonly body: Body | undefined;

  constructor(code: number, body?: Body) {
    this.code = code;
    this.body = body;
  }
}

export function refuse(reason: keyof typeof ErrorCode): never {
  throw new Refusal(ErrorCode[reason]);
}
