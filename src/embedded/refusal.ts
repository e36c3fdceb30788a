import { ErrorCode } from "../wire/protocol.ts";
import type { Body } from "./handler.ts";

/**
 * The refusal of one request. Not an Error: its stack is never read, and recording a stack costs
 * more than the request.
 */
export class Refusal {
  readonly code: number;
  /** A body for the error reply; most have none. */
  readonly body: Body | undefined;

  constructor(code: number, body?: Body) {
    this.code = code;
    this.body = body;
  }
}

export function refuse(reason: keyof typeof ErrorCode): never {
  throw new Refusal(ErrorCode[reason]);
}
