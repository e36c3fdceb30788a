import { OperationError, UsageError } from "../errors.ts";
import { isLoopback } from "../session/connect-string.ts";
import { cannotRead } from "../text/file-failures.ts";
import { option, type ValueParser, word } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import type { Context } from "./context.ts";

/** The port that ZooKeeper clients use by default. */
const DEFAULT_PORT = 2181;
const LOOPBACK = "127.0.0.1";
const MAX_PORT = 0xffff;
const MAX_USERS_BYTES = 1 << 20;

const port: ValueParser<number> = (text) => {
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new UsageError(`bad port '${text}'`, {
    hint: "a port is a number from 0 to 65535; 0 takes a free one",
  });
};

/**
 * `[::1]` is the form of an IPv6 address before a port. An empty address is refused, because Node
 * would listen on all addresses.
 */
const listenAddress: ValueParser<string> = (text) => {
  const address = text.replace(/^\[(.*)\]$/, "$1");
  if (address !== "") return address;
  throw new UsageError("no address to listen on", {
    hint: "use 127.0.0.1 for this machine only, 0.0.0.0 for the whole network",
  });
};

export const serve = defineCommand({
  details:
    "The server speaks the protocol of ZooKeeper 3.8. It prints its address and runs until " +
    "Ctrl-C or SIGTERM. It keeps all " +
    "data in memory: nothing is left when it ends. It asks for no password: every user of this " +
    "machine can use it, and " +
    "with --host every client that can reach that address. With --sasl-users clients may log in by " +
    "SASL DIGEST-MD5; the file has a line NAME:PASSWORD for each user.",
  examples: [
    "serve",
    "serve --port 0",
    "serve --port 2181 --host 0.0.0.0",
    "serve --sasl-users users",
  ],
  effect: "none",
  args: {},
  options: {
    port: option("-p", "n", port, "the port to listen on (default 2181; 0: a free port)"),
    host: option(
      "",
      "h",
      listenAddress,
      "the address to listen on (default 127.0.0.1: this machine only)",
    ),
    saslUsers: option("", "FILE", word, "the users who may log in by SASL DIGEST-MD5"),
  },
  async *run(context, _args, { port: at = DEFAULT_PORT, host = LOOPBACK, saslUsers: file }) {
    const { server: servers, signal } = context;
    const saslUsers = file === undefined ? undefined : await readUsers(context.files, file);
    const request = { port: at, host, ...(saslUsers && { saslUsers }) };
    const server = await servers.start(request).catch((error: unknown) => {
      throw cannotListen(error, host, at);
    });
    try {
      const { address } = server;
      const isLocal = isLoopback({ host });
      if (!isLocal) {
        const message = `every client that can reach ${address} can read and change all data: the server asks for no password`;
        yield { kind: "warning", reason: "open-server", message };
      }
      yield { kind: "serving", address, reach: isLocal ? "machine" : "network" };
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      await server.stop();
    }
  },
});

async function readUsers(files: Context["files"], file: string): Promise<Map<string, string>> {
  const users = parseUsers(await readWhole(files, file), file);
  if (users.size === 0)
    throw new UsageError(`no user in ${file} (--sasl-users)`, { hint: USER_LINE });
  return users;
}

async function readWhole(files: Context["files"], file: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of files.stream(file)) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_USERS_BYTES) break;
    }
  } catch (cause) {
    throw new UsageError(cannotRead(`${file} (--sasl-users)`, cause), { cause });
  }
  if (size > MAX_USERS_BYTES)
    throw new UsageError(`${file} (--sasl-users) is longer than 1 MiB`, { hint: USER_LINE });
  return Buffer.concat(pieces).toString();
}

const USER_LINE = "a user is a line NAME:PASSWORD; a line that begins with # is a comment";

/** Messages name the line, never what it says: it is a secret. */
function parseUsers(text: string, file: string): Map<string, string> {
  const users = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const where = `line ${index + 1} of ${file} (--sasl-users)`;
    if (colon <= 0) throw new UsageError(`no user name in ${where}`, { hint: USER_LINE });
    const name = line.slice(0, colon);
    if (users.has(name)) throw new UsageError(`a second password for one user in ${where}`);
    users.set(name, line.slice(colon + 1));
  }
  return users;
}

function cannotListen(cause: unknown, host: string, at: number): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") {
    const hint = "--port 0 uses a free port";
    return new OperationError("port-in-use", `port ${at} is already in use`, { cause, hint });
  }
  if (!(cause instanceof Error) || code === undefined) return cause;
  return new OperationError(
    "cannot-listen",
    `cannot listen on ${host}, port ${at}: ${cause.message}`,
    { cause },
  );
}
