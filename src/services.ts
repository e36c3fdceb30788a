/** The services of the real process; tests have their own. */
import { lstatSync } from "node:fs";
import { ConnectionError } from "./errors.ts";
import { takeSignals } from "./processes/signals.ts";
import { ENDING_SIGNALS, type Services } from "./shell/runtime.ts";

const NAME_SERVER_TIMEOUT_MS = 10_000;

export const processServices: Services = {
  async openSession(options) {
    const { openSession } = await import("./session/zookeeper/client.ts");
    return openSession(options);
  },
  async about(address, { tls }) {
    const { describeServer } = await import("./session/zookeeper/connecting/four-letter-word.ts");
    return describeServer(address, tls);
  },
  async askWord(server, word, options) {
    const { askWord } = await import("./session/zookeeper/connecting/four-letter-word.ts");
    return askWord(server, word, options);
  },
  async serversOf(name, signal) {
    const [{ serversOf }, { srvFailureOf }] = await Promise.all([
      import("./session/zookeeper/connecting/name-lookups.ts"),
      import("./session/zookeeper/connecting/connect-failures.ts"),
    ]);
    try {
      return await serversOf(name, { signal, timeoutMs: NAME_SERVER_TIMEOUT_MS });
    } catch (error) {
      signal.throwIfAborted();
      const { says } = srvFailureOf(error as Error);
      throw new ConnectionError("unreachable", `cannot look up the servers of ${name}: ${says}`);
    }
  },
  async addressesOf(host, signal) {
    const { hostAddresses } = await import("./session/zookeeper/connecting/host-addresses.ts");
    return hostAddresses(host, { signal, timeoutMs: NAME_SERVER_TIMEOUT_MS });
  },
  async readSettingsFile(path) {
    // Most users have none, and every start looks for it.
    if (isMissing(path)) return undefined;
    const { readOwn } = await import("./io/own-file.ts");
    const { text, mode } = await readOwn(path);
    return {
      text,
      isReadableByOthers: (mode & 0o044) !== 0,
      isWritableByOthers: (mode & 0o022) !== 0,
    };
  },
  async isReadableByOthers(path) {
    const { stat } = await import("node:fs/promises");
    const found = await stat(path);
    return found.isFile() && (found.mode & 0o044) !== 0;
  },
  onIdle(listener) {
    process.once("beforeExit", listener);
  },
  onSignal(listener) {
    const giveBack = ENDING_SIGNALS.map((signal) => {
      const stop = takeSignals([signal], () => {
        // Once: a second Ctrl-C ends a program that takes too long to end. But when a terminal is
        // closed, both its shell and the kernel send SIGHUP, and the second must not keep us from
        // closing the session. Not before all listeners have been called: a spinner's listener
        // ends the program when it finds itself alone.
        if (signal !== "SIGHUP") process.nextTick(stop);
        listener(signal);
      });
      return stop;
    });
    return () => {
      for (const stop of giveBack) stop();
    };
  },
};

function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    // The home directory, or one below it, is a file.
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return true;
    throw error;
  }
}
