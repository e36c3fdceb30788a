/** The results about single servers. */
import { isUtf8 } from "node:buffer";
import type { ServerResult, WordAnswerResult } from "../results/servers.ts";
import { escapeName, escapeText } from "../text/escape.ts";
import type { Rendered, ResultRenderers, View } from "./renderer.ts";
import { textServersTick } from "./server-board.ts";
import { textSession, textSessions } from "./session.ts";

type ServerRenderers = Pick<ResultRenderers, ServerResult["kind"]>;

export function serverRenderers(view: View): ServerRenderers {
  return {
    "word-answer": (result) => textWordAnswer(result, view),
    session: (result) => textSession(result, view),
    sessions: (result) => textSessions(result, view),
    "servers-tick": (result) => textServersTick(result, view),
    "server-failed": ({ error }) => ({
      err: `${view.theme.error("error:")} ${escapeName(error.message)}\n`,
    }),
  };
}

/** In a pipe the bytes of one server are exact; a heading names each of several. */
function textWordAnswer({ server, bytes, isOneOfMany }: WordAnswerResult, view: View): Rendered {
  const end = bytes.at(-1) === NEWLINE ? "" : "\n";
  if (!view.isTTY) {
    if (!isOneOfMany) return { out: bytes };
    return { out: Buffer.concat([Buffer.from(`==> ${server} <==\n`), bytes, Buffer.from(end)]) };
  }
  const heading = isOneOfMany ? `${view.theme.heading(`==> ${escapeName(server)} <==`)}\n` : "";
  return { out: `${heading}${escapeText(bytes.toString())}${end}` };
}

const NEWLINE = 0x0a;

export function jsonWordAnswer({ server, word, bytes, timeMs }: WordAnswerResult): object {
  const isText = isUtf8(bytes);
  return {
    server,
    word,
    answer: bytes.toString(isText ? "utf8" : "base64"),
    encoding: isText ? "utf8" : "base64",
    timeMs: Math.round(timeMs * 10) / 10,
  };
}
