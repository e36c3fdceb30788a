/** What is said of the servers one by one. */
import type { ZkshError } from "../errors.ts";

/** The answer of one server to a four-letter word. */
export interface WordAnswerResult {
  readonly kind: "word-answer";
  readonly server: string;
  readonly word: string;
  readonly bytes: Buffer;
  readonly timeMs: number;
  /** Several servers were asked. */
  readonly isOneOfMany: boolean;
}

/** One server of several that did not answer, or refused; the others go on. */
interface ServerFailedResult {
  readonly kind: "server-failed";
  readonly server: string;
  readonly error: ZkshError;
}

export type ServerResult = WordAnswerResult | ServerFailedResult;
