import { isIP } from "node:net";
import { formatAddress, isSocket, parseConnectString } from "../../connect-string.ts";
import type { ServerAddress, TlsOptions } from "../../options.ts";
import { loadTls, openSocket } from "./link.ts";

const ANSWER_TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 1 << 20;

/**
 * Sends one of the server's four-letter words on a connection of its own; resolves with the whole
 * answer.
 */
export async function fourLetterWord(
  server: ServerAddress,
  word: "isro" | "srvr",
  tls: TlsOptions | undefined,
  signal?: AbortSignal,
): Promise<string> {
  const { host, port } = server;
  const loadedTls = await loadTls(tls);
  signal?.throwIfAborted();
  const socket = openSocket({ address: formatAddress(server), host, ip: host, port }, loadedTls);
  // A question in passing must not keep the process alive.
  if (isIP(host) !== 0 || isSocket(server)) socket.unref();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const abort = () => socket.destroy(new Error("interrupted"));
    signal?.addEventListener("abort", abort, { once: true });
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error(`no answer to ${word}`)));
    socket.once(tls === undefined ? "connect" : "secureConnect", () => socket.write(word));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) socket.destroy(new Error(`endless answer to ${word}`));
    });
    socket.once("error", reject);
    socket.once("close", () => {
      signal?.removeEventListener("abort", abort);
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}

/** `3.8.0, standalone`, by the server's `srvr`; undefined when it will not say. */
export async function describeServer(
  address: string,
  tls: TlsOptions | undefined,
): Promise<string | undefined> {
  const [server] = parseConnectString(address).servers;
  if (!server) return undefined;
  const answer = await fourLetterWord(server, "srvr", tls && { servername: server.host, ...tls });
  const version = /version:\s*(\d+\.\d+\.\d+)/i.exec(answer)?.[1];
  const mode = /^Mode: (\S+)/m.exec(answer)?.[1];
  return version && `${version}${mode === undefined ? "" : `, ${mode}`}`;
}
