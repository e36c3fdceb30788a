import { ConnectionError, OperationError, UsageError } from "../../../errors.ts";
import { formatSize } from "../../../text/size.ts";
import { ErrorCode } from "../../../wire/protocol.ts";
import type { SessionLife } from "../lifetime/session-life.ts";
import { failureOf } from "./error-codes.ts";
import type { Failure, ReplyLength, Request, RequestLength } from "./request.ts";

/** jute.maxbuffer's default: servers drop the connection of a client that sends more. */
const USUAL_MAX_REQUEST = 0xfffff;

/** What a request is about, for messages. */
interface About {
  readonly path?: string;
  /** The request stands for a multi of this one operation. */
  readonly opIndex?: number | undefined;
}

/** What a failed request is told its caller. */
export function errorOf(
  { lost, isClosing }: Pick<SessionLife, "lost" | "isClosing">,
  request: Request,
  about: About,
  failure: Failure,
): Error {
  const { cause, tooLong, tooLarge } = failure;
  if (tooLong) return replyTooLong(about, tooLong);
  if (tooLarge) return requestTooLarge(about, tooLarge);
  if (cause instanceof Error)
    return new UsageError(`the request cannot be encoded: ${cause.message}`, {
      ...pathOf(about),
      cause,
    });
  const { losses } = request;
  const sent = request.sentAt !== undefined || losses > 0;
  // A one-shot closes its session in the same flight: what its read met is the broken connections,
  // not the closing.
  const isLostOnTheWay = lost?.reason === "closed" && losses > 0;
  if (lost !== undefined && isSessionEnd(failure.code) && !isLostOnTheWay) {
    if (!(lost.error instanceof ConnectionError)) return lost.error;
    const { reason, message, code = ErrorCode.sessionExpired, tlsProblem } = lost.error;
    return new ConnectionError(reason, message, {
      ...pathOf(about),
      code,
      sent,
      tlsProblem,
      cause: lost.error,
    });
  }
  if (failure.code !== ErrorCode.connectionLoss && !isLostOnTheWay)
    return failureOf(failure.code, about.path, about.opIndex);
  if (isClosing && !sent) {
    return new ConnectionError("session-closed", "the session is closed", {
      ...pathOf(about),
      sent,
    });
  }
  const { bytes } = request;
  const isOversized = bytes > USUAL_MAX_REQUEST;
  const times = losses > 1 ? ` ${losses} times` : "";
  const of = about.path === undefined ? "" : `: ${about.path}`;
  return new ConnectionError(
    "connection-loss",
    `the connection was lost${times} before the reply came${of} (ConnectionLoss)`,
    {
      ...pathOf(about),
      code: ErrorCode.connectionLoss,
      sent,
      isOversized,
      ...(isOversized && {
        hint: `the request has ${bytes} bytes; servers refuse more than jute.maxbuffer, usually 1 MB`,
      }),
      ...(!isOversized &&
        !request.isIdempotent && {
          hint: "the server may have executed the request: check before you repeat it",
        }),
    },
  );
}

function requestTooLarge(about: About, { bytes, limit }: RequestLength): Error {
  const of = about.path === undefined ? "" : ` for ${about.path}`;
  return new UsageError(
    `the request${of} has ${bytes} bytes, but servers accept only ${limit} (jute.maxbuffer)`,
    {
      reason: "request-too-large",
      ...pathOf(about),
    },
  );
}

function replyTooLong(about: About, { bytes, limit }: ReplyLength): Error {
  const [length, most] = [bytes, limit].map(formatSize);
  const of = about.path === undefined ? "" : ` for ${about.path}`;
  return new OperationError(
    "reply-too-long",
    `the reply${of} has ${length}, more than the limit of ${most}`,
    pathOf(about),
  );
}

function isSessionEnd(code: number): boolean {
  return (
    code === ErrorCode.sessionExpired ||
    code === ErrorCode.connectionLoss ||
    code === ErrorCode.authFailed
  );
}

export function malformedReply(about: About, why: string): ConnectionError {
  return new ConnectionError(
    "malformed-reply",
    `malformed reply from the server: ${why}`,
    pathOf(about),
  );
}

function pathOf({ path }: About): { path?: string } {
  return path === undefined ? {} : { path };
}
