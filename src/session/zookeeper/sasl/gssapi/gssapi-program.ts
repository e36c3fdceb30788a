/**
 * A process of its own that makes the calls of Kerberos logins for one session. A call blocks for
 * as long as a KDC takes, which can be a minute; the session's process goes on meanwhile, and ends
 * this one when it needs no answer any more. messages.ts has what comes on stdin and leaves on
 * stdout. The end of stdin ends it.
 */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { GssError } from "./gss-calls.ts";
import { GssLibrary } from "./gss-library.ts";
import type { GssapiAnswer, GssapiReply, GssapiRequest } from "./messages.ts";

let library: GssLibrary | undefined;

async function answer(request: GssapiRequest): Promise<GssapiAnswer> {
  library ??= await GssLibrary.load();
  if (request.op === "begin") {
    const user = library.begin(request.target, request);
    return { user, token: library.next(undefined).token.toString("base64") };
  }
  const token = Buffer.from(request.token, "base64");
  if (request.op === "continue") {
    const next = library.next(token);
    return { token: next.token.toString("base64"), isEstablished: next.isEstablished };
  }
  const made = request.op === "wrap" ? library.wrap(token) : library.unwrap(token);
  return { token: made.toString("base64") };
}

async function reply(line: string): Promise<void> {
  const said = await answer(JSON.parse(line)).catch((error: unknown): GssapiReply => {
    if (error instanceof GssError) return { failure: error.failure };
    return { failure: { major: 0, minor: 0, text: (error as Error).message } };
  });
  writeSync(1, `${JSON.stringify(said)}\n`);
}

let unread = "";
const stdin = new Socket({ fd: 0, readable: true, writable: false });
stdin.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (unread + chunk).split("\n");
  unread = lines.pop() ?? "";
  for (const line of lines) void reply(line);
});
stdin.once("close", () => process.exit());
