import { OperationError, UsageError } from "../errors.ts";
import { isLoopback } from "../session/connect-string.ts";
import { option, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

/** The port that ZooKeeper clients use by default. */
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
    "with --host every client that can reach that address.",
  examples: ["serve", "serve --port 0", "serve --port 2181 --host 0.0.0.0"],
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
  },
  async *run({ server: servers, signal }, _args, { port: at = DEFAULT_PORT, host = LOOPBACK }) {
    const server = await servers.start({ port: at, host }).catch((error: unknown) => {
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
