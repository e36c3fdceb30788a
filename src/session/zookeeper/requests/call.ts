import { startTimer } from "../../../async/timer.ts";
import {
  ConnectionError,
  DeadlineError,
  InterruptedError,
  OperationError,
  UsageError,
  type ZkshError,
} from "../../../errors.ts";
import { formatSize } from "../../../text/size.ts";
import type { JuteReader } from "../../../wire/jute.ts";
import { MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode } from "../../../wire/protocol.ts";
import type { Aborts } from "../../aborts.ts";
import type { CallOptions } from "../../session.ts";
import type { Connection } from "../connection.ts";
import { failureOf } from "./error-codes.ts";
import type { Failure, ReplyLength, Request, RequestLength } from "./request.ts";

/** jute.maxbuffer's default: servers drop the connection of a client that sends more. */
const USUAL_MAX_REQUEST = 0xfffff;

export interface Call<T> {
  readonly request: Request;
  /** What the request is about, for messages. */
  readonly path: string | undefined;
  /** The request stands for a multi of this one operation. */
  readonly opIndex: number | undefined;
  /** Reads the reply, and registers its watch, before anything that came behind it is looked at. */
  readonly read: (body: JuteReader, zxid: bigint) => T;
  /** Turns a refusal into a value where it is an answer (`exists`: no such znode). */
  readonly refused: ((code: number) => { readonly value: T } | undefined) | undefined;
  /** The caller had gone when the answer came. */
  readonly late: (() => void) | undefined;
}

/**
 * Sends a request and settles with its answer, its failure, the caller's signal or its deadline,
 * whichever comes first.
 */
export function perform<T>(
  connection: Connection,
  call: Call<T>,
  options: CallOptions = {},
): Promise<T> {
  const { signal } = options;
  const { request } = call;
  if (signal?.aborted) return Promise.reject(interrupted(signal));
  const answer = new Promise<T>((resolve, reject) => {
    connection.queue(
      request,
      (failure: Failure | null, body?: JuteReader | null, zxid?: bigint) => {
        try {
          if (failure === null) return resolve(call.read(body as JuteReader, zxid as bigint));
          const accepted = call.refused?.(failure.code);
          if (accepted !== undefined) return resolve(accepted.value);
          reject(errorOf(connection, call, failure));
        } catch (error) {
          if (!(error instanceof MalformedFrameError)) return reject(error);
          reject(
            new ConnectionError(
              "malformed-reply",
              `malformed reply from the server: ${error.message}`,
              about(call),
            ),
          );
          // The stream cannot be trusted any further: the reader of replies has to drop it.
          throw error;
        }
      },
    );
  });
  if (signal === undefined && options.timeoutMs === undefined) return answer;
  return limited(
    connection.aborts,
    answer,
    options,
    `no answer${call.path === undefined ? "" : `: ${call.path}`}`,
    () => {
      if (request.sentAt === undefined) {
        request.cancelled = true;
        return undefined;
      }
      request.abandoned = true;
      answer.then(call.late, () => {});
      return answer;
    },
  );
}

/**
 * Settles like `answer`, or earlier when the caller's signal or deadline comes first; then `giveUp`
 * may say what became of the work, for the error's `outcome`.
 */
export function limited<T>(
  aborts: Aborts,
  answer: Promise<T>,
  { signal, timeoutMs }: CallOptions,
  what: string,
  giveUp: () => Promise<T> | undefined = () => undefined,
): Promise<T> {
  if (signal === undefined && timeoutMs === undefined) return answer;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => end(interrupted(signal as AbortSignal, giveUp()));
    const onDeadline = () =>
      end(new DeadlineError(`${what} (${timeoutMs} ms)`, withOutcome(giveUp())));
    const stopTimer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, onDeadline);
    const forget = signal && aborts.on(signal, onAbort);
    const release = () => {
      stopTimer?.();
      forget?.();
    };
    const end = (error: Error) => {
      release();
      reject(error);
    };
    if (signal?.aborted) onAbort();
    answer.then((value) => {
      release();
      resolve(value);
    }, end);
  });
}

function withOutcome(outcome: Promise<unknown> | undefined): { outcome?: Promise<unknown> } {
  return outcome === undefined ? {} : { outcome };
}

function interrupted(signal: AbortSignal, outcome?: Promise<unknown>): ZkshError {
  return new InterruptedError("interrupted", { cause: signal.reason, ...withOutcome(outcome) });
}

function about<T>(call: Call<T>): { path?: string } {
  return call.path === undefined ? {} : { path: call.path };
}

function errorOf<T>(connection: Connection, call: Call<T>, failure: Failure): Error {
  const { cause, tooLong, tooLarge } = failure;
  if (tooLong) return replyTooLong(call, tooLong);
  if (tooLarge) return requestTooLarge(call, tooLarge);
  if (cause instanceof Error)
    return new UsageError(`the request cannot be encoded: ${cause.message}`, {
      ...about(call),
      cause,
    });
  const { lost } = connection;
  const { losses } = call.request;
  const sent = call.request.sentAt !== undefined || losses > 0;
  // A one-shot closes its session in the same flight: what its read met is the broken connections,
  // not the closing.
  const isLostOnTheWay = lost?.reason === "closed" && losses > 0;
  if (lost !== undefined && isSessionEnd(failure.code) && !isLostOnTheWay) {
    if (!(lost.error instanceof ConnectionError)) return lost.error;
    const { reason, message, code = ErrorCode.sessionExpired } = lost.error;
    return new ConnectionError(reason, message, { ...about(call), code, sent, cause: lost.error });
  }
  if (failure.code !== ErrorCode.connectionLoss && !isLostOnTheWay)
    return failureOf(failure.code, call.path, call.opIndex);
  if (connection.isClosing && !sent) {
    return new ConnectionError("session-closed", "the session is closed", { ...about(call), sent });
  }
  const { bytes } = call.request;
  const isOversized = bytes > USUAL_MAX_REQUEST;
  const times = losses > 1 ? ` ${losses} times` : "";
  const of = call.path === undefined ? "" : `: ${call.path}`;
  return new ConnectionError(
    "connection-loss",
    `the connection was lost${times} before the reply came${of} (ConnectionLoss)`,
    {
      ...about(call),
      code: ErrorCode.connectionLoss,
      sent,
      isOversized,
      ...(isOversized && {
        hint: `the request has ${bytes} bytes; servers refuse more than jute.maxbuffer, usually 1 MB`,
      }),
      ...(!isOversized &&
        !call.request.isIdempotent && {
          hint: "the server may have executed the request: check before you repeat it",
        }),
    },
  );
}

function requestTooLarge<T>(call: Call<T>, { bytes, limit }: RequestLength): Error {
  const of = call.path === undefined ? "" : ` for ${call.path}`;
  return new UsageError(
    `the request${of} has ${bytes} bytes, but servers accept only ${limit} (jute.maxbuffer)`,
    {
      reason: "request-too-large",
      ...about(call),
    },
  );
}

function replyTooLong<T>(call: Call<T>, { bytes, limit }: ReplyLength): Error {
  const [length, most] = [bytes, limit].map(formatSize);
  const of = call.path === undefined ? "" : ` for ${call.path}`;
  return new OperationError(
    "reply-too-long",
    `the reply${of} has ${length}, more than the limit of ${most}`,
    about(call),
  );
}

function isSessionEnd(code: number): boolean {
  return (
    code === ErrorCode.sessionExpired ||
    code === ErrorCode.connectionLoss ||
    code === ErrorCode.authFailed
  );
}
