import { ErrorCode } from "../wire/protocol.ts";

/** The server's no to one request. Not an Error: nobody looks at its stack, and taking one costs more than the request. */
export class Refusal {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

export function refuse(reason: keyof typeof ErrorCode): never {
  throw new Refusal(ErrorCode[reason]);
}
