import { OperationError, UsageError } from "../errors.ts";
import { isLoopback } from "../session/connect-string.ts";
import { option, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

/** Where clients look when nobody tells them otherwise. */
const DEFAULT_PORT = 2181;
const LOOPBACK = "127.0.0.1";
const MAX_PORT = 0xffff;

const port: ValueParser<number> = (text) => {
  if (/^\d+$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new UsageError(`bad port '${text}'`, {
    hint: "a port is a number from 0 to 65535; 0 takes a free one",
  });
};

/**
 * `[::1]` is how addresses are written where a port follows; an empty one would be every address
 * there is.
 */
const listenAddress: ValueParser<string> = (text) => {
  const address = text.replace(/^\[(.*)\]$/, "$1");
  if (address !== "") return address;
  throw new UsageError("no address to listen on", {
    hint: "127.0.0.1 is for this machine only, 0.0.0.0 for everybody",
  });
};

export const serve = defineCommand({
  details:
    "Speaks ZooKeeper 3.8's protocol from memory, alone and without passwords of its own: every user of this machine may use it, " +
    "and with another --host everybody who can reach that address. Nothing " +
    "is kept on disk; everything is gone when it ends. Writes its address and goes on until Ctrl-C or SIGTERM.",
  examples: ["serve", "serve --port 0", "serve --port 2181 --host 0.0.0.0"],
  effect: "none",
  args: {},
  options: {
    port: option("-p", "n", port, "where to listen (2181); 0 takes a free port"),
    host: option(
      "",
      "h",
      listenAddress,
      "the address to listen on (127.0.0.1: only for this machine)",
    ),
  },
  async *run({ startServer, signal }, _args, { port: at = DEFAULT_PORT, host = LOOPBACK }) {
    const server = await startServer({ port: at, host }).catch((error: unknown) => {
      throw cannotListen(error, host, at);
    });
    try {
      const { address } = server;
      const isLocal = isLoopback({ host });
      if (!isLocal) {
        const message = `everybody who can reach ${address} can read and change what is stored there: it asks for no password`;
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

function cannotListen(cause: unknown, host: string, at: number): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") {
    const hint = "--port 0 takes a free port";
    return new OperationError("port-in-use", `port ${at} is in use`, { cause, hint });
  }
  if (!(cause instanceof Error) || code === undefined) return cause;
  return new OperationError(
    "cannot-listen",
    `cannot listen on ${host}, port ${at}: ${cause.message}`,
    { cause },
  );
}
