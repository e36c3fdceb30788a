import { isIP } from "node:net";
import { onAbort } from "../../../async/on-abort.ts";
import { startTimer } from "../../../async/timer.ts";
import { formatAddress, isSocket, parseConnectString } from "../../connect-string.ts";
import {
  isNotAllowed,
  type WordAnswer,
  type WordFailure,
  type WordOptions,
} from "../../four-letter-word.ts";
import type { ServerAddress, TlsOptions } from "../../options.ts";
import { connectFailureOf } from "./connect-failures.ts";
import { type Endpoint, loadTls, openSocket, type Tls } from "./link.ts";

const ANSWER_TIMEOUT_MS = 3_000;
const PROBE_TIMEOUT_MS = 2_000;
/** `dump` and `wchp` of a busy server are long; an answer without end is cut off here. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The first bytes of a TLS alert: what a TLS port says to a plain client. */
const TLS_ALERT = Buffer.from([0x15, 0x03]);

/**
 * Sends a four-letter word on a connection of its own. Rejects only when the signal aborts: what
 * goes wrong is an answer too.
 */
export async function askWord(
  server: ServerAddress,
  word: string,
  { tls, signal, timeoutMs = ANSWER_TIMEOUT_MS, ip }: WordOptions = {},
): Promise<WordAnswer> {
  const question = { word, tls: await loadTls(tls), signal, timeoutMs, ip };
  const answer = await ask(server, question);
  // A TLS port may wait for the rest of a handshake: a plain word alone is too short for an alert.
  const isSilent =
    answer.kind === "failed" && (answer.why === "no-answer" || answer.why === "closed");
  if (!isSilent || tls !== undefined || isSocket(server)) return answer;
  return (await speaksTls(endpointOf(server, ip), signal)) ? EXPECTS_TLS : answer;
}

const failed = (why: WordFailure, says: string): WordAnswer => ({ kind: "failed", why, says });

const EXPECTS_TLS: WordAnswer = failed("expects-tls", "the server expects TLS on this port");

interface Question {
  readonly word: string;
  readonly tls: Tls | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly ip?: string | undefined;
  /** The process may end before the answer has come. */
  readonly isInPassing?: boolean;
}

function ask(
  server: ServerAddress,
  { word, tls, signal, timeoutMs, ip, isInPassing = false }: Question,
): Promise<WordAnswer> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const socket = openSocket(endpointOf(server, ip), tls);
    if (isInPassing && (isIP(server.host) !== 0 || isSocket(server))) socket.unref();
    const chunks: Buffer[] = [];
    let bytes = 0;
    let sentAt: number | undefined;
    const end = (answer: WordAnswer) => {
      stopTimer();
      forget?.();
      socket.destroy();
      resolve(answer);
    };
    const forget =
      signal &&
      onAbort(signal, () => {
        stopTimer();
        socket.destroy();
        reject(signal.reason);
      });
    const stopTimer = startTimer(timeoutMs, () =>
      end(
        sentAt === undefined
          ? failed("unreachable", `no connection within ${timeoutMs} ms`)
          : failed("no-answer", `no answer to ${word} within ${timeoutMs} ms`),
      ),
    );
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      sentAt = performance.now();
      socket.write(word);
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        end(failed("too-long", `the answer to ${word} is longer than ${MAX_ANSWER_BYTES} bytes`));
    });
    socket.once("error", (error) => end(failureOf(error, bytes > 0)));
    socket.once("close", () => {
      const answer = Buffer.concat(chunks);
      const ms = performance.now() - (sentAt ?? 0);
      if (answer.subarray(0, TLS_ALERT.length).equals(TLS_ALERT)) end(EXPECTS_TLS);
      else if (isNotAllowed(answer, word)) end({ kind: "not-allowed" });
      else if (bytes > 0) end({ kind: "answered", bytes: answer, ms });
      else end(failed("closed", `the server hung up without an answer to ${word}`));
    });
  });
}

const FAILURE_BY_CODE: Readonly<Record<string, WordFailure>> = {
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  ECONNREFUSED: "refused",
  ENOENT: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  ETIMEDOUT: "unreachable",
  ECONNRESET: "closed",
  EPIPE: "closed",
  ERR_SSL_WRONG_VERSION_NUMBER: "not-tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "not-tls",
};

function failureOf(error: NodeJS.ErrnoException, hasBegun: boolean): WordAnswer {
  const { code = "", message } = error;
  const { says, kind } = connectFailureOf(error);
  // A plain port reads the first bytes of a handshake as a length, and hangs up.
  if (/secure TLS connection/.test(message))
    return failed("not-tls", "the server does not speak TLS on this port");
  if (hasBegun) return failed("failed", `the server dropped the connection during its answer`);
  const why = FAILURE_BY_CODE[code];
  if (why !== undefined) return failed(why, says);
  return failed(kind === "permanent" ? "tls" : "failed", says);
}

/** Whether a TLS handshake gets anywhere. Nothing is sent but the handshake. */
async function speaksTls(endpoint: Endpoint, signal: AbortSignal | undefined): Promise<boolean> {
  const module = await import("node:tls");
  signal?.throwIfAborted();
  const socket = openSocket(endpoint, { insecure: true, module });
  return new Promise((resolve, reject) => {
    const end = (speaks: boolean) => {
      stopTimer();
      forget?.();
      socket.destroy();
      resolve(speaks);
    };
    const stopTimer = startTimer(PROBE_TIMEOUT_MS, () => end(false));
    const forget =
      signal &&
      onAbort(signal, () => {
        stopTimer();
        socket.destroy();
        reject(signal.reason);
      });
    socket.once("secureConnect", () => end(true));
    // A server that wants a client's certificate says so in TLS.
    socket.once("error", ({ message }) => end(/alert/.test(message)));
    socket.once("close", () => end(false));
  });
}

function endpointOf(server: ServerAddress, ip = server.host): Endpoint {
  const { host, port } = server;
  return { address: formatAddress(server), host, ip, port };
}

/**
 * Asks a server in passing: a process that has nothing else to wait for ends without the answer.
 * Rejects when there is none.
 */
export async function fourLetterWord(
  server: ServerAddress,
  word: "isro" | "srvr",
  tls: TlsOptions | undefined,
  signal?: AbortSignal,
): Promise<string> {
  const answer = await ask(server, {
    word,
    tls: await loadTls(tls),
    signal,
    timeoutMs: ANSWER_TIMEOUT_MS,
    isInPassing: true,
  });
  if (answer.kind === "answered") return answer.bytes.toString();
  throw new Error(answer.kind === "failed" ? answer.says : `${word} is not in the whitelist`);
}

/**
 * `3.8.0, standalone` or `ClickHouse Keeper 24.8.1, leader`, by the server's `srvr`; undefined when
 * it will not say.
 */
export async function describeServer(
  address: string,
  tls: TlsOptions | undefined,
): Promise<string | undefined> {
  const [server] = parseConnectString(address).servers;
  if (!server) return undefined;
  const answer = await fourLetterWord(server, "srvr", tls && { servername: server.host, ...tls });
  const number = /version:\s*v?(\d+\.\d+\.\d+)/i.exec(answer)?.[1];
  const version = number && /^ClickHouse/.test(answer) ? `ClickHouse Keeper ${number}` : number;
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1];
  return version && `${version}${mode === undefined ? "" : `, ${mode}`}`;
}
