import { connect } from "node:net";

/**
 * Asks a server (`host:port`) a four-letter word; rejects when it refuses, resets, or says nothing
 * in time.
 */
export function fourLetterWord(address: string, word: string, timeoutMs = 10_000): Promise<string> {
  const colon = address.lastIndexOf(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(address.slice(colon + 1)), address.slice(0, colon));
    const timer = setTimeout(() => {
      socket.destroy(new Error(`${address} gave no answer to ${word} within ${timeoutMs} ms`));
    }, timeoutMs);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString());
    });
    socket.write(word);
  });
}
